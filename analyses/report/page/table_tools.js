// Over a table: a filter for its rows where they are many, a choice of its columns where these are,
// and what it shows as CSV.
const MANY = { rows: 10, columns: 6 };
const FORMULA = /^'*[=+\-@\t\r]/; // what a spreadsheet would run: gradelake/sql/common/spreadsheet.py
const tooled = new WeakMap(); // table -> its tools, which stay when its rows are new

function withTools(table) {
  if (!tooled.has(table)) tooled.set(table, newTools(table));
  const tools = tooled.get(table);
  const heads = [...table.tHead.rows[0].cells];
  tools.filter.hidden = table.tBodies[0].rows.length <= MANY.rows;
  tools.columns.hidden = heads.length <= MANY.columns;
  tools.choices.replaceChildren(...heads.map((head) => head.textContent).map((name) => {
    const box = make("input", { type: "checkbox" });
    box.checked = !tools.left_out.has(name);
    box.addEventListener("change", () => {
      tools.left_out[box.checked ? "delete" : "add"](name);
      showChosen(table);
    });
    return make("label", {}, box, ` ${name}`);
  }));
  showChosen(table);
}

function newTools(table) {
  const place = table.closest(".scroll") ?? table;
  const name = place.getAttribute("aria-label") ?? "table";
  const words = make("input", { type: "search", "aria-label": `Filter rows: ${name}` });
  const csv = make("button", { type: "button", "aria-label": `CSV: ${name}` }, "CSV");
  const tools = {
    words, left_out: new Set(), says: make("output", { class: "rows" }), choices: make("div"),
    filter: make("label", {}, "Filter ", words),
  };
  tools.columns = make("details", {}, make("summary", {}, "Columns"), tools.choices);
  words.addEventListener("input", () => showChosen(table));
  csv.addEventListener("click", () => save(name, "csv", "text/csv", written(table)));
  place.before(make("div", { class: "tools" }, tools.filter, tools.says, csv, tools.columns));
  return tools;
}

// The rows that have every word, and the columns that nobody took away.
function showChosen(table) {
  const { words, says, left_out: leftOut } = tooled.get(table);
  const wanted = words.value.toLowerCase().split(/\s+/);
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  for (const row of rows) {
    const text = [...row.cells].map((cell) => cell.textContent).join("\n").toLowerCase();
    row.hidden = !wanted.every((word) => text.includes(word));
  }
  for (const row of [table.tHead.rows[0], ...rows]) {
    [...row.cells].forEach((cell, column) => { cell.hidden = leftOut.has(heads[column]); });
  }
  const shown = rows.filter((row) => !row.hidden).length;
  says.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
}

// What is shown, in its order, by RFC 4180: figures as exact as the page has them.
function written(table) {
  return [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].filter((cell) => !cell.hidden).map(field).join(","))
    .join("\r\n") + "\r\n";
}

function field(cell) {
  const shown = cell.textContent.trim();
  const figures = shown.match(/[\d.,]*\d/g) ?? []; // an interval has two: none of them is the cell
  const isFigure = cell.classList.contains("n") && figures.length < 2;
  let text = isFigure ? cell.dataset.value ?? shown : shown;
  if (cell.classList.contains("n") && /^-?[\d,]+$/.test(text)) text = text.replaceAll(",", "");
  if (text === "\u2013") text = "";
  if (FORMULA.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Give the reader a file: it is made here, and no network is asked.
function save(name, ending, type, content) {
  const words = `${document.querySelector("h1").textContent} ${name}`;
  const file = `${words.replace(/[^\p{L}\p{N}.]+/gu, "-").toLowerCase()}.${ending}`;
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
