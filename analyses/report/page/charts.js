// Pictures are drawn by Vega, in the colours of the page, and again when these change. The page's
// policy allows no style of Vega's own, and no `eval`: `ast` has its expressions interpreted.
const drawn = new Map();
const ERRORS = 1; // Vega's log level
const ROW = 18, AXIS = 45; // pixels of each row, and below them

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
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
    view: { stroke: "transparent" }, point: { color: accent }, rule: { color: accent },
    tick: { color: accent },
    text: { color: ink }, range: { category: [accent, colour("second")] },
  };
}

async function draw(id, name, rows, description) {
  const element = byId(id);
  if (!element) return;
  drawn.set(id, [name, rows, description]);
  const before = element.querySelector("svg");
  if (before) element.style.minHeight = `${element.offsetHeight}px`;
  await vegaEmbed(element, {
    width: "container", height: ROW * rows.length + AXIS, ...PICTURES[name], description,
    data: { values: rows },
  }, {
    actions: false, renderer: "svg", config: theme(), mode: "vega-lite", logLevel: ERRORS, ast: true,
    defaultStyle: false, tooltip: { disableDefaultStyle: true },
  });
  element.style.minHeight = "";
}

function drawAgain() {
  for (const [id, picture] of drawn) draw(id, ...picture);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
