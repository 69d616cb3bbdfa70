// Scores query by query, as the views of one system, one query, and two of a kind read them.
const UNANSWERED = -1e9; // counts 0

// {of, mean, median}: system -> its scores, one for each of `settled.queries`, null where the query does
// not count, `unanswered` where the system left it out; and what all systems come to on each.
async function queryScores(labels, level, measure) {
  const all = await unpack(`query-scores-${board.index.get(labels)}`);
  const lowest = Object.values(all)[0]?.[measure]; // of a measure that knows no level
  const found = board.settled.has_levels.includes(measure) ? all[level]?.[measure] : lowest;
  return { mean: found?.mean, median: found?.median,
    of: new Map(Object.entries(found?.systems ?? {}).map(([system, scores]) => [system, {
      scores: scores.map((score) => (score === null ? null : score === UNANSWERED ? 0 : score / 10000)),
      unanswered: scores.map((score) => score === UNANSWERED),
    }])) };
}
