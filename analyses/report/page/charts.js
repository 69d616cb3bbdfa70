// Pictures are drawn by Vega from the specs that `--picture` draws, too: here with the page's own
// colours, by their names in its style, so that they follow it into the dark and onto paper. The page's
// policy allows no style of Vega's own, and no `eval`: `ast` has its expressions interpreted.
const drawn = new Map(); // id of an element -> what `draw` was given for it
const ERRORS = 1; // Vega's log level
const BELOW = 60; // pixels of an axis, its words and the tools, where a spec does not say otherwise
// of what has a line in a picture the first, until the reader wants all, `lines=all` in the address
const MOST_LINES = 30;
let vegaIsHere = null;

// Vega lies zipped in the page as data do, and becomes a script of it with the first picture: the
// first board is there before. The policy knows its text.
function withVega() {
  vegaIsHere ??= unpack("vega").then((code) => {
    document.head.append(make("script", {}, code));
    return new Promise((free) => setTimeout(free)); // whoever waits for an answer comes between
  });
  return vegaIsHere;
}

// The picture of a spec with its rows, in the element; `slots` are those that the spec leaves open.
async function draw(id, name, rows, description, slots) {
  const element = byId(id);
  if (!element) return;
  const { line, below = BELOW } = (await unpack("pictures")).specs[name].usermeta;
  const all = [...new Set(rows.map((row) => row[line]))];
  const some = new Set([...all.slice(0, MOST_LINES), slots?.chosen]);
  const isCut = all.length > MOST_LINES && standing(element).state?.lines !== "all";
  drawn.set(id, [name, isCut ? rows.filter((row) => some.has(row[line])) : rows, description, slots]);
  const spec = await specOf(id);
  element.style.minHeight = `${Math.max(element.offsetHeight, spec.height + below)}px`; // nothing jumps
  await withVega();
  const { view } = await vegaEmbed(element, spec, drawing("svg"));
  view.addEventListener("click", (_, item) => { // a cell leads to what it shows
    if (item?.datum?.address) location.href = item.datum.address;
  });
  element.style.minHeight = "";
  pictureTools(element, all.length > MOST_LINES && (isCut ? `All ${all.length}` : `First ${MOST_LINES}`));
}

// The place of a picture in a view: it is drawn when the view is in the page.
const places = new WeakMap();

function place(id, ...picture) {
  const element = make("div", { class: "chart", id });
  places.set(element, picture);
  return element;
}

async function drawPlaces(view) {
  for (const element of view.querySelectorAll(".chart")) {
    if (places.has(element)) await draw(element.id, ...places.get(element));
  }
}

// A part of a spec with its slots filled, and with `colours` for their names where there are such.
function filled(part, slots, colours) {
  if (Array.isArray(part)) return part.map((each) => filled(each, slots, colours));
  if (part instanceof Object) {
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, filled(each, slots, colours)]));
  }
  const [, slot, colour] = /^(?:\{(\w+)\}|var\(--(\w+)\))$/.exec(part) ?? [];
  return slot ? slots[slot] : colours?.[colour] ?? part;
}

async function specOf(id, onPaper) {
  const [name, rows, description, slots] = drawn.get(id);
  const { specs, look } = await unpack("pictures");
  const { usermeta, ...spec } = specs[name];
  const colours = onPaper && look.colours;
  const config = filled(look.config, {}, colours);
  if (!onPaper) Object.assign(config, { background: "transparent", font: "system-ui, sans-serif" });
  config.axisYBand.labelLimit = 170;
  const picture = filled(spec, { ...usermeta.slots, ...slots, rows }, colours);
  if (usermeta.square) return { ...picture, description, config };
  const lines = new Set(rows.map((row) => row[usermeta.line])).size;
  const height = spec.height.step ? picture.height.step * lines : spec.height;
  return { ...picture, description, config, width: "container", height };
}

function drawing(renderer) {
  return {
    actions: false, renderer, mode: "vega-lite", logLevel: ERRORS, ast: true,
    defaultStyle: false, tooltip: { disableDefaultStyle: true },
  };
}
