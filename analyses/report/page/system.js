// One system: its score, and the queries that make it.
views.set("system", showSystem);

async function showSystem([name], asked) {
  const state = await withBoard(asked);
  const { labels, measure, level, data } = state;
  if (!data?.systems.includes(name)) return notThere("system", name);
  const { of: all, median } = await queryScores(labels, level, measure);
  const others = data.systems.filter((other) => other !== name);
  state.than = others.includes(state.than) ? state.than : "";
  const rows = scores(data, level, measure);
  const ranked = rows.find((row) => row.system === name);
  const best = rows.find((row) => row.system !== name);
  const byQuery = differencesByQuery(name, state.than, all, median);
  const counted = byQuery.filter((one) => one.score !== null);
  const apart = counted.filter((one) => !isTie(one)).sort((a, b) => b.difference - a.difference);
  const go = along(state, state.than ? { system: null, a: name, b: state.than } : { system: name });
  const than = state.than || "the median system";
  return [
    make("h1", {}, `System ${name}`),
    viewChoices("system", [name], state,
      [["than", "Beside", ["", ...others], (other) => other || "the median system"]]),
    make("p", {}, ranked
      ? `${figure(ranked.score, "score")} by ${measure} with the labels of ${labels}` +
        (board.settled.has_levels.includes(measure) ? `, relevant from ${level}: ` : ": ") +
        `rank ${ranked.rank} of ${rows.length}, a ${whatMean()} over ` +
        `${data.queries[measure]} queries.`
      : `It has no score by ${measure} with the labels of ${labels} at ${level}.`,
    " ", link("The leaderboard", "systems", [], { labels, measure, level }), ". ",
    ...(others.length ? [link(`Compare with ${state.than || "another system"}`, "compare", [],
      { a: name, b: state.than || best?.system, labels, measure, level }), "."] : [])),
    ...(counted.length ? [
      place("view-chart", "by_query", outermost(apart, MOST_QUERIES), `Differences of ${name} from ${than} by query: ` +
        outermost(apart, MOST_QUERIES).map(inWords).join(", ")),
      make("p", { class: "caption" }, `A bar for each query: the difference from ${than}. Ties have none. ` +
        (apart.length > MOST_QUERIES ? `The ${MOST_QUERIES} outermost of ${apart.length} are drawn. ` : "") +
        `A query's link shows ${state.than ? "both rankings" : "the ranking"}.`),
      viewTable(`Queries of ${name}`,
        ["query", "text", "score", "median", "from the median",
          ...(state.than ? [state.than, `from ${state.than}`] : []), "rank", "of"],
        byQuery.map((one) => [
          link(one.query_id, "query", [one.query_id], go), one.query,
          one.unanswered ? make("td", { class: "n", "data-value": 0 }, "no answer")
            : scoreCell(one.score),
          scoreCell(one.median), scoreCell(one.toMedian, "change"),
          ...(state.than ? [scoreCell(one.other), scoreCell(one.difference, "change")] : []),
          countCell(one.rank), countCell(one.of)]))] : []),
  ];
}

// Of each query: the score of a system, and how far it is from the median's and another's
function differencesByQuery(name, than, all, median) {
  return board.settled.queries.map(({ query_id, text: query }, at) => {
    const values = [...all.values()].map(({ scores: of }) => of[at]).filter((value) => value !== null);
    const own = all.get(name)?.scores[at] ?? null;
    const other = all.get(than)?.scores[at] ?? null;
    const middle = median?.[at] ?? null;
    const minus = (value) =>
      (own === null || value === null ? null : Math.round(1e4 * (own - value)) / 1e4);
    return {
      query_id, query, score: own, unanswered: all.get(name)?.unanswered[at], median: middle,
      toMedian: minus(middle), other, difference: minus(than ? other : middle),
      rank: own === null ? null : 1 + values.filter((value) => value > own).length,
      of: values.length,
    };
  });
}
