// The forms in which a reader takes a table away: what is shown, in its order. CSV and JSON have
// figures in full, one in each cell; LaTeX and Markdown have the texts that people read.

// What a spreadsheet would run: gradelake/sql/common/spreadsheet.py
const FORMULA = /^'*(?!(?:[+-]\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|=-?\d+\|=-?\d+)$)[=+\-@\t\r]/;
const PAIR = /^(-?[\d.,]+)%? (to|of) (-?[\d.,]+)%?$/; // two figures: an interval, or a part and the whole
const NO_PAIR = /^(\u2013( (to|of) \u2013)?)?$/;
const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "|": "\\textbar{}", "\"": "\\textquotedbl{}", "\u2020": "\\textdagger{}",
};

// name -> ending, type, and what makes text of a table's lines of cells, its heads first
const FORMS = {
  CSV: ["csv", "text/csv", (lines) => values(lines).map((line) =>
    line.map((value) => quoted(unrun(value))).join(",")).join("\r\n") + "\r\n"],
  JSON: ["json", "application/json", (lines) => {
    const [heads, ...rows] = values(lines);
    return JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, at) => [heads[at], parsed(value)]))));
  }],
  LaTeX: ["tex", "text/x-tex", latex],
  Markdown: ["md", "text/markdown", markdown],
};

function parsed(value) {
  return value === "" ? null : /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : value;
}

// Each figure in a cell of its own, in full; an interval has two.
function values([heads, ...rows]) {
  const pairs = heads.map((_, column) => {
    const texts = rows.map((row) => row[column].textContent.trim()).filter((text) => !NO_PAIR.test(text));
    return texts.every((text) => PAIR.test(text)) && texts[0]?.match(PAIR)[2];
  });
  const named = heads.flatMap((head, column) => {
    const ends = { of: ["", ", of"], to: [", low", ", high"] }[pairs[column]] ?? [""];
    return ends.map((end) => shownIn(head) + end);
  });
  return [named, ...rows.map((row) => row.flatMap((cell, column) => {
    if (!pairs[column]) return [inFull(cell)];
    const [, first = "", , second = ""] = cell.textContent.trim().match(PAIR) ?? [];
    const { value, high } = cell.dataset;
    return high ? [value, high] : [first, second].map((figure) => figure.replaceAll(",", ""));
  }))];
}

function inFull(cell) {
  const shown = shownIn(cell), isFigure = cell.classList.contains("n");
  const text = isFigure && !PAIR.test(shown) ? cell.dataset.value ?? shown : shown;
  if (text === "\u2013") return "";
  return isFigure && /^-?[\d,]+$/.test(text) ? text.replaceAll(",", "") : text;
}

function shownIn(cell) {
  return [...cell.childNodes].map(plain).join("").trim();
}

// As `gradelake rubric diff` writes words that are gone and new
function plain({ tagName, textContent }) {
  return tagName === "DEL" ? `[-${textContent}-]` : tagName === "INS" ? `{+${textContent}+}` : textContent;
}

function unrun(text) {
  return FORMULA.test(text) ? `'${text}` : text;
}

// By RFC 4180
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function latex([heads, ...rows]) {
  const line = (cells) => `${cells.map((cell) => inLatex(shownIn(cell))).join(" & ")} \\\\`;
  const sides = heads.map((_, column) => (isOfFigures(rows, column) ? "r" : "l")).join("");
  return ["% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}", `\\begin{tabular}{${sides}}`, "\\toprule",
    line(heads), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

function inLatex(text) {
  if (text === "\u2013") return "--";
  return text.replace(/\s+/g, " ").replace(/[\\{}$&#%_~^<>|"\u2020]/g, (letter) => LATEX[letter] ?? `\\${letter}`);
}

function markdown([heads, ...rows]) {
  const line = (cells) => `| ${cells.map((cell) => inMarkdown(shownIn(cell))).join(" | ")} |`;
  const rule = heads.map((_, column) => (isOfFigures(rows, column) ? "---:" : "---")).join(" | ");
  return [line(heads), `| ${rule} |`, ...rows.map(line), ""].join("\n");
}

// Nothing in it is markup, a link or a mention.
function inMarkdown(text) {
  return text.replace(/\s+/g, " ").replace(/[^\w ().,;:%?+=/'"-]|_|(?<=w)\.|(?<=\w):(?=\/\/)/g, (letter) => `&#${letter.codePointAt(0)};`);
}

function isOfFigures(rows, column) {
  return rows.length > 0 && rows.every((row) => row[column].classList.contains("n"));
}

// Give the reader a file: it is made here, and no network is asked.
function save(name, ending, type, content) {
  const words = `${board.settled.collection} ${name}`;
  const file = `${words.replace(/[^\p{L}\p{N}.]+/gu, "-").toLowerCase()}.${ending}`;
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
