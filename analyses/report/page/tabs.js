// The tabs of the report: each shows the sections that name it in `data-tab`; views hide all of them.
const BOARDS = ["overview", "systems", "judges"]; // tabs of one leaderboard's choices, "board"
const VIEW_TABS = {
  system: "systems", compare: "systems", query: "queries", passage: "queries",
  item: "rubric", labels: "judges",
};

// The section whose choices an address has
function sectionOf(kind) {
  return !kind || BOARDS.includes(kind) ? "board" : kind;
}

function tabOf(kind) {
  return BOARDS.includes(kind) ? kind
    : VIEW_TABS[kind] ?? byId(kind)?.dataset.tab?.split(" ")[0] ?? "overview";
}

// What is chosen in the leaderboard of a tab stays in that tab.
function inTab(kind) {
  const { tab } = document.documentElement.dataset;
  return kind === "board" && tab !== "overview" && BOARDS.includes(tab) ? tab : kind;
}

// Before anything else: until the page knows its tab, nothing of it is shown. All of it: to be printed
function showParts(kind, isAll = false) {
  const tab = isAll ? "all" : tabOf(kind), isView = views.has(kind);
  document.documentElement.dataset.tab = tab;
  for (const part of document.querySelectorAll("main > [data-tab]")) {
    part.hidden = !isAll && (isView || !part.dataset.tab.split(" ").includes(tab));
  }
}

function showTab({ kind, ids }) {
  const tab = tabOf(kind), isView = views.has(kind);
  showParts(kind);
  for (const each of document.querySelectorAll(".tabs a")) {
    const name = each.dataset.tab;
    if (BOARDS.includes(name)) each.href = addressOf(name, [], along(stands.board ?? {}));
    else if (name === "queries") each.href = addressOf(name);
    if (name === tab) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  const title = document.querySelector(".tabs [aria-current]")?.textContent;
  byId("here").textContent = `${title} of ${board.settled.collection}`;
  showCrumbs(title, { kind, ids, isView });
}

function showCrumbs(title, { kind, ids, isView }) {
  const isQueryFirst = ids.length > 1;
  const below = isView
    ? ids.length ? ids.map((id, at) => (isQueryFirst && !at ? link(id, "query", [id]) : id)) : ["Comparison"]
    : [kind, "board"].includes(tabOf(kind)) || kind === "board" || !isSection(kind) ? []
    : [byId(kind).querySelector("h2").textContent];
  const parts = [
    make("a", { href: document.querySelector(".tabs [aria-current]").href }, title),
    ...below.map((part) => (part instanceof Node ? part : make("a", { href: location.href }, part)))];
  parts.at(-1).setAttribute("aria-current", "page");
  const crumbs = document.querySelector(".crumbs");
  crumbs.replaceChildren(...[...crumbs.children].slice(0, 2), ...parts);
}

// To the top of a tab, or to a section below others
function scrollToKind(kind) {
  const first = document.querySelector("main > section:not([hidden], #view)");
  if (!isSection(kind) || byId(kind) === first) scrollTo(0, 0);
  else byId(kind).scrollIntoView();
}
