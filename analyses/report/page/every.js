// Every system on every query, in the order of the board; the hardest query left.
const MOST_CELLS = 150; // in a row; of more queries some share a cell

async function showEvery(rows, state) {
  if (!byId("overview-chart")) return;
  const { labels, level, measure } = state;
  const all = await queryScores(labels, level, measure);
  const shown = rows.filter(({ system }) => all.has(system));
  const columns = inColumns(board.settled.queries.map((query, at) => (
    { ...query, of: shown.map(({ system }) => all.get(system).scores[at]) }
  )).filter(({ of }) => of.some((score) => score !== null)));
  const cells = shown.flatMap((row, at) => {
    const one = {
      system: row.system, shown: `${row.rank}  ${row.system}`, score: row.score, rank: row.rank,
      low: row.has_interval ? row.low : null, high: row.has_interval ? row.high : null,
      figure: figure(row.score, "score"), near: rows.length > 1 && lettersOf(row).includes("a"),
      address: addressOf("system", [row.system], state),
    };
    return [one, ...columns.map((column, n) => ({
      ...one, at: n, query: column.query, value: column.of[at],
      address: addressOf("query", [column.query_id], { a: row.system, ...state }),
    }))];
  });
  await draw("overview-chart", "overview", cells, `Every system on every query by ${measure} with the labels of ` +
    `${labels}: the table below has the systems, the queries page the queries.`);
}

// Queries from hard to easy; where there are many, neighbours share a column
function inColumns(queries) {
  const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);
  queries.sort((a, b) => sum(a.of) - sum(b.of));
  const size = Math.ceil(queries.length / MOST_CELLS);
  return Array.from({ length: Math.ceil(queries.length / size) }, (_, n) => {
    const some = queries.slice(size * n, size * (n + 1)), [first] = some;
    return {
      query_id: first.query_id,
      query: (first.text || first.query_id) + (some.length > 1 ? ` and ${some.length - 1} more` : ""),
      of: first.of.map((_, at) => sum(some.map(({ of }) => of[at])) / some.length),
    };
  });
}
