// Two systems of a leaderboard, query by query; and what views of two of a kind share.
const MOST_BARS = 60, MOST_QUERIES = 200; // of queries: the rest is left out, and the page says so

function command(...words) {
  const quoted = words.map((word) =>
    (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`));
  return make("code", {}, ["gradelake", ...quoted, board.settled.source].join(" "));
}

function facts(rows) {
  return make("dl", { class: "facts" }, ...rows.map(([name, ...says]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, ...says))));
}

// A query's weight; 1 where all count alike
function weightOf({ query_id: id }) {
  return board.settled.counts[id]?.[0] ?? 1;
}

// Who is better, in a sentence: made with the report, for some measures at the labels' usual level;
// null elsewhere.
async function said({ a, b, labels, measure, level }) {
  const found = (await unpack(`pairs-${board.index.get(labels)}`))[measure];
  const levels = board.settled.has_levels.includes(measure);
  if (!found?.says || (levels && String(found.level) !== String(level))) return null;
  const n = found.systems.length;
  const [i, j] = [a, b].map((system) => found.systems.indexOf(system)).sort((x, y) => x - y);
  return found.says[i * n - i * (i + 1) / 2 + j - i - 1];
}

// What `gradelake compare` says of them: asked of the server, or in the file for the pair that it is about
async function told({ a, b, labels, measure, level }) {
  const wanted = { a, b, labels, measure, level };
  if (AT) {
    const { release } = board.settled;
    const answer = await fetch(`${AT}/compare.json?${new URLSearchParams({ ...wanted, release })}`);
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    return found;
  }
  const kept = board.settled.compared;
  return kept && Object.entries(wanted).every(([name, value]) => kept[name] === value) ? kept : null;
}

function outermost(inOrder, most) {
  return inOrder.length <= most ? inOrder : [...inOrder.slice(0, most / 2), ...inOrder.slice(-most / 2)];
}

// As scores of 4 decimals have it
function isTie({ difference }) {
  return Math.abs(difference) < 5e-5;
}

// A bar of a picture, for those who cannot see it
function inWords({ query_id: id, difference }) {
  return `${id} ${figure(difference, "change")}`;
}

// What is the same on both sides is one line, and no row of a table
function foldedTies(ties, state) {
  const said = ties.length > MOST_QUERIES ? `; the first ${MOST_QUERIES} are here` : "";
  return ties.length ? [make("details", { class: "ties" }, make("summary", {}, `Ties (${ties.length}${said})`),
    make("p", {}, ...ties.slice(0, MOST_QUERIES).flatMap(({ query_id: id }) => [link(id, "query", [id], state), " "])))] : [];
}

// A bar for each query, of rows {query_id, text, a, b, difference}; `better`: what "to the right" means
function queryByQuery({ a, b }, id, ofWhat, rows, better) {
  const inOrder = rows.filter((row) => !isTie(row)).sort((one, other) => other.difference - one.difference);
  const shown = outermost(inOrder, MOST_BARS);
  const title = make("h2", {}, "Query by query"), nTies = rows.length - inOrder.length;
  if (!inOrder.length) return [title, make("p", {}, `All ${nTies} queries are ties.`)];
  return [
    title,
    place(id, "topics", shown, `${ofWhat} of ${a} less that of ${b}, query by query: ` +
      shown.map(inWords).join(", "),
    { reach: Math.max(...shown.map((row) => Math.abs(row.difference))) }),
    make("p", { class: "caption" }, `To the right ${a} ${better}, to the left ${b}.` +
      (shown.length < inOrder.length ? ` The ${MOST_BARS} outermost of ${inOrder.length} queries.` : "") +
      (nTies ? ` Ties, ${nTies} of ${rows.length}, have no bar.` : "")),
  ];
}

async function compareSystems(ids, asked) {
  const at = await withBoard(asked);
  const { labels, data, measure, level } = at;
  const systems = data ? scores(data, level, measure).map((row) => row.system) : [];
  for (const asked of [at.a, at.b]) {
    if (asked && !systems.includes(asked)) return notThere("system", asked);
  }
  const a = pick(systems, at.a), b = pick(systems.filter((one) => one !== a), at.b);
  if (!b) return [make("h1", {}, "Two systems"), make("p", { class: "note" }, "It takes two systems with scores.")];
  const state = { ...at, a, b };
  const { of } = await queryScores(labels, level, measure);
  const rows = board.settled.queries.map(({ query_id, text }, i) => {
    const [x, y] = [a, b].map((system) => of.get(system)?.scores[i] ?? null);
    const difference = Math.round(1e4 * (x - y)) / 1e4;
    return { query_id, text, a: x, b: y, difference };
  }).filter((row) => row.a !== null && row.b !== null && weightOf(row) > 0);
  if (!rows.length) {
    return [make("h1", {}, `${a} and ${b}`),
      make("p", { class: "note" }, `No query counts for ${measure} with the labels of ${labels}.`)];
  }
  const answer = await told(state), sentence = answer?.sentence ?? await said(state);
  const byName = [...systems].sort((x, y) => x.localeCompare(y));
  const others = (system) => byName.filter((other) => other !== system);
  return [
    make("h1", {}, `${a} and ${b}`),
    viewChoices("compare", [], state, [["a", "System", others(b)], ["b", "with", others(a)]]),
    make("p", { id: "compare-says" }, ...(sentence ? [sentence, answer ? "" : incomplete(labels)]
      : ["Ask: ", command("compare", board.settled.collection, b, a, "--measure", measure,
        "--label-set", labels, "--level", level)])),
    ...(answer ? [facts(Object.entries(answer.says))] : []),
    ...queryByQuery(state, "view-chart", measure, rows, "is better"),
    make("h2", {}, "Queries that decide"),
    viewTable("Queries that decide", ["query", "text", a, b, "difference"], rows.filter((row) => !isTie(row))
      .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference))
      .slice(0, MOST_QUERIES)
      .map((row) => [link(row.query_id, "query", [row.query_id], along(state, { a, b })),
        row.text, scoreCell(row.a), scoreCell(row.b), scoreCell(row.difference, "change")])),
    ...foldedTies(rows.filter(isTie), along(state, { a, b })),
  ];
}

views.set("compare", compareSystems);
