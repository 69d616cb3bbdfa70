// One query: who does well on it, and what a system retrieved for it.
views.set("query", showQueryView);

async function showQueryView([id], asked) {
  const at = queryNumber(id);
  if (at < 0) return notThere("query", id);
  const state = await withBoard(asked);
  const { labels, measure, level, data: ofBoard } = state;
  const [data, texts, grids, { of: all }] = await Promise.all([passagesOf(id), textsOf(id), gridsOf(id),
    ofBoard ? queryScores(labels, level, measure) : { of: new Map() }]);
  const onQuery = [...all].map(([system, { scores: of, unanswered }]) =>
    ({ system, score: of[at], unanswered: unanswered[at] })).filter((row) => row.score !== null);
  onQuery.sort((a, b) => b.score - a.score || a.system.localeCompare(b.system));
  const systems = [...new Set([...onQuery.map((row) => row.system), ...Object.keys(data.rankings)])];
  state.system = state.a = pick(systems, asked.a, asked.system);
  state.b = systems.find((one) => one === asked.b && one !== state.a) ?? "";
  const without = (one) => [...systems].sort().filter((other) => other !== one);
  const unknown = [asked.a ?? asked.system, asked.b].find((one) => one && !systems.includes(one));
  return [
    make("h1", {}, `Query ${id}: ${board.settled.queries[at].text}`),
    viewChoices("query", [id], state,
      systems.length ? [["a", "Ranking of", without(state.b)],
        ["b", "Beside", ["", ...without(state.a)], (one) => one || "no other"]] : []),
    ...(unknown ? [make("p", { class: "note" }, `This report has no system \u201c${unknown}\u201d: ` +
      "choose one here.")] : []),
    ...(state.b ? sideBySide(id, state, data, texts) : rankingOf(id, state, data, texts, grids)),
    make("h2", {}, "Systems"),
    ...(onQuery.length ? [viewTable(`Systems by ${measure} on ${id}`,
      ["system", measure, "rank", "its passages", "side by side"],
      onQuery.map((row) => [
        link(row.system, "system", [row.system], along(state)), scoreCell(row.score),
        countCell(1 + onQuery.filter((other) => other.score > row.score).length),
        row.unanswered ? "no answer" : link("ranking", "query", [id],
          along(state, { system: row.system })),
        row.system === state.a ? "\u2013" : link(`with ${state.a}`, "query", [id],
          along(state, { system: null, a: state.a, b: row.system }))]))]
      : [make("p", { class: "note" }, ofBoard
        ? `The labels ${labels} do not count this query in ${measure}: choose others.`
        : "No system has a score yet.")]),
    ...(data.items.length ? [make("h2", {}, `Rubric items (${data.items.length})`),
      make("ol", {}, ...data.items.map((item) => make("li", {},
        link((item.facet_id ? `[${item.facet_id}] ` : "") + (item.item_text ?? item.item_id), "item",
          [id, item.item_id], along(state)))))] : []),
  ];
}

// Whose labels stand beside a passage: those chosen, and people's
function labelsOf(labels, data) {
  return [...new Set([...(labels && !ofAnswers(labels) ? [labels] : []), ...assessorsOf(data)])];
}

function rankingOf(id, state, data, texts, grids) {
  const { system, labels } = state;
  if (!system) return [make("p", { class: "note" }, "No system has retrieved passages yet.")];
  const title = make("h2", {}, `The ranking of ${system}`);
  const ranking = data.rankings[system];
  if (!ranking) return [title, make("p", {}, `${system} retrieved nothing for this query.`)];
  const shown = ranking.passages;
  const left = ranking.n_retrieved - shown.length;
  const of = (name, passage) => data.labels[name]?.[passage] ?? null;
  const sets = labelsOf(labels, data);
  const best = grids.map(({ grader, passages }) => ({ grader, of: new Map(
    passages.map(({ passage_id, best_grade }) => [passage_id, best_grade])) }));
  const toPassage = (passage) =>
    link(data.passages[passage], "passage", [id, data.passages[passage]], along(state));
  const missed = data.passages.map((_, passage) => passage).filter((passage) =>
    labels && of(labels, passage) >= levelFrom(labels) && !shown.includes(passage));
  return [
    title,
    make("p", {}, left
      ? `Its first ${shown.length} of ${ranking.n_retrieved} entries, down to the pool depth ` +
        `(${board.settled.pool_depth}); ${left} are left out.`
      : `All of its ${shown.length} entries.`),
    viewTable(`Ranking of ${system} on ${id}`,
      ["rank", "passage", ...sets, ...best.map(({ grader }) => `best grade, ${grader}`), "text"],
      shown.map((passage, at) => [
        at + 1, toPassage(passage), ...sets.map((name) => countCell(of(name, passage))),
        ...best.map((one) => countCell(one.of.get(data.passages[passage]))),
        shortened(texts[data.passages[passage]])]), "stacked"),
    ...(missed.length ? [make("details", {},
      make("summary", {}, `Relevant by ${labels} (labelled ${levelFrom(labels)} or more) ` +
        `but not in this list: ${missed.length}`),
      make("ul", {}, ...missed.map((passage) => make("li", {}, toPassage(passage)))))] : []),
  ];
}
