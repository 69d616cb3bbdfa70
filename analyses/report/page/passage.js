// One passage of a query: its text, what each grader and label set says of it, who retrieved it.
views.set("passage", showPassage);

async function showPassage([queryId, id], state) {
  const at = queryNumber(queryId);
  if (at < 0) return notThere("query", queryId);
  const [data, texts, grids] = await Promise.all(
    [passagesOf(queryId), textsOf(queryId), gridsOf(queryId)]);
  const number = data.passages.indexOf(id);
  if (number < 0) return notThere("passage", id);
  const labels = Object.entries(data.labels).map(([name, of]) => ({ name, label: of[number] }));
  const retrieved = ranksOf(data, number);
  return [
    make("h1", {}, `Passage ${id}`),
    make("p", {}, "For the query ",
      link(`${queryId}: ${board.settled.queries[at].text}`, "query", [queryId], along(state)), "."),
    make("p", { class: "text" }, texts[id] ?? "(Its text is not in this report.)"),
    make("h2", {}, "Judgments and labels"),
    make("p", { id: "view-says" }, agreementSays(labels)),
    ...(labels.length ? [viewTable(`Labels of ${id}`, ["label set", "label", "relevant from", "verdict"],
      labels.map(({ name, label }) => [
        name, countCell(label), countCell(levelFrom(name)), relevance(name, label)]))] : []),
    ...grids.flatMap((grid) => gradesOf(grid, queryId, id, state)),
    make("h2", {}, "Retrieved by"),
    ...(retrieved.length ? [viewTable(`Systems that retrieved ${id}`,
      ["system", "rank", "its passages"], retrieved.map(({ system, rank }) => [
        link(system, "system", [system], along(state)), countCell(rank),
        link("ranking", "query", [queryId], along(state, { system }))]))]
      : [make("p", {}, `No system, down to the pool depth (${board.settled.pool_depth}).`)]),
  ];
}

// Judgments count as relevant from the collection's level on, other labels from their own.
function levelFrom(name) {
  return name.startsWith("assessor:") ? board.settled.min_relevant : defaultLevel(name);
}

function relevance(name, label) {
  if (label === null) return "\u2013";
  return label >= levelFrom(name) ? "relevant" : "not relevant";
}

function agreementSays(labels) {
  const known = labels.filter(({ label }) => label !== null);
  const named = (of) => of.map(({ name, label }) => `${name} (${label})`).join(", ");
  const people = known.filter(({ name }) => name.startsWith("assessor:"));
  const judges = known.filter(({ name }) => !name.startsWith("assessor:"));
  const saying = (of, words) => of.filter(({ name, label }) => relevance(name, label) === words);
  const both = ["relevant", "not relevant"];
  const split = (of) => both.map((words) => [words, saying(of, words)])
    .filter(([, some]) => some.length).map(([words, some]) => `${words} for ${named(some)}`).join("; ");
  if (!known.length) return "It has no judgment and no label.";
  if (!people.length) return `Nobody judged it. By labels it is ${split(judges)}.`;
  if (both.every((words) => saying(people, words).length)) {
    return `People disagree: it is ${split(known)}.`;
  }
  const theirs = relevance(people[0].name, people[0].label);
  const against = judges.filter(({ name, label }) => relevance(name, label) !== theirs);
  if (!judges.length) return `People judged it ${theirs}: ${named(people)}. No other label set has it.`;
  if (!against.length) return `People and labels agree: it is ${theirs}.`;
  return `Labels and people disagree: ${named(people)} judged it ${theirs}; ` +
    `${against.length} of ${judges.length} other label sets say the opposite: ${named(against)}.`;
}

function gradesOf(grid, queryId, id, state) {
  const graded = grid.passages.find((passage) => passage.passage_id === id);
  const title = make("h2", {}, `Grades by ${grid.grader}`);
  if (!graded) {
    return grid.shown < grid.n_passages
      ? [title, make("p", {}, `None here: only the best ${grid.shown} of the ${grid.n_passages} ` +
        "graded passages are in this report (--grid-passages).")]
      : [title, make("p", {}, "None.")];
  }
  return [title, viewTable(`Grades by ${grid.grader} of ${id}`, ["item", "grade", "answer"],
    grid.items.map((item, column) => [
      link(item.item_text ?? item.item_id, "item", [queryId, item.item_id], along(state)),
      countCell(graded.grades[column]), graded.answers[column]]))];
}
