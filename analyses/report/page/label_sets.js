// Two label sets, each leaderboard at its usual level: who moved, and by which queries.

// What the report found of two label sets by a measure: see compare_label_sets in comparisons.py
async function comparedBy(a, b, measure) {
  const { pairs, higher } = await unpack("label-sets");
  const there = pairs[a]?.[b], of = (all) => all[a]?.[b]?.[measure] ?? all[b]?.[a]?.[measure];
  const { says = [], ...found } = of(pairs) ?? {};
  return { ...found, says: says[there ? 0 : 1] ?? "", higher: of(higher),
    ...(there ? {} : { a: found.b, b: found.a }) };
}

// The passages to which one label set gives a label, and the other's people a judgment
async function passagesOfCell({ a, b, label, judgment }) {
  const rows = [], is = (labels, at, value) => (labels?.[at] ?? null) !== null && String(Math.max(0, labels[at])) === value;
  for (const { query_id: id, text: query } of board.settled.queries) {
    if (rows.length > MOST_QUERIES) break;
    const [{ passages, labels }, texts] = await Promise.all([passagesOf(id), textsOf(id)]);
    passages.forEach((passage, at) => {
      if (!is(labels[b], at, label) || !is(labels[a], at, judgment)) return;
      rows.push([link(id, "query", [id]), query, link(passage, "passage", [id, passage]),
        make("td", {}, make("span", { class: "clamp" }, ...marked(texts[passage], query)))]);
    });
  }
  return [
    make("h1", {}, `Passages that ${b} labels ${label} and ${a} judges ${judgment}`),
    make("p", {}, rows.length > MOST_QUERIES ? `The first ${MOST_QUERIES}. ` : `${rows.length} in all. `,
      link("Compare the two label sets", "labels", [], { a, b }), ". Passages that the judge saw as examples " +
      "are listed here, but not counted there."),
    ...(rows.length ? [viewTable("Passages of a cell", ["query", "its text", "passage", "text"],
      rows.slice(0, MOST_QUERIES), "stacked")] : []),
  ];
}

async function compareLabelSets(ids, asked) {
  if (asked.label !== undefined) return passagesOfCell(asked);
  const { label_sets: names, reference, queries, collection } = board.settled;
  for (const wanted of [asked.a, asked.b]) {
    if (wanted && !names.includes(wanted)) return notThere("label set", wanted);
  }
  const a = pick(names, asked.a, reference);
  const alike = (one) => names.filter((other) => other !== one && ofAnswers(other) === ofAnswers(one));
  const b = pick(alike(a), asked.b); // labels of passages and scores of answers have no measure in common
  if (!b) return [make("h1", {}, "Two label sets"), make("p", { class: "note" }, "It takes two label sets with scores.")];
  const { levels } = board.settled;
  const [ours, theirs] = await Promise.all([a, b].map(boardOf));
  const measures = ours.measures.filter((measure) => theirs.measures.includes(measure));
  const state = { a, b, measure: pick(measures, asked.measure, "nDCG@10") };
  const { measure } = state;
  const other = new Map(scores(theirs, levels[b], measure).map((row) => [row.system, row]));
  const rows = scores(ours, levels[a], measure).filter((row) => other.has(row.system)).map((row) => {
    const { rank, score } = other.get(row.system);
    return {
      system: row.system, rank_a: row.rank, rank_b: rank, score_a: row.score, score_b: score,
      moved: row.rank - rank,
    };
  });
  rows.forEach((row, i) => { row.place_a = i + 1; });
  const found = await comparedBy(a, b, measure);
  [...rows].sort((x, y) => x.rank_b - y.rank_b || x.place_a - y.place_a)
    .forEach((row, i) => Object.assign(row, {
      place_b: i + 1, far: found.far.includes(row.system),
      label_a: `${row.system} ${row.rank_a}`, label_b: `${row.rank_b} ${row.system}`,
    }));
  const [of_a, of_b] = await Promise.all([a, b].map((one) => queryScores(one, levels[one], measure)));
  const deciding = queries.map(({ query_id, text }, i) => {
    const [left, right] = [found.a ?? of_a.mean, found.b ?? of_b.mean].map((of) => of[i]);
    return { query_id, text, tau: found.taus?.[i], a: left, b: right,
      difference: left - right, uneven: found.uneven?.[i] ?? null };
  }).filter((row) => row.uneven !== null && weightOf(row) > 0).sort((x, y) => y.uneven - x.uneven);
  const ofRight = { labels: b, measure, level: levels[b] };
  const moves = (row) => !isTie(row) || row.uneven >= 5e-5;
  return [
    make("h1", {}, `${a} and ${b}`),
    viewChoices("labels", [], state,
      [["a", "Labels", alike(b)], ["b", "with", alike(a)], ["measure", "Measure", measures]]),
    make("p", { id: "label-sets-says" }, found.says, incomplete(a), incomplete(b)),
    ...(found.tau === undefined ? [make("p", {}, "Kendall's tau-b: ", command("stats", "correlation", collection,
      "--measure", measure, "--label-set", b, "--reference", a))] : []),
    place("view-chart", "moves", rows, `Ranks by ${a} and by ${b}: ` +
      rows.map((row) => `${row.system} ${row.rank_a} to ${row.rank_b}`).join(", ")),
    make("p", { class: "caption" }, `Left: ranked by ${a}, relevant from ${levels[a]}; right: by ${b}, ` +
      `relevant from ${levels[b]}. Dashed: moves by more than a tenth of all ranks.`),
    viewTable("Systems under both label sets",
      ["system", "rank (left)", "rank (right)", "moved", "score (left)", "score (right)"],
      rows.map((row) => [
        link(row.system, "system", [row.system], { labels: b, measure, level: levels[b] }),
        countCell(row.rank_a), countCell(row.rank_b),
        movedCell(row.moved),
        scoreCell(row.score_a), scoreCell(row.score_b)])),
    make("h2", {}, "Which labels give higher scores"),
    ...(deciding.length ? [
      make("p", { id: "higher-says" }, found.higher ?? "It was computed for " +
        `${board.settled.measures.join(", ")} alone.`, " What raises all systems alike changes no rank."),
      ...queryByQuery(state, "view-differences", `Mean ${measure} of the systems`, deciding,
        "scores higher"),
    ] : [make("p", { class: "note" }, "No query counts for both.")]),
    make("h2", {}, "Queries that decide"),
    make("p", { class: "caption" }, "Unevenness: how far the other labels move a system's score on a query " +
      "from where they move all of them on average." +
      (found.taus ? " Kendall's tau-b compares the two orders of the systems on that query." : "")),
    viewTable("Queries that decide", ["query", "text", "mean (left)", "mean (right)", "difference", "unevenness",
      ...(found.taus ? ["Kendall's tau-b"] : [])],
      deciding.filter(moves).slice(0, MOST_QUERIES).map((row) => [
        link(row.query_id, "query", [row.query_id], ofRight),
        row.text, scoreCell(row.a), scoreCell(row.b),
        scoreCell(row.difference, "change"), scoreCell(row.uneven),
        ...(found.taus ? [scoreCell(row.tau, "tau")] : [])])),
    ...foldedTies(deciding.filter((row) => !moves(row)), ofRight),
  ];
}

views.set("labels", compareLabelSets);
