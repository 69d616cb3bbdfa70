// Under a picture: a slider that walks its points by keyboard or finger and tells each, and the
// picture as a file.
const LEAST_WIDTH = 640; // of a file, in pixels: as wide as the window, but no phone's

// `lines`: what a button says that draws more lines, or fewer
function pictureTools(element, lines) {
  const wasPressed = element.nextElementSibling?.querySelector(".lines") === document.activeElement;
  withoutTools(element);
  const points = pointsOf(element);
  const [, , description] = drawn.get(element.id);
  const name = description.split(/[:.] /)[0];
  const walk = make("input", {
    type: "range", min: 0, max: points.length, value: 0, "aria-label": `Points: ${name}`,
  });
  const says = make("output");
  const at = () => points[walk.value - 1];
  const leave = () => element.querySelectorAll(".at").forEach((mark) => point(mark, false));
  const tell = () => {
    leave();
    const words = at() ? `${walk.value} of ${points.length}: ${at().words}` : "before the first";
    walk.setAttribute("aria-valuetext", words);
    says.textContent = at() ? words : "";
    if (at()) point(at().mark, true);
  };
  walk.addEventListener("input", tell);
  walk.addEventListener("blur", leave);
  walk.hidden = !points.length;
  const file = (kind) => {
    const button = make("button", { type: "button", "aria-label": `${kind}: ${name}` }, kind);
    button.addEventListener("click", () => savePicture(element.id, name, kind));
    return button;
  };
  const more = make("button", { type: "button", class: "lines", "aria-label": `${lines}: ${name}` }, lines);
  more.hidden = !lines;
  more.addEventListener("click", () => {
    const { kind, ids, state } = standing(element);
    choose(kind, ids, { ...state, lines: lines.startsWith("All") ? "all" : null });
  });
  element.after(make("div", { class: "tools of-picture" }, walk, more, file("SVG"), file("PNG"), says));
  if (wasPressed) more.focus();
}

function withoutTools(element) {
  if (element.nextElementSibling?.matches(".of-picture")) element.nextElementSibling.remove();
}

// What the mouse would tell of: one of each row, the point before the line around it.
function pointsOf(element) {
  const found = new Map();
  const marks = element.querySelectorAll(".role-mark:not(.mark-line):not(.mark-area) > *");
  for (const mark of marks) {
    const { datum, tooltip } = mark.__data__ ?? {};
    if (!tooltip || (found.has(datum) && !mark.parentNode.matches(".mark-symbol"))) continue;
    const words = typeof tooltip === "string" ? tooltip
      : Object.entries(tooltip).map(([key, value]) => `${key} ${value}`).join(", ");
    found.set(datum, { mark, words });
  }
  return [...found.values()];
}

// As the mouse points, so that Vega shows what it shows then.
function point(mark, on) {
  mark.classList.toggle("at", on);
  const { left, top, width, height } = mark.getBoundingClientRect();
  mark.dispatchEvent(new PointerEvent(on ? "pointermove" : "mouseout", {
    bubbles: true, clientX: left + width / 2, clientY: top + height / 2,
  }));
}

// For paper: in the light colours, on white.
async function savePicture(id, name, kind) {
  const spec = await specOf(id, true);
  if (spec.width === "container") {
    spec.width = Math.max(LEAST_WIDTH, byId(id).clientWidth);
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  spec.padding = 12;
  const { view } = await vegaEmbed(make("div"), spec, drawing("none"));
  if (kind === "SVG") save(name, "svg", "image/svg+xml", await view.toSVG());
  else (await view.toCanvas(2)).toBlob((image) => save(name, "png", "image/png", image));
  view.finalize();
}
