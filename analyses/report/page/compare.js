// Two systems of a leaderboard, query by query; and what views of two of a kind share.
const ALPHA = 0.05;
const MOST_BARS = 60, MOST_QUERIES = 200; // of queries: the rest is left out, and the page says so

function command(...words) {
  const quoted = words.map((word) =>
    (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`));
  return make("code", {}, ["gradelake", ...quoted, board.settled.source].join(" "));
}

function signed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value > 0 ? "+" : "\u2212"}${text}`;
}

function facts(rows) {
  return make("dl", { class: "facts" }, ...rows.map(([name, ...says]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, ...says))));
}

// A query's weight; 1 where all count alike
function weightOf({ query_id: id }) {
  return board.settled.counts[id]?.[0] ?? 1;
}

// What the queries' differences come to. The interval is Student's, of paired differences, weighted and
// over clusters as `Units` of analyses/stats/counting.py has them, with as many standard errors as the
// board's intervals have; those of less than 0.0001 are ties.
function paired(rows, reach) {
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const all = total(rows.map(weightOf));
  const mean = total(rows.map((row) => weightOf(row) * row.difference)) / all;
  const units = new Map(); // cluster -> what it adds to the mean
  for (const row of rows) {
    const [, cluster] = board.settled.counts[row.query_id] ?? [1, row.query_id];
    const adds = weightOf(row) * (row.difference - mean) / all;
    units.set(cluster, (units.get(cluster) ?? 0) + adds);
  }
  const n = units.size;
  const t = counts() ? reach ?? Infinity : board.settled.t[n - 2];
  const error = Math.sqrt(n / (n - 1) * total([...units.values()].map((adds) => adds ** 2)));
  const half = n > 1 ? t * error : Infinity;
  const count = (sign) =>
    rows.filter((row) => Math.sign(Math.round(1e4 * row.difference)) === sign).length;
  return { n, n_queries: rows.length, mean, low: mean - half, high: mean + half, wins: count(1), ties: count(0), losses: count(-1) };
}

// How likely two systems differ so by chance: computed with the report, for some measures at the
// labels' usual level; null elsewhere.
async function tested({ a, b, labels, measure, level }) {
  const found = (await unpack(`pairs-${board.index.get(labels)}`))[measure];
  const levels = board.settled.has_levels.includes(measure);
  if (!found || (levels && String(found.level) !== String(level))) return null;
  const n = found.systems.length;
  const [i, j] = [a, b].map((system) => found.systems.indexOf(system)).sort((x, y) => x - y);
  const at = i * n - i * (i + 1) / 2 + j - i - 1;
  return {
    n_pairs: n * (n - 1) / 2, is_exact: found.is_exact,
    p: found.p[at], tukey: found.tukey[at], holm: found.holm?.[at],
  };
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

// `ahead`: what can be said where the difference is no chance
function toldApart(ahead, { n, low, high }, test) {
  if (n < 2) return "No conclusion can be drawn from one query.";
  if (!test) {
    return low <= 0 && high >= 0 ? "No significant difference: the interval includes 0."
      : `${ahead} on its own: the interval excludes 0.`;
  }
  if (test.p >= ALPHA) return `No significant difference (p = ${figure(test.p, 2)}).`;
  const corrected = `corrected for all ${test.n_pairs} pairs of the leaderboard`;
  return test.n_pairs === 1 ? `${ahead} (p = ${figure(test.p, 4)}).`
    : test.tukey < ALPHA ? `${ahead}, also when ${corrected}.`
    : `${ahead} on its own, but not when ${corrected}.`;
}

function pairedFacts({ a, b }, { n, n_queries: nQueries, mean, low, high, wins, ties, losses }, ofWhat) {
  const interval = n < 2 ? "" : `; 95% interval ${signed(low)} to ${signed(high)}`;
  return [
    [`${a} minus ${b}`, `${signed(mean)}${interval} (${whatMean()} of ${ofWhat}, paired over ${nQueries} queries)`],
    ["wins, ties, losses", `${wins}, ${ties}, ${losses} (scores of 4 decimals)`],
  ];
}

function pFact({ p, is_exact: isExact }) {
  const patterns = isExact ? "all" : `${board.settled.replicates.toLocaleString("en")} random`;
  return ["p", `${figure(p, 4)}: paired randomisation test, ${patterns} sign patterns`];
}

function outermost(inOrder, most) {
  return inOrder.length <= most ? inOrder : [...inOrder.slice(0, most / 2), ...inOrder.slice(-most / 2)];
}

// As scores of 4 decimals have it
function isTie({ difference }) {
  return Math.abs(difference) < 5e-5;
}

// What is the same on both sides is one line, and no row of a table
function foldedTies(ties, state) {
  const said = ties.length > MOST_QUERIES ? `; the first ${MOST_QUERIES} are here` : "";
  return ties.length ? [make("details", { class: "ties" }, make("summary", {}, `Ties (${ties.length}${said})`),
    make("p", {}, ...ties.slice(0, MOST_QUERIES).flatMap(({ query_id: id }) => [link(id, "query", [id], state), " "])))] : [];
}

// A bar for each query, of rows {query_id, text, a, b, difference}; `better`: what "to the right" means
function queryByQuery({ a, b }, id, ofWhat, rows, better) {
  const inOrder = rows.filter((row) => !isTie(row)).sort((one, other) => other.difference - one.difference)
    .map((row) => ({ ...row, is_behind: row.difference <= 0 }));
  const shown = outermost(inOrder, MOST_BARS);
  const title = make("h2", {}, "Query by query"), nTies = rows.length - inOrder.length;
  if (!inOrder.length) return [title, make("p", {}, `All ${nTies} queries are ties.`)];
  return [
    title,
    place(id, "differences", shown, `${ofWhat} of ${a} less that of ${b}, query by query: ` +
      shown.map((row) => `${row.query_id} ${signed(row.difference)}`).join(", ")),
    make("p", { class: "caption" }, `To the right ${a} ${better}, to the left ${b}.` +
      (shown.length < inOrder.length ? ` The ${MOST_BARS} outermost of ${inOrder.length} queries.` : "") +
      (nTies ? ` Ties, ${nTies} of ${rows.length}, have no bar.` : "")),
  ];
}

// How many of the leader's best queries it owes its lead to
function owed(differences, mean) {
  const best = differences.map((value) => value * Math.sign(mean)).sort((x, y) => y - x);
  let left = best.reduce((sum, value) => sum + value, 0), n = 0;
  while (left > 1e-9) left -= best[n++];
  return n;
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
  const of = await queryScores(labels, level, measure);
  const rows = board.settled.queries.map(({ query_id, text }, i) => {
    const [x, y] = [a, b].map((system) => of.get(system)?.scores[i] ?? null);
    const difference = Math.round(1e4 * (x - y)) / 1e4;
    return { query_id, text, a: x, b: y, difference };
  }).filter((row) => row.a !== null && row.b !== null && weightOf(row) > 0);
  if (!rows.length) {
    return [make("h1", {}, `${a} and ${b}`),
      make("p", { class: "note" }, `No query counts for ${measure} with the labels of ${labels}.`)];
  }
  const found = paired(rows, data.reach[measure]), said = await told(state);
  const test = await tested(state);
  if (test && said) Object.assign(test, { p: said.p, is_exact: said.is_exact });
  const byName = [...systems].sort((x, y) => x.localeCompare(y));
  const others = (system) => byName.filter((other) => other !== system);
  const ahead = `${found.mean > 0 ? a : b} is ahead by more than chance`;
  const verdict = toldApart(ahead, found, test);
  const nOwed = owed(rows.map((row) => weightOf(row) * row.difference), found.mean);
  const best = nOwed > 1 ? `${nOwed} queries` : "query";
  return [
    make("h1", {}, `${a} and ${b}`),
    viewChoices("compare", [], state, [["a", "System", others(b)], ["b", "with", others(a)]]),
    make("p", { id: "compare-says" }, ...(said ? [said.sentence] : [verdict, incomplete(labels)])),
    facts([
      ...(said ? Object.entries(said.says) : [
        ...pairedFacts(state, found, measure),
        test ? pFact(test) : ["p", command("stats", "significance", board.settled.collection,
          "--measure", measure, "--label-set", labels, "--level", level)],
      ]),
      ...(test ? [[`p, of ${test.n_pairs} pairs`, `Tukey's HSD ${figure(test.tukey, 4)}; ` +
        (test.holm === undefined ? "too few sign patterns for Holm's correction to find any"
          : `Holm ${figure(test.holm, 4)}`)]] : []),
    ]),
    ...queryByQuery(state, "view-chart", measure, rows, "is better"),
    make("h2", {}, "Queries that decide"),
    make("p", {}, !nOwed ? "Their means are equal."
      : verdict.startsWith("No ") ? `${nOwed} of ${found.n_queries} queries account for the whole difference.`
      : `Without its best ${best}, ${found.mean > 0 ? a : b} would not be ahead.`),
    viewTable("Queries that decide", ["query", "text", a, b, "difference"], rows.filter((row) => !isTie(row))
      .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference))
      .slice(0, MOST_QUERIES)
      .map((row) => [link(row.query_id, "query", [row.query_id], along(state, { a, b })),
        row.text, scoreCell(row.a), scoreCell(row.b), scoreCell(row.difference, "+")])),
    ...foldedTies(rows.filter(isTie), along(state, { a, b })),
  ];
}

views.set("compare", compareSystems);

PICTURES.differences = {
  mark: { type: "bar" },
  encoding: {
    y: nominal("query_id", { sort: null, title: null, axis: { labelLimit: 170 } }),
    x: number("difference", { title: "difference" }),
    color: either("is_behind", "category"),
    tooltip: [nominal("query_id", { title: "query" }), nominal("text"),
      ...["a", "b", "difference"].map((name) => number(name, { format: ".4f" }))],
  },
};
