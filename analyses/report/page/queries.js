// All queries, with what the systems' scores on each come to, by the leaderboard's choices.
async function showQueries() {
  const { labels, measure, level } = board.settled.label_sets.length ? chosen(BOARD) : {};
  const { of: all = new Map(), mean } = labels ? await queryScores(labels, level, measure) : {};
  const rows = board.settled.queries.map(({ query_id: id, text }, at) => {
    const [best] = [...all].map(([system, { scores: of }]) => ({ system, score: of[at] }))
      .filter(({ score }) => score !== null).sort((a, b) => b.score - a.score);
    return [link(id, "query", [id], { labels, measure, level }), text,
      scoreCell(mean?.[at]), scoreCell(best?.score), best?.system];
  });
  byId("queries-says").textContent = `${rows.length} queries` +
    (labels ? `, by ${measure} with the labels of ${labels}.` : ".");
  byId("queries-table").replaceChildren(viewTable("All queries",
    ["query", "text", "mean", "best", "system"], rows, "stacked"));
  startTables(byId("queries"));
}
