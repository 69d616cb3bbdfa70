// Two rankings of a query side by side: where each has a passage, who judged it, and which passages decide.
const DECIDING = 5; // passages
const TEXT = 500, BEFORE = 60, READ = 20_000; // characters: shown, shown before the first mark, looked at
const COMMON = new Set(("a about an and any are as at be but by can could did do does for from had has have how i in " +
  "is it its me my not of on or so that the their there they this to was we were what when where which who " +
  "whose why will with would you your").split(" ")); // a query's words that say nothing of a passage

const wordsOf = (text) => [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)];
const stem = (word) => word.toLowerCase().replace(/(?<=...)s$/, "");

// A text from a little before the first of the query's words on, these marked
function marked(text, query) {
  if (text === undefined) return ["\u2013"];
  const wanted = new Set(wordsOf(query).filter(({ segment, isWordLike }) =>
    isWordLike && !COMMON.has(segment.toLowerCase())).map(({ segment }) => stem(segment)));
  const isWanted = ({ segment, isWordLike }) => isWordLike && wanted.has(stem(segment));
  const all = wordsOf(text.slice(0, READ));
  const first = all.find(isWanted)?.index ?? 0;
  const near = first > 2 * BEFORE ? Math.max(0, Math.min(first - BEFORE, text.length - TEXT / 2)) : 0;
  const from = near && all.find(({ index, isWordLike }) => index >= near && isWordLike).index;
  const pieces = [from ? "\u2026 " : ""];
  for (const part of all.filter(({ index }) => index >= from && index < from + TEXT)) {
    if (isWanted(part)) pieces.push(make("mark", {}, part.segment), "");
    else pieces[pieces.length - 1] += part.segment;
  }
  return pieces;
}

function labelChips(names, data, passage) {
  const known = names.map((name) => [name, data.labels[name]?.[passage] ?? null]).filter(([, label]) => label !== null);
  if (!known.length) return [make("span", { class: "chip doubt" }, "not judged")];
  return known.flatMap(([name, label]) => [make("span", { class: `chip ${label >= levelFrom(name) ? "better" : "worse"}` },
    `${name.replace("assessor:", "")}: ${label}${label >= levelFrom(name) ? " \u2713" : ""}`), " "]);
}

function moveChip(rank, other) {
  const by = other - rank;
  return make("span", { class: "chip" }, !other ? "only here" : !by ? "same rank"
    : `${by > 0 ? "\u25b2" : "\u25bc"}${Math.abs(by)} from ${other}`);
}

function sideBySide(id, state, data, texts) {
  const { a, b, labels } = state;
  const pair = [a, b].map((system) => data.rankings[system] ?? { n_retrieved: 0, passages: [] });
  const ranks = pair.map(({ passages }) => new Map(passages.map((passage, at) => [passage, at + 1])));
  const names = labelsOf(labels, data), { text: query } = board.settled.queries[queryNumber(id)];
  const toPassage = (passage) => link(data.passages[passage], "passage", [id, data.passages[passage]], along(state));
  const entry = (side, at) => {
    const passage = pair[side].passages[at];
    return passage === undefined ? make("div") : make("div", {},
      make("p", {}, make("b", {}, at + 1), " ", make("span", { class: "whose" }, `${state["ab"[side]]} `),
        toPassage(passage), " ", moveChip(at + 1, ranks[1 - side].get(passage)), " ",
        ...labelChips(names, data, passage)),
      make("p", { class: "clamp" }, ...marked(texts[data.passages[passage]], query)));
  };
  const rows = Array.from({ length: Math.max(...pair.map((one) => one.passages.length)) }, (_, at) => at);
  return [
    ...passagesThatDecide(state, data, ranks, toPassage),
    make("div", { class: "columns", id: "side-by-side" },
      ...pair.map(({ passages, n_retrieved: n }, side) => make("h2", {},
        link(state["ab"[side]], "query", [id], along(state, { system: state["ab"[side]] })),
        n > passages.length ? `: the first ${passages.length} of ${n}` : `: all ${n}`)),
      ...rows.flatMap((at) => [entry(0, at), entry(1, at)])),
    make("p", { class: "caption" }, "\u25b23 from 5: three ranks higher than in the other ranking, which has it at 5. Only here: not " +
      `among the entries shown of the other. \u2713: relevant.${labels && !ofAnswers(labels) ? ` Labels: ${names.join(", ")}.` : ""}`),
  ];
}

// What each passage adds to a discounted gain of the entries shown: of nDCG it is the difference but for the ideal
function passagesThatDecide({ a, b, labels, measure, level }, data, ranks, toPassage) {
  if (!labels) return [];
  const title = make("h2", {}, "Passages that decide"), { has_levels: levelled, of_rubric: ofRubric } = board.settled;
  if (ofAnswers(labels) || ofRubric.includes(measure)) {
    return [title, make("p", { class: "note" }, `${measure} does not add up over passages, so no single one decides.`)];
  }
  const label = (passage) => data.labels[labels]?.[passage] ?? 0;
  const gain = (passage) => (levelled.includes(measure) ? Number(label(passage) >= level) : Math.max(0, label(passage)));
  const last = Number(measure.match(/@(\d+)$/)?.[1] ?? Infinity);
  const adds = (passage, at) => (at <= last ? gain(passage) / Math.log2(at + 1) : 0);
  const rows = [...new Set(ranks.flatMap((of) => [...of.keys()]))].map((passage) =>
    ({ passage, difference: adds(passage, ranks[0].get(passage)) - adds(passage, ranks[1].get(passage)) }))
    .filter(({ difference }) => Math.abs(difference) >= 5e-5)
    .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || x.passage - y.passage);
  if (!rows.length) return [title, make("p", {}, "None: both rankings have the same gain at the same ranks.")];
  return [title,
    viewTable("Passages that decide", ["passage", labels, `rank in ${a}`, `rank in ${b}`, "adds to the difference"],
      rows.slice(0, DECIDING).map(({ passage, difference }) => [toPassage(passage), countCell(data.labels[labels]?.[passage]),
        ...ranks.map((of) => countCell(of.get(passage))), scoreCell(difference, "change")]), "stacked"),
    make("p", { class: "caption" }, `${rows.length > DECIDING ? `The first ${DECIDING} of ${rows.length}. ` : ""}A passage adds ` +
      `${levelled.includes(measure) ? `1 (labelled ${level} or more)` : "its label"} / log2(1 + rank)` +
      `${last < Infinity ? ` down to rank ${last}` : ""}; above 0 it speaks for ${a}.`)];
}
