// Every system on every query, in the order of the board; the hardest query left.
const MOST_CELLS = 150; // in a row; of more queries some share a cell, which has their mean

async function showEvery(rows, state) {
  if (!byId("overview-chart")) return;
  const { labels, level, measure } = state;
  const { of: all, mean } = await queryScores(labels, level, measure);
  const queries = board.settled.queries.map((query, at) => ({ ...query, of: at, mean: mean?.[at] ?? null }))
    .filter((query) => query.mean !== null).sort((a, b) => a.mean - b.mean);
  const size = Math.ceil(queries.length / MOST_CELLS);
  const cells = rows.filter(({ system }) => all.has(system)).flatMap((row) => {
    const one = {
      system: row.system, shown: `${row.rank}  ${row.system}`, score: row.score, rank: row.rank,
      low: row.has_interval ? row.low : null, high: row.has_interval ? row.high : null,
      figure: figure(row.score, "score"), near: rows.length > 1 && /a(?!')/.test(row.groups),
      address: addressOf("system", [row.system], state),
    };
    const { scores: own } = all.get(row.system);
    return [one, ...queries.map(({ of }, n) => {
      const at = Math.floor(n / size), { query_id: id, text } = queries[size * at];
      const more = Math.min(size, queries.length - size * at) - 1;
      return {
        ...one, at, query: (text || id) + (more ? ` and ${more} more` : ""), value: own[of],
        address: addressOf("query", [id], { a: row.system, ...state }),
      };
    })];
  });
  await draw("overview-chart", "overview", cells, `Every system on every query by ${measure} with the labels of ` +
    `${labels}: the table below has the systems, the queries page the queries.`);
}
