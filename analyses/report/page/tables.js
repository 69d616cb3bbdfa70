// A table sorts by the column whose head is pressed; what is missing stays at the end. Call this
// whenever its rows are new: its tools follow.
function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    if (head.querySelector("button")) return;
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.setAttribute("scope", "col");
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = isNumeric(table, column) ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const to = head.getAttribute("aria-sort") === first ? other : first;
      chooseOver(table, "sort", `${to} ${head.textContent}`);
    });
  });
  withTools(table);
}

function valueOf(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (text === "" || text === "\u2013") return null;
  const number = Number(text.replaceAll(",", ""));
  return Number.isNaN(number) ? text : number;
}

function isNumeric(table, column) {
  const known = tooled.get(table).rows.map((row) => valueOf(row.cells[column]));
  return known.filter((value) => value !== null).every((value) => typeof value === "number");
}

function sortBy(table, column, direction) {
  const sign = direction === "ascending" ? 1 : -1;
  const tools = tooled.get(table);
  const rows = tools.rows.map((row) => [valueOf(row.cells[column]), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b));
  });
  tools.ordered = rows.map(([, row]) => row);
  for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", direction);
}

function restore(table, tools) {
  const { rows, order } = tools;
  tools.ordered = rows;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (order[column]) head.setAttribute("aria-sort", order[column]);
    else head.removeAttribute("aria-sort");
  });
}
