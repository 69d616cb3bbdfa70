// Over a table: a filter for its rows where they are many, a choice of its columns where these are.
// What the tables of a section or view show can be had from its one menu, as in table_forms.js. What is chosen stands in the
// address: `filter=bm25`, `without=AP|RR`, `sort=descending RR` of a section's first table,
// `filter-2=` and so on of its second. A long table is in pages: `rows=201` has the second; filter,
// order and files are of all rows.
const MANY = { rows: 10, columns: 6 };
const PAGE = 200; // rows: with thousands in it a document is slow
const SEPARATOR = "|"; // no column's name has one
const tooled = new WeakMap(); // table -> its tools, which stay when its rows are new
const exported = new WeakMap(); // a line of a menu -> the table that it gives

function startTables(root) {
  for (const table of tablesOf(root)) {
    if (table.matches(".sortable")) sortable(table);
    else withTools(table);
  }
}

function tablesOf(root) {
  return [...root.querySelectorAll("table")].filter((table) => table.tHead);
}

function headsOf(table) {
  return [...table.tHead.rows[0].cells].map((head) => head.textContent);
}

// Call this whenever a table's rows are new. `whole`: what files have where the table shows a part.
function withTools(table, whole) {
  if (!tooled.has(table)) tooled.set(table, newTools(table, whole));
  const tools = tooled.get(table);
  const heads = headsOf(table);
  tools.rows = tools.ordered = [...table.tBodies[0].rows];
  // by which column it is sorted before anybody chose
  tools.order = [...table.tHead.rows[0].cells].map((head) => head.getAttribute("aria-sort"));
  tools.sort = "";
  tools.filter.hidden = Boolean(whole) || tools.rows.length <= MANY.rows;
  tools.columns.hidden = Boolean(whole) || heads.length <= MANY.columns;
  tools.boxes = heads.map(() => make("input", { type: "checkbox" }));
  tools.choices.replaceChildren(...tools.boxes.map((box, column) => {
    box.addEventListener("change", () => {
      const others = tools.left_out.filter((name) => name !== heads[column]);
      const left = box.checked ? others : [...others, heads[column]];
      chooseOver(table, "without", left.join(SEPARATOR));
    });
    return make("label", {}, box, ` ${heads[column]}`);
  }));
  if (table.matches(".stacked")) labelCells(table);
  showChosen(table, tools.chosen);
}

function newTools(table, whole = () => table) {
  const place = table.closest(".scroll") ?? table;
  const name = place.getAttribute("aria-label") ?? "table";
  const words = make("input", { type: "search", "aria-label": `Filter rows: ${name}` });
  const line = make("div", { class: "forms" }, make("span", {}, name));
  const tools = {
    words, chosen: {}, says: make("output", { class: "rows" }), choices: make("div"),
    filter: make("label", {}, "Filter ", words), pages: make("span", { class: "pages" }),
  };
  tools.turns = [["Previous", -PAGE], ["Next", PAGE]].map(([turn, by]) => {
    const button = make("button", { type: "button", "aria-label": `${turn} rows: ${name}` }, turn);
    button.addEventListener("click", () => {
      const from = tools.from + by;
      chooseOver(table, "rows", from > 0 ? from + 1 : null);
      place.scrollTop = 0;
    });
    return button;
  });
  tools.pages.append(...tools.turns);
  tools.columns = make("details", {}, make("summary", {}, "Columns"), tools.choices);
  let writes = false; // one entry of the browser's history, however many letters
  words.addEventListener("input", () => {
    chooseOver(table, "filter", words.value, writes);
    writes = true;
  });
  words.addEventListener("change", () => { writes = false; });
  for (const [form, [ending, type, made]] of Object.entries(FORMS)) {
    const button = make("button", { type: "button", "aria-label": `${form}: ${name}` }, form);
    button.addEventListener("click", () => save(name, ending, type, made(linesOf(whole()))));
    line.append(button);
  }
  place.before(make("div", { class: "tools" }, tools.filter, tools.says, tools.pages, tools.columns));
  exported.set(line, table);
  exportMenu(table.closest("section") ?? table.parentNode).append(line);
  return tools;
}

// The place of a section's buttons, without those of tables that are gone
function exportMenu(section) {
  let menu = section.querySelector(":scope > .export");
  if (!menu) {
    const head = section.querySelector("h1, h2");
    menu = make("details", { class: "menu export" },
      make("summary", { "aria-label": `Export: ${head?.textContent ?? "table"}` }, "Export"), make("div"));
    section.prepend(menu);
  }
  for (const line of [...menu.lastChild.children]) {
    if (exported.has(line) && !exported.get(line).isConnected) line.remove();
  }
  return menu.lastChild;
}

addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) menu.open = menu.contains(target);
});

function keyOf(name, at) {
  return at ? `${name}-${at + 1}` : name;
}

// At once: what follows the address, a moment later, finds it so.
function chooseOver(table, name, value, instead) {
  const chosen = { rows: null, [name]: value }; // other rows, or another order: from the first on
  showChosen(table, { ...tooled.get(table).chosen, ...chosen });
  const at = tablesOf(table.closest("section")).indexOf(table);
  const { kind, ids, state } = standing(table);
  const keys = Object.entries(chosen).map(([key, of]) => [keyOf(key, at), of || null]);
  choose(kind, ids, { ...state, ...Object.fromEntries(keys) }, instead);
}

// What the address of the view or section around an element has, and whose it is
function standing(element) {
  const { id } = element.closest("section");
  return id === "view" ? here() : { kind: id, ids: [], state: stands[id] };
}

// A section's tables as its address has them
function showTables(section, state) {
  tablesOf(section).forEach((table, at) => showChosen(table, Object.fromEntries(
    ["filter", "without", "sort", "rows"].map((name) => [name, state[keyOf(name, at)]]))));
}

// A page of the rows that have every word, the columns that nobody took away, in the order chosen.
function showChosen(table, chosen) {
  const { filter = "", without = "", sort = "", rows: first } = chosen;
  const tools = tooled.get(table), body = table.tBodies[0];
  const { words, says, rows, boxes } = tools;
  const heads = headsOf(table);
  const leftOut = new Set(without.split(SEPARATOR));
  Object.assign(tools, { chosen, left_out: without ? [...leftOut] : [] });
  boxes.forEach((box, column) => { box.checked = !leftOut.has(heads[column]); });
  if (words.value !== filter) words.value = filter;
  if (filter || without || sort || first) openAround(table);
  if (tools.sort !== sort) {
    restore(table, tools);
    const [, direction, head] = sort.match(/^(ascending|descending) (.*)$/) ?? [];
    if (heads.includes(head)) sortBy(table, heads.indexOf(head), direction);
    tools.sort = sort;
  }
  const wanted = filter.toLowerCase().split(/\s+/);
  tools.found = !filter ? tools.ordered : tools.ordered.filter((row) => {
    const text = [...row.cells].map((cell) => cell.textContent).join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const n = tools.found.length, last = Math.max(0, Math.ceil(n / PAGE) - 1);
  tools.from = PAGE * Math.min(Math.max(0, Math.floor((first - 1) / PAGE) || 0), last);
  const shown = tools.found.slice(tools.from, tools.from + PAGE);
  if (shown.length !== body.rows.length || shown.some((row, at) => row !== body.rows[at])) {
    body.replaceChildren(...shown);
  }
  for (const row of [table.tHead.rows[0], ...shown]) {
    [...row.cells].forEach((cell, column) => { cell.hidden = leftOut.has(heads[column]); });
  }
  tools.pages.hidden = last === 0;
  tools.turns[0].disabled = tools.from === 0;
  tools.turns[1].disabled = tools.from + PAGE >= n;
  const found = n < rows.length ? `${n} of ${rows.length} rows` : last ? `${n} rows` : "";
  says.textContent = last ? `${tools.from + 1} to ${tools.from + shown.length} of ${found}` : found;
}

// A table in a list that is closed is seen where something was chosen over it.
function openAround(element) {
  for (let at = element.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
}

// What is shown of a table, line by line, without the columns that were taken away
function linesOf(table) {
  const rows = tooled.get(table)?.found ?? [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
  return [table.tHead.rows[0], ...rows].map((row) => [...row.cells].filter((_, column) => !heads[column].hidden));
}
