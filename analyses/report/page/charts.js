// Pictures are drawn by Vega in the page's own colours, by their names in its style, so that they
// follow it into the dark and onto paper. The page's policy allows no style of Vega's own, and no
// `eval`: `ast` has its expressions interpreted.
const drawn = new Map(); // id of an element -> what `draw` was given for it
const ERRORS = 1; // Vega's log level
const ROW = 18, AXIS = 45, BELOW = 94; // pixels of each row, of an axis, and of its words and the tools
// what has a line in a picture: the first of many, until the reader wants all, `lines=all` in the address
const LINES = { leaderboard: "system", correlation: "shown", coverage: "system", moves: "system" };
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

function colour(name) {
  return `var(--${name})`;
}

function theme() {
  const ink = colour("ink"), soft = colour("soft"), line = colour("line");
  const accent = colour("accent");
  const axis = {
    labelColor: ink, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.6,
  };
  return {
    background: "transparent", font: "system-ui, sans-serif", axis,
    legend: { labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontWeight: "normal" },
    view: { stroke: "transparent" }, point: { color: accent }, rule: { color: accent },
    line: { color: accent }, bar: { color: accent }, tick: { color: accent }, text: { color: ink },
    range: { category: [accent, colour("second")] },
  };
}

// A picture of PICTURES with its rows, in the element; a picture that is a function is told `about`.
async function draw(id, name, rows, description, about) {
  const element = byId(id);
  if (!element) return;
  const all = [...new Set(rows.map((row) => row[LINES[name]]))];
  const some = new Set([...all.slice(0, MOST_LINES), about?.system]);
  const isCut = all.length > MOST_LINES && standing(element).state?.lines !== "all";
  drawn.set(id, [name, isCut ? rows.filter((row) => some.has(row[LINES[name]])) : rows, description, about]);
  const spec = specOf(id);
  element.style.minHeight = `${Math.max(element.offsetHeight, spec.height + BELOW)}px`; // nothing jumps
  await withVega();
  await vegaEmbed(element, spec, drawing("svg"));
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

function specOf(id) {
  const [name, rows, description, about] = drawn.get(id);
  const picture = PICTURES[name];
  return {
    width: "container", height: ROW * rows.length + AXIS, config: theme(), description,
    data: { values: rows }, ...(typeof picture === "function" ? picture(rows, about) : picture),
  };
}

function drawing(renderer) {
  return {
    actions: false, renderer, mode: "vega-lite", logLevel: ERRORS, ast: true,
    defaultStyle: false, tooltip: { disableDefaultStyle: true },
  };
}
