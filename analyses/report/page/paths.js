// How an address is written and read. Of a file it is a hash, `#system/bm25?measure=AP`; of a page that
// a server shows a path, `/c/dl19/systems/bm25?measure=AP`, below the one that the server has put in it.
const AT = document.querySelector(".bar").dataset.at; // /c/dl19; undefined in a file
const RELEASE = AT && new URLSearchParams(location.search).get("release");
const PATHS = {
  system: "systems", query: "queries", passage: "passages", item: "items",
  compare: "compare", labels: "labels",
};
const PAGES = ["systems", "queries", "judges"]; // tabs with a path of their own

// `kind`: a view, or a section's id
function addressOf(kind, ids = [], state = {}) {
  const known = Object.entries(state).filter(([, value]) => value !== null && value !== undefined);
  if (!AT) return joined(`#${encoded([kind, ...ids])}`, known);
  const path = PATHS[kind] ? [PATHS[kind], ...ids.slice(-1)]
    : PAGES.includes(kind) ? [kind] : kind === "overview" ? [""]
    : kind && kind !== "board" ? ["board", kind] : ["board"];
  return joined(`${AT}/${encoded(path)}`, [
    ...(ids.length > 1 ? [["query", ids[0]]] : []), // that a passage or an item is looked at for
    ...known, ...(RELEASE ? [["release", RELEASE]] : [])]);
}

function here() {
  return AT ? ofPath(location) : ofHash(location.hash);
}

function ofHash(hash) {
  const [path, query = ""] = hash.slice(1).split("?", 2);
  const [kind, ...ids] = path.split("/").map(decoded);
  return { kind, ids, state: Object.fromEntries(new URLSearchParams(query)) };
}

// `place`: the browser's, or a link; no `kind` where it leads to another page of the server
function ofPath(place) {
  const [first = "", ...ids] = place.pathname.split("/").slice(3).map(decoded);
  const { release, ...state } = Object.fromEntries(new URLSearchParams(place.search));
  if (!first) return { kind: "overview", ids: [], state };
  if (first === "board") return { kind: ids[0] || "board", ids: [], state };
  if (PAGES.includes(first) && !ids.length) return { kind: first, ids, state };
  const kind = Object.keys(PATHS).find((each) => PATHS[each] === first);
  if (!["passage", "item"].includes(kind) || !("query" in state)) return { kind, ids, state };
  const { query, ...others } = state;
  return { kind, ids: [query, ...ids], state: others };
}

function encoded(parts) {
  return parts.map(encodeURIComponent).join("/");
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch { // an address that somebody cut
    return part;
  }
}

function joined(path, state) {
  const query = new URLSearchParams(state).toString();
  return query ? `${path}?${query}` : path;
}

// To another address, whose section or view is then shown; `instead` of the entry of the browser's history
function visit(to, instead) {
  if (AT) {
    history[instead ? "replaceState" : "pushState"](null, "", to);
    follow();
  } else if (instead) location.replace(to);
  else location.hash = to;
}

function isOurs(kind) {
  return views.has(kind) || isSection(kind) || BOARDS.includes(kind);
}

// On a server's page: the template's links are hashes, and so are links of a file's report.
function startPaths() {
  if (!AT) return;
  for (const each of document.querySelectorAll("a[href^='#']:not(.skip)")) {
    const { kind, ids, state } = ofHash(each.getAttribute("href"));
    each.href = addressOf(kind, ids, state);
  }
  fromHash();
  addEventListener("popstate", () => { // also of the skip link, which gives the page a hash
    fromHash();
    follow();
  });
  addEventListener("click", followLink);
}

function fromHash() {
  if (!location.hash) return;
  const { kind, ids, state } = ofHash(location.hash);
  history.replaceState(history.state, "", isOurs(kind) ? addressOf(kind, ids, state) : addressOf("board"));
}

function followLink(event) {
  const to = event.target.closest("a");
  if (!to?.pathname?.startsWith(`${AT}/`) || to.hash) return;
  const { button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (button || ctrlKey || metaKey || shiftKey || altKey) return; // to another tab, or a file
  const { kind } = ofPath(to);
  if (!isOurs(kind)) return;
  event.preventDefault();
  visit(to.href, to.href === location.href);
  if (views.has(kind)) return;
  const head = byId(kind)?.querySelector("h2") ?? byId("here");
  head.tabIndex = -1;
  head.focus({ preventScroll: true });
  scrollToKind(kind);
}
