// The grade grid: one query at a time, forty passages a page; arrow keys move from cell to cell.
const PASSAGES = 40;
const grid = { data: null, texts: null, about: null, page: 1 };

const GRID = [["grader", "grid-grader"], ["query", "grid-query"]];

function startGrid() {
  if (!byId("grid-grader")) return;
  startControls("grid", GRID);
  byId("grid-back").addEventListener("click", () => turn(-1));
  byId("grid-on").addEventListener("click", () => turn(1));
  byId("grid-table").addEventListener("keydown", walk);
}

async function chooseGrid({ grader, query, page }) {
  if (!byId("grid-grader")) return;
  const { grids } = board.settled;
  const graders = Object.keys(grids);
  grader = graders.includes(grader) ? grader : graders[0];
  fill(byId("grid-grader"), graders, grader);
  fill(byId("grid-query"), grids[grader].map((one) => one.query_id), query, (id) => {
    const text = grids[grader].find((one) => one.query_id === id).query;
    return `${id}: ${text.length > 70 ? `${text.slice(0, 69)}\u2026` : text}`;
  });
  await showQuery(page);
}

async function showQuery(page) {
  const about = board.settled.grids[byId("grid-grader").value].find(
    (one) => one.query_id === byId("grid-query").value);
  grid.about = about;
  const [data, found] = await Promise.all([unpack(about.id), textsOf(about.query_id)]);
  if (grid.about !== about) return; // another choice came first
  [grid.data, grid.texts] = [data, found];
  grid.page = Math.min(Math.max(1, Math.floor(page) || 1), pagesOf(grid.data));
  byId("grid-says").textContent = `${about.query}: ${about.n_passages} passages, ` +
    `${about.n_items} items` +
    (about.shown < about.n_passages ? `; the best ${about.shown} are here.` : ".");
  byId("grid-items").replaceChildren(...grid.data.items.map((item) =>
    make("li", {}, link(item.item_text ?? item.item_id, "item", [about.query_id, item.item_id]))));
  byId("grid-detail").replaceChildren(make("p", { class: "caption" }, "Choose a cell to read its answer."));
  showPage();
}

function turn(by) {
  choose("grid", [], { ...chosen(GRID), page: grid.page + by });
}

function pagesOf({ passages }) {
  return Math.max(1, Math.ceil(passages.length / PASSAGES));
}

// The head and body of a table of these passages; `named`: what stands over an item's grades
function gridParts(passages, named) {
  const { items } = grid.data;
  const whose = board.settled.assessor;
  const heads = ["passage", "mean", ...(whose ? [whose] : []), ...items.map(named)];
  const rows = passages.map((passage, row) => make("tr", {},
    make("th", { scope: "row", title: passage.passage_id }, passage.passage_id),
    scoreCell(passage.mean_grade, "ratio"),
    ...(whose ? [make("td", { class: "n" }, passage.judgment ?? "\u2013")] : []),
    ...passage.grades.map((grade, column) => cell(passage, grade, row, column))));
  return [
    make("thead", {}, make("tr", {}, ...heads.map((head, i) => make("th", {
      scope: "col", title: items[i - heads.length + items.length]?.item_text,
    }, head)))),
    make("tbody", {}, ...rows)];
}

// Every page of the grid, for CSV, where an item has no list below to tell what it is
function wholeGrid() {
  return make("table", {}, ...gridParts(grid.data.passages, (item) => item.item_text ?? item.item_id));
}

function showPage() {
  const { passages } = grid.data;
  const from = (grid.page - 1) * PASSAGES;
  const shown = passages.slice(from, from + PASSAGES);
  const table = byId("grid-table");
  table.replaceChildren(...gridParts(shown, (_, column) => column + 1));
  withTools(table, wholeGrid);
  byId("grid-page").textContent = `passages ${passages.length ? from + 1 : 0} to ` +
    `${from + shown.length} of ${passages.length}`;
  byId("grid-back").disabled = grid.page === 1;
  byId("grid-on").disabled = grid.page === pagesOf(grid.data);
}

function cell(passage, grade, row, column) {
  const known = grade !== null;
  const item = grid.data.items[column];
  const element = make("td", {
    class: `grade ${known ? `g${Math.min(5, Math.max(0, grade))}` : "none"}`,
    tabindex: row || column ? -1 : 0, "data-row": row, "data-column": column,
    "aria-label": `grade ${known ? grade : "none"}, item ${column + 1}, ` +
      `passage ${passage.passage_id}`,
  }, known ? grade : "");
  const tell = () => detail(passage, item, column, grade);
  element.addEventListener("focus", () => {
    const before = byId("grid-table").querySelector("td.grade[tabindex='0']");
    if (before) before.tabIndex = -1;
    element.tabIndex = 0; // where Tab comes back to
    tell();
  });
  element.addEventListener("mouseenter", tell);
  element.addEventListener("click", () => element.focus());
  return element;
}

function detail(passage, item, column, grade) {
  const answer = passage.answers[column];
  byId("grid-detail").replaceChildren(
    make("h3", {}, grade === null ? "Not graded" : `Grade ${grade}`),
    make("p", {}, link(`Item ${column + 1}`, "item", [grid.about.query_id, item.item_id]),
      `: ${item.item_text ?? item.item_id}`),
    make("p", {}, make("b", {}, "Answer: "), answer ?? "\u2013"),
    make("p", {}, "Passage ",
      link(passage.passage_id, "passage", [grid.about.query_id, passage.passage_id])),
    make("p", { class: "text" }, grid.texts[passage.passage_id] ?? "(its text is not in the lake)"));
}

function walk(event) {
  const from = event.target.closest("td.grade");
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (!from || !step[event.key]) return;
  const [down, right] = step[event.key];
  const row = Number(from.dataset.row) + down, column = Number(from.dataset.column) + right;
  const to = byId("grid-table").querySelector(
    `td[data-row="${row}"][data-column="${column}"]`);
  event.preventDefault();
  to?.focus();
}
