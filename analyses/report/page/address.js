// Where the reader is stands in the address, so that a link shows what its sender saw, and "back" goes
// back: `#board?labels=judge:Sun&measure=AP` is a section and what was chosen in it, `#system/bm25` one
// thing, shown alone. What is chosen is written to the address, and shown because the address changed.
const sections = new Map(); // id -> show(state): draws a section as chosen
const views = new Map(); // kind -> show(ids, state): the elements of one thing's view, a heading first
const PAGE_TITLE = document.title;
let chosenHere = false; // the reader pressed a control: the page must not move under the hand

function here() {
  const [path, query = ""] = location.hash.slice(1).split("?", 2);
  const [kind, ...ids] = path.split("/").map(decoded);
  return { kind, ids, state: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch { // an address that somebody cut
    return part;
  }
}

function addressOf(kind, ids = [], state = {}) {
  const known = Object.entries(state).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(known).toString();
  return `#${[kind, ...ids].map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

function link(words, kind, ids, state) {
  return make("a", { href: addressOf(kind, ids, state) }, words);
}

// What a control does: the address changes, and the section or view follows it.
function choose(kind, ids, state) {
  const to = addressOf(kind, ids, state);
  if (to === location.hash) return;
  chosenHere = true;
  location.hash = to;
}

// What a section's controls say, by the names that its address gives them
function chosen(controls) {
  return Object.fromEntries(controls.map(([name, id]) => [name, byId(id).value]));
}

async function follow() {
  const { kind, ids, state } = here();
  const view = views.get(kind);
  const still = chosenHere;
  chosenHere = false;
  if (view) {
    const hash = location.hash;
    const shown = await orSays(() => view(ids, state));
    if (location.hash !== hash) return; // another choice came first
    document.title = `${shown[0].textContent}: ${PAGE_TITLE}`;
    const focused = still && document.activeElement?.id;
    byId("view").replaceChildren(...shown);
    document.documentElement.dataset.view = kind;
    byId("view").querySelectorAll("table.sortable").forEach(sortable);
    byId("view").append(...(await orSays(() => drawPlaces(byId("view"))) ?? []));
    if (still) return byId(focused)?.focus();
    scrollTo(0, 0);
    shown[0].tabIndex = -1;
    return shown[0].focus();
  }
  delete document.documentElement.dataset.view;
  document.title = PAGE_TITLE;
  byId("view").replaceChildren();
  dispatchEvent(new Event("resize")); // pictures that were hidden had no width
  const id = kind || "board"; // an address of nothing shows what the page opened on
  if (undrawn.has("board") && id !== "board") await drawSection("board"); // others ask for its choices
  if (sections.has(id)) await drawSection(id, state);
  if (!still && kind) byId(kind)?.scrollIntoView();
  await drawRest();
}

async function orSays(show) {
  try {
    return await show();
  } catch (error) {
    console.error(error);
    return [make("h2", {}, "Not drawn"), make("p", { class: "note" },
      `This could not be drawn here (${error.message}). Is this an old browser?`)];
  }
}

addEventListener("hashchange", follow);
