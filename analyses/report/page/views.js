// What the views of one system, query, passage and item share. Each number in them is a link to what
// it is made of; the choices of the reader go along in the links.
const ALONG = ["labels", "measure", "level", "system"];

function along(state, more = {}) {
  return Object.fromEntries([...ALONG.map((name) => [name, state[name]]), ...Object.entries(more)]);
}

// A query's place among all, -1 where there is none of this id
function queryNumber(queryId) {
  return board.settled.queries.findIndex((query) => query.query_id === queryId);
}

// {passages, labels, rankings, items}: see rankings.py
function passagesOf(queryId) {
  return unpack(`query-${queryNumber(queryId)}`);
}

async function textsOf(queryId) {
  return board.settled.has_texts ? unpack(`texts-${queryNumber(queryId)}`) : {};
}

// The grids of a query: [{grader, items, passages, shown, n_passages}]
async function gridsOf(queryId) {
  const all = Object.entries(board.settled.grids).flatMap(([grader, grids]) =>
    grids.filter((one) => one.query_id === queryId).map((about) => ({ grader, about })));
  return Promise.all(all.map(async ({ grader, about }) =>
    ({ grader, ...about, ...(await unpack(about.id)) })));
}

function pick(known, ...wanted) {
  return wanted.find((one) => known.includes(one)) ?? known[0];
}

// The choices of an address, made whole with those of a board that there is.
async function withBoard(state) {
  const { label_sets: names, opens_on: usual } = board.settled;
  if (!names.length) return { ...state, labels: null, data: null };
  const labels = pick(names, state.labels, usual);
  const data = await boardOf(labels);
  return {
    ...state, labels, data,
    measure: pick(data.measures, state.measure, "nDCG@10"),
    level: pick(Object.keys(data.boards), state.level, String(defaultLevel(labels))),
  };
}

// The selects of a view, which write its address. `more`: [name, words, values, shown as]
function viewChoices(kind, ids, state, more = []) {
  const { data } = state;
  const selects = [
    ...(data ? [["labels", "Labels", board.settled.label_sets], ["measure", "Measure", data.measures],
      ["level", "Relevant from", Object.keys(data.boards)]] : []), ...more];
  return make("div", { class: "choices", role: "group", "aria-label": "What is shown here" },
    ...selects.map(([name, words, values, shownAs]) => {
      const select = make("select", { id: `view-${name}` });
      fill(select, values, state[name], shownAs);
      select.disabled = name === "level" && !board.settled.has_levels.includes(state.measure);
      select.addEventListener("change", () => {
        const own = Object.fromEntries(more.map(([other]) => [other, state[other] || null]));
        const next = { ...here().state, ...own, [name]: select.value || null };
        if (name === "labels") delete next.level; // each label set has its usual level
        if ("a" in own) delete next.system; // a link's name for it
        choose(kind, ids, next);
      });
      return make("label", {}, `${words} `, select);
    }));
}

function notThere(what, id) {
  const heading = make("h1", {}, `No ${what} \u201c${id ?? ""}\u201d here`);
  if (what === "rubric item" && !board.settled.has_texts) {
    return [heading, make("p", { class: "note" }, "Left out: the rubric is not shared.")];
  }
  return [
    heading,
    make("p", { class: "note" }, `This report has no such ${what}. The link may be of another release or collection, or cut short. ` +
      "Start from ",
    link("the leaderboard", "board"), ", or ask for a new link."),
  ];
}

function countCell(value) {
  return make("td", { class: "n" }, value ?? "\u2013");
}

function scoreCell(value, kind = "score", look = "n") {
  return make("td", { class: look, "data-value": value ?? "" }, figure(value, kind));
}

// A table, which sorts once the view stands in the page; cells are td elements, or what a td holds. The first column names the row.
function viewTable(label, heads, rows, more = "") {
  const lines = rows.map(([first, ...others]) => make("tr", {},
    make("th", { scope: "row" }, first ?? "\u2013"),
    ...others.map((cell) => (cell instanceof Node && cell.tagName === "TD"
      ? cell : make("td", {}, cell ?? "\u2013")))));
  const table = make("table", { class: `sortable ${more}` },
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, head)))),
    make("tbody", {}, ...lines));
  return make("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, table);
}

function shortened(text) {
  return text === undefined ? "\u2013" : text.length > 120 ? `${text.slice(0, 119)}\u2026` : text;
}

function assessorsOf(data) {
  return Object.keys(data.labels).filter((name) => name.startsWith("assessor:"));
}

// Who retrieved a passage, by its place among the query's: [{system, rank}], the highest first
function ranksOf(data, passage) {
  return Object.entries(data.rankings).map(([system, { passages }]) =>
    ({ system, rank: passages.indexOf(passage) + 1 })).filter(({ rank }) => rank > 0)
    .sort((a, b) => a.rank - b.rank || a.system.localeCompare(b.system));
}
