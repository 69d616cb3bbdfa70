// Where the reader is stands in the address (paths.js), so that a link shows what its sender saw, and
// "back" goes back: `#board?labels=judge:Sun&measure=AP` is a section and what was chosen in it,
// `#system/bm25` one thing, shown alone. What is chosen is written to the address, and shown because the
// address changed.
const sections = new Map(); // id -> show(state): draws a section as chosen
const views = new Map(); // kind -> show(ids, state): the elements of one thing's view, a heading first
const PAGE_TITLE = document.title;
const OVER_TABLES = /^(filter|without|sort|rows)(-\d+)?$/; // what is chosen over a table: no row is made anew
const stands = {}; // id of a section -> the state that it shows
let chosenHere = false; // the reader pressed a control: the page must not move under the hand
let asked = null; // what the address named when it was last followed

// What an address names, whatever is chosen over the tables there
function addressed() {
  const { kind, ids, state } = here();
  return addressOf(kind, ids, Object.fromEntries(
    Object.entries(state).filter(([name]) => !OVER_TABLES.test(name))));
}

function link(words, kind, ids, state) {
  const isId = words === ids?.at(-1); // in the face of what is typed
  return make("a", { href: addressOf(kind, ids, state), class: isId ? "id" : null }, words);
}

// What a control does: the address changes, and the section or view follows it. What was chosen over
// a section's tables stays. `instead` of the choice before: "back" leads past both.
function choose(kind, ids, state, instead = false) {
  const stays = Object.entries(stands[kind] ?? {})
    .filter(([name]) => OVER_TABLES.test(name) && !(name in state));
  const to = addressOf(inTab(kind), ids, { ...state, ...Object.fromEntries(stays) });
  const now = here();
  if (to === addressOf(now.kind, now.ids, now.state)) return;
  chosenHere = true;
  visit(to, instead);
}

// What a section's controls say, by the names that its address gives them
function chosen(controls) {
  return Object.fromEntries(controls.map(([name, id]) => [name, byId(id).value]));
}

// A press on a control chooses what all of its section say, but for what `without` has of its name.
function startControls(kind, controls, without = {}) {
  for (const [name, id] of controls) {
    byId(id)?.addEventListener("change", () =>
      choose(kind, [], { ...chosen(controls), ...without[name] }));
  }
}

async function follow() {
  const { kind, ids, state } = here();
  const view = views.get(kind), address = addressed();
  const still = chosenHere, isDrawn = asked === address;
  chosenHere = false;
  asked = address;
  if (view && isDrawn) return showTables(byId("view"), state);
  if (view) {
    const shown = await orSays(() => view(ids, state));
    if (addressed() !== address) return; // another choice came first
    document.title = `${shown[0].textContent}: ${PAGE_TITLE}`;
    const focused = still && document.activeElement?.id;
    showTab({ kind, ids });
    byId("view").replaceChildren(...shown);
    document.documentElement.dataset.view = kind;
    startTables(byId("view"));
    showTables(byId("view"), here().state);
    byId("view").append(...(await orSays(() => drawPlaces(byId("view"))) ?? []));
    if (document.activeElement.closest(".find")) return; // the reader went on meanwhile, and types
    if (still) return byId(focused)?.focus();
    scrollTo(0, 0);
    shown[0].tabIndex = -1;
    return shown[0].focus();
  }
  const id = sectionOf(kind);
  const others = history.state; // what other sections showed, where "back" led here
  const isThere = id in stands && !undrawn.has(id) && addressOf(id, [], stands[id]) === addressOf(id, [], state);
  remember(id, state);
  if (isDrawn) {
    showTables(byId(id), state);
    return others && drawOthers(id, others);
  }
  delete document.documentElement.dataset.view;
  showTab({ kind, ids });
  document.title = tabOf(kind) === "overview" ? PAGE_TITLE : `${byId("here").textContent}: Gradelake report`;
  byId("view").replaceChildren();
  dispatchEvent(new Event("resize")); // pictures that were hidden had no width
  if (undrawn.has("board") && id !== "board") await drawSection("board"); // others ask for its choices
  if (isSection(id) && !isThere) await drawSection(id, state);
  if (others) await drawOthers(id, others);
  if (!still) scrollToKind(kind);
  await drawRest();
}

function isSection(id) {
  return Boolean(byId(id)?.matches("main > section"));
}

// An address names the choices in one section; those in the others go along in the browser's history.
function remember(id, state) {
  stands[id] = state;
  history.replaceState({ ...stands, ...history.state, [id]: state }, "");
}

async function drawOthers(id, wanted) {
  for (const other of Object.keys(stands).filter((one) => one !== id)) {
    const state = wanted[other] ?? {};
    if (addressOf(other, [], state) !== addressOf(other, [], stands[other])) {
      await drawSection(other, state);
    }
  }
}

async function orSays(show) {
  try {
    return await show();
  } catch (error) {
    console.error(error);
    return [make("h1", {}, "This page could not be drawn"), make("p", { class: "note" },
      `This could not be drawn (${error.message}). Your browser may be too old.`)];
  }
}

if (!AT) addEventListener("hashchange", follow);
