// Leaderboard and scatter: one choice of labels, measure and level for both.
const board = { settled: null, index: new Map() };
const BOARD = [["labels", "choose-labels"], ["measure", "choose-measure"], ["level", "choose-level"]];

async function boardOf(labels) {
  return unpack(`board-${board.index.get(labels)}`);
}

function scores(data, level, measure) {
  const at = data.boards[level]?.[measure];
  if (!at) return [];
  return data.systems
    .map((system, i) => ({
      system, score: at.score[i], stderr: at.stderr[i], rank: at.rank[i], before: at.before[i],
      low: at.score[i] - 1.96 * at.stderr[i], high: at.score[i] + 1.96 * at.stderr[i],
    }))
    .filter((row) => row.score !== null);
}

// The level of a board is its labels' highest where that is below the collection's.
function defaultLevel(labels) {
  const { min_relevant: level, highest } = board.settled;
  return Math.max(1, Math.min(level, highest[labels] ?? level));
}

function startBoards(settled) {
  board.settled = settled;
  settled.label_sets.forEach((name, number) => board.index.set(name, number));
  for (const [name, id] of BOARD) {
    byId(id)?.addEventListener("change", () => {
      const state = chosen(BOARD);
      if (name === "labels") delete state.level; // each label set has its usual level
      choose("board", [], state);
    });
  }
}

async function chooseBoard({ labels, measure, level }) {
  if (!byId("choose-labels")) return;
  const { label_sets: names, reference } = board.settled;
  labels = names.includes(labels) ? labels : names.includes(reference) ? reference : names[0];
  const data = await boardOf(labels);
  fill(byId("choose-labels"), names, labels);
  fill(byId("choose-measure"), data.measures, measure ?? "nDCG@10");
  fill(byId("choose-level"), Object.keys(data.boards), defaultLevel(labels));
  if (level in data.boards) byId("choose-level").value = level;
  await showBoards();
}

async function showBoards() {
  const labels = byId("choose-labels").value;
  const measure = byId("choose-measure").value;
  const level = byId("choose-level").value;
  const data = await boardOf(labels);
  if (byId("choose-labels").value !== labels) return; // another choice came first
  const rows = scores(data, level, measure).sort(
    (a, b) => a.rank - b.rank || a.system.localeCompare(b.system));
  const best = rows.filter((row) => row.rank === 1).map((row) => row.system);
  byId("leaderboard-says").textContent =
    `${rows.length} systems by ${measure} of the labels ${labels}, mean over ` +
    `${data.queries[measure]} queries. Best: ${best.slice(0, 3).join(", ")}.` + incomplete(labels);
  byId("compare-systems").href = addressOf("compare", [], {
    a: rows[0]?.system, b: rows[1]?.system, labels, measure, level,
  });
  leaderboardTable(data, level, measure, rows);
  await draw("leaderboard-chart", "leaderboard", rows,
    `Leaderboard by ${measure}: ` +
    rows.map((row) => `${row.system} ${figure(row.score, 4)}`).join(", "));
  await showScatter(labels, measure, level, rows);
}

function incomplete(labels) {
  const says = board.settled.incomplete[labels];
  return says ? ` ${labels} is ${says}.` : "";
}

function moved(row, known) {
  if (!board.settled.compared_with) return [null, ""];
  if (!known) return [null, "\u2013"]; // the earlier release had no such board
  if (row.before === null) return [null, "new"];
  const by = row.before - row.rank;
  return [by, by > 0 ? `\u25b2${by}` : by < 0 ? `\u25bc${-by}` : "="];
}

function leaderboardTable(data, level, measure, rows) {
  const table = byId("leaderboard-table");
  const { compared_with: before, official } = board.settled;
  const measures = [measure, ...data.measures.filter((other) => other !== measure)];
  const heads = ["rank", "system", ...(before ? [`since ${before}`] : []),
    ...Object.keys(official).map((name) => `${name} rank`), ...measures];
  const known = rows.some((row) => row.before !== null);
  const ofRubric = board.settled.of_rubric.includes(measure);
  const column = new Map(data.systems.map((system, i) => [system, i]));
  const lines = rows.map((row) => {
    const [by, words] = moved(row, known);
    return make("tr", {},
      make("td", { class: "n" }, row.rank),
      make("th", { scope: "row" }, link(row.system, "system", [row.system], chosen(BOARD))),
      ...(before ? [make("td", {
        class: `n ${by > 0 ? "up" : by < 0 ? "down" : ""}`, "data-value": by ?? "",
      }, words)] : []),
      ...Object.values(official).map((ranks) =>
        make("td", { class: "n" }, ranks[row.system] ?? "\u2013")),
      ...measures.map((name) => make("td", { class: "n" },
        figure(data.boards[level][name]?.score[column.get(row.system)], 4))));
  });
  table.replaceChildren(
    make("caption", { class: "caption" }, ofRubric
      ? `A grade of ${level} or more answers a rubric item.`
      : `Passages labelled ${level} or more are relevant.`),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, head)))),
    make("tbody", {}, ...lines));
  sortable(table);
  table.tHead.rows[0].cells[0].setAttribute("aria-sort", "ascending");
}

async function showScatter(chosen, measure, level, rows) {
  const { reference } = board.settled;
  if (!byId("scatter-chart")) return;
  let labels = chosen, why = "";
  if (chosen === reference) { // its board against itself says nothing: the next labels are shown
    labels = board.settled.label_sets.find((name) => name !== reference);
    if (!labels) return noScatter(`There are no labels but ${reference}'s own.`);
    level = defaultLevel(labels);
    rows = scores(await boardOf(labels), level, measure);
    if (byId("choose-labels").value !== chosen) return; // another choice came first
    why = ` The leaderboard above is ${reference}'s own: choose other labels there to see theirs.`;
  }
  byId("compare-labels").href = addressOf("labels", [], { a: reference, b: labels, measure });
  const agreed = (await unpack("agreement"))[labels]?.[level]?.[measure];
  const theirs = await boardOf(reference);
  const others = agreed ? scores(theirs, agreed.reference_level, measure) : [];
  const byName = new Map(others.map((row) => [row.system, row]));
  const both = rows.filter((row) => byName.has(row.system));
  if (!agreed || !both.length) {
    return noScatter(`${reference} has no leaderboard by ${measure} to compare with.`);
  }
  const points = both.map((row) => ({
    system: row.system, x: byName.get(row.system).score, y: row.score,
    rank_x: byName.get(row.system).rank, rank_y: row.rank,
  }));
  const far = Math.max(1, 0.1 * points.length);
  for (const point of points) point.far = Math.abs(point.rank_x - point.rank_y) > far;
  const tau = agreed.kendall === null ? "undefined" : figure(agreed.kendall, 3);
  const says = `${points.length} systems by ${measure}: Kendall's tau-b ${tau}, ` +
    `Spearman's rho ${figure(agreed.spearman, 3)} between ${labels} and ${reference}.` +
    farAway(points) + why + incomplete(labels);
  byId("scatter-says").textContent = says;
  await draw("scatter-chart", "scatter", points, `Scatter of ${says}`);
}

function farAway(points) {
  const far = points.filter((point) => point.far).map(
    (point) => `${point.system} (${point.rank_x} \u2192 ${point.rank_y})`);
  return far.length ? ` Far from their place: ${far.join(", ")}.` : "";
}

function noScatter(words) {
  byId("scatter-says").textContent = words;
  byId("scatter-chart").replaceChildren();
  drawn.delete("scatter-chart");
}
