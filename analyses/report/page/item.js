// One item of the rubric: the passages that answer it, and who retrieved them.
views.set("item", showItem);
const SYSTEMS = 5; // named beside a passage; its own view names all

async function showItem(ids, state) {
  const [queryId, id] = ids.length > 1 ? ids : [await queryOf(ids[0]), ids[0]];
  const at = queryNumber(queryId);
  if (at < 0) return notThere(ids.length > 1 ? "query" : "rubric item", ids[0]);
  const [data, grids] = await Promise.all([passagesOf(queryId), gridsOf(queryId)]);
  const graded = grids.filter((grid) => grid.items.some((item) => item.item_id === id));
  const item = data.items.find((one) => one.item_id === id) ??
    graded[0]?.items.find((one) => one.item_id === id);
  if (!item) return notThere("rubric item", id);
  return [
    make("h1", {}, `Rubric item ${id}`),
    make("p", { class: "text" }, item.item_text ?? "(Its text is not in the lake.)"),
    make("p", {}, ...(item.facet_id ? [`Facet ${item.facet_id}. `] : []), "For the query ",
      link(`${queryId}: ${board.settled.queries[at].text}`, "query", [queryId], along(state)), "."),
    ...(graded.length ? graded.flatMap((grid) => answersOf(grid, queryId, id, data, state))
      : [make("p", { class: "note" }, "No grader has graded it yet.")]),
  ];
}

// An item's id alone says which query it is of where we look through all.
async function queryOf(id) {
  for (const { query_id } of board.settled.queries) {
    const { items } = await passagesOf(query_id);
    if (items.some((item) => item.item_id === id)) return query_id;
  }
  return null;
}

function answersOf(grid, queryId, id, data, state) {
  const tau = board.settled.taus[grid.grader] ?? board.settled.tau;
  const column = grid.items.findIndex((item) => item.item_id === id);
  const graded = grid.passages.filter((passage) => passage.grades[column] !== null);
  const answering = graded.filter((passage) => passage.grades[column] >= tau)
    .sort((a, b) => b.grades[column] - a.grades[column]);
  const sets = assessorsOf(data);
  const numbers = new Map(data.passages.map((passage, at) => [passage, at]));
  return [
    make("h2", {}, `Answered, says ${grid.grader}`),
    make("p", {}, `${answering.length} of ${graded.length} graded passages answer it, with a grade of ` +
      `${tau} or more.` + (grid.shown < grid.n_passages
      ? ` Only the best ${grid.shown} of ${grid.n_passages} are in this report.` : "")),
    ...(answering.length ? [viewTable(`Passages that answer ${id}, by ${grid.grader}`,
      ["passage", "grade", ...sets, "answer", "retrieved by"],
      answering.map((passage) => {
        const at = numbers.get(passage.passage_id);
        return [
          link(passage.passage_id, "passage", [queryId, passage.passage_id], along(state)),
          countCell(passage.grades[column]), ...sets.map((name) => countCell(data.labels[name][at])),
          passage.answers[column], retrievers(ranksOf(data, at), queryId, passage, state)];
      }))] : []),
  ];
}

function retrievers(ranks, queryId, passage, state) {
  const more = ranks.length - SYSTEMS;
  return make("td", { "data-value": ranks.length },
    ...ranks.slice(0, SYSTEMS).flatMap(({ system, rank }, at) => [
      at ? ", " : "", link(system, "system", [system], along(state)), ` (${rank})`]),
    ...(more > 0 ? [" and ", link(`${more} more`, "passage", [queryId, passage.passage_id],
      along(state))] : []),
    ...(ranks.length ? [] : ["\u2013"]));
}
