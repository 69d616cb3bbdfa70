// The leaderboard; its choice of labels, measure and level is the scatter's too.
const board = { settled: null, index: new Map() };
const BOARD = [["labels", "choose-labels"], ["measure", "choose-measure"], ["level", "choose-level"]];

async function boardOf(labels) {
  return unpack(`board-${board.index.get(labels)}`);
}

// Whether queries weigh differently or come in clusters
const counts = () => Object.keys(board.settled.counts).length > 0;
const whatMean = () => (counts() ? "weighted mean" : "mean");

// A board's rows, the best first
function scores(data, level, measure) {
  const at = data.boards[level]?.[measure];
  if (!at) return [];
  return data.systems
    .map((system, i) => ({
      system, score: at.score[i], rank: at.rank[i], before: at.before[i], has_interval: at.low[i] !== null,
      low: at.low[i] ?? at.score[i], high: at.high[i] ?? at.score[i],
      best: at.best?.[i], worst: at.worst?.[i], groups: at.groups?.[i] ?? "",
      ranks: at.best?.[i] ? `${at.best[i]} to ${at.worst[i]}` : null,
    }))
    .filter((row) => row.score !== null)
    .sort((a, b) => a.rank - b.rank || a.system.localeCompare(b.system));
}

// Whether the best is one of several, where the report has it
function whoLeads({ leads } = {}, { labels, measure, level }) {
  return leads ?? "Significant differences and intervals of ranks were not computed here: gradelake stats ranks " +
    `${board.settled.collection} --measure ${measure} --label-set ${labels} --level ${level}.`;
}

// What scores are, in words, of labels that score whole answers; undefined of labels of passages
function ofAnswers(labels) {
  return board.settled.of_answers[labels];
}

function defaultLevel(labels) {
  return board.settled.levels[labels];
}

function startBoards(settled) {
  board.settled = settled;
  settled.label_sets.forEach((name, number) => board.index.set(name, number));
  startControls("board", BOARD, { labels: { level: null } }); // each label set has its usual level
}

async function chooseBoard({ labels, measure, level }) {
  if (!byId("choose-labels")) return;
  const { label_sets: names, opens_on: usual } = board.settled;
  labels = pick(names, labels, usual);
  const address = addressed();
  const data = await boardOf(labels);
  if (addressed() !== address) return; // another choice came first
  fill(byId("choose-labels"), names, labels);
  fill(byId("choose-measure"), data.measures, measure ?? "nDCG@10");
  fill(byId("choose-level"), Object.keys(data.boards), defaultLevel(labels));
  if (level in data.boards) byId("choose-level").value = level;
  const ofLevels = board.settled.has_levels.includes(byId("choose-measure").value);
  byId("choose-level").disabled = !ofLevels; // it would change nothing
  await showBoards(data, chosen(BOARD));
}

async function showBoards(data, { labels, measure, level }) {
  const rows = scores(data, level, measure);
  byId("leaderboard-says").textContent =
    `${rows.length} ${rows.length === 1 ? "system" : "systems"} by ${measure} with the labels of ${labels}, ${whatMean()} over ` +
    `${data.queries[measure]} queries. ${whoLeads(data.boards[level]?.[measure], { labels, measure, level })}` +
    incomplete(labels) + kin(labels) + twins() + cut();
  compareBar(rows.map(({ system }) => system), { labels, measure, level });
  leaderboardTable(data, labels, level, measure, rows);
  await draw("leaderboard-chart", "leaderboard", rows,
    `Leaderboard by ${measure}, with groups of systems that do not differ significantly: ` +
    rows.map((row) => `${row.system} ${figure(row.score, "score")} ${row.groups}`).join(", "));
  await showEvery(rows, { labels, measure, level });
  if (!undrawn.has("scatter")) await showScatter();
  undrawn.add("queries"); // they are of these labels
}

// Two systems of the board, the first two until others are chosen, over all queries or on one
function compareBar(systems, state) {
  const [a, b, query] = ["a", "b", "query"].map((name) => byId(`compare-${name}`));
  fill(a, systems, a.value || systems[0]);
  fill(b, systems, b.value || systems[1]);
  const { queries } = board.settled;
  fill(query, ["", ...queries.map(({ query_id: id }) => id)], query.value, (id) => id || "all queries");
  const lead = () => {
    const two = { a: a.value, b: b.value, ...state };
    byId("compare-systems").href = query.value ? addressOf("query", [query.value], two) : addressOf("compare", [], two);
  };
  for (const select of [a, b, query]) select.onchange = lead;
  lead();
}

function incomplete(labels) {
  const says = board.settled.incomplete[labels];
  const judged = board.settled.judged[labels];
  const few = ` ${labels} labels ${figure(judged, "percent")} of the passages in the systems' top 10; ` +
    "the rest count as not relevant.";
  return (says ? ` ${labels} is ${says}.` : "") + (judged < 0.9 ? few : "");
}

// Systems in which a model of the judge's own family writes or judges
function kin(labels) {
  const systems = board.settled.circles[labels];
  return systems ? ` Systems that use a model of the judge's own family: ${systems.join(", ")}.` : "";
}

// Systems whose run is another's, too
function twins() {
  const same = board.settled.same_runs.map((row) => `${row.system} (${row.same_as})`);
  return same.length ? ` Byte for byte the same run as another: ${same.join("; ")}.` : "";
}

// Systems whose rankings came with graded passages, and hold no others
function cut() {
  const few = board.settled.cut_systems.map((row) => `${row.system} (${row.cut_at})`);
  return few.length ? ` With their graded passages alone, at most so many of a query: ${few.join(", ")}; ` +
    "AP and R@100 are of these." : "";
}

// A cell that says by how many ranks a system moved; `instead` where it did not stand there before
function movedCell(by, instead) {
  const words = by > 0 ? `\u25b2${by}` : by < 0 ? `\u25bc${-by}` : "=";
  return make("td", {
    class: `n ${by > 0 ? "better" : by < 0 ? "worse" : ""}`, "data-value": by ?? "",
  }, by === null ? instead : words);
}

// What makes a passage, an item or an answer count
function countsWhere(labels, measure, level) {
  if (ofAnswers(labels)) return ofAnswers(labels);
  return board.settled.of_rubric.includes(measure)
    ? `A grade of ${level} or more answers a rubric item.`
    : `Passages with a label of ${level} or more count as relevant.`;
}

function leaderboardTable(data, labels, level, measure, rows) {
  const table = byId("leaderboard-table");
  const { compared_with: before, official } = board.settled;
  const measures = [measure, ...data.measures.filter((other) => other !== measure)];
  const isRanked = rows.some((row) => row.groups);
  const heads = ["rank", "system", ...(before ? [`since ${before}`] : []),
    ...Object.keys(official).map((name) => `${name} rank`), measure, "95% interval",
    ...(isRanked ? ["95% interval of ranks", "groups"] : []), ...measures.slice(1)];
  const known = rows.some((row) => row.before !== null);
  const column = new Map(data.systems.map((system, i) => [system, i]));
  const scoreOf = (row, name) => scoreCell(
    data.boards[level][name]?.score[column.get(row.system)], "score", name === measure ? "n" : "n other");
  const lines = rows.map((row) => {
    return make("tr", {},
      make("td", { class: "n" }, row.rank),
      make("th", { scope: "row" }, link(row.system, "system", [row.system], chosen(BOARD))),
      // where none is known the earlier release had no such board
      ...(before ? [movedCell(row.before && row.before - row.rank, known ? "new" : "\u2013")] : []),
      ...Object.values(official).map((ranks) =>
        make("td", { class: "n" }, ranks[row.system] ?? "\u2013")),
      scoreOf(row, measure),
      make("td", { class: "n", "data-value": row.low, ...(row.has_interval ? { "data-high": row.high } : {}) },
        row.has_interval ? `${figure(row.low, "score")} to ${figure(row.high, "score")}` : "\u2013"),
      ...(isRanked ? [make("td", {
        class: "n", "data-value": row.ranks ? row.best + row.worst / 1e4 : "",
      }, row.ranks ?? "\u2013"),
        make("td", {}, row.groups)] : []),
      ...measures.slice(1).map((name) => scoreOf(row, name)));
  });
  table.replaceChildren(
    make("caption", { class: "caption" }, countsWhere(labels, measure, level)),
    make("thead", {}, make("tr", {}, ...heads.map((head) =>
      make("th", { class: measures.indexOf(head) > 0 ? "other" : "" }, head)))),
    make("tbody", {}, ...lines));
  table.tHead.rows[0].cells[0].setAttribute("aria-sort", "ascending");
  sortable(table);
}
