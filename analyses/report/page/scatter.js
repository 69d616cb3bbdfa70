// Each system's score by the reference and by the labels chosen for the leaderboard, or by the first
// judge's where these are the reference's own.
const SIDE = 460, NARROW = 70; // pixels: the picture's side at most, and what its axis takes
const LETTER = 6.3, LINE = 14; // pixels of a name, about
const EDGE = 0.05; // of the axes beyond the outermost points, as in the spec

async function showScatter() {
  if (!byId("scatter-chart")) return;
  const { reference } = board.settled;
  const { labels: wanted, measure, level: wantedLevel } = chosen(BOARD);
  let labels = wanted, level = wantedLevel, why = "";
  if (wanted === reference) { // its board against itself says nothing
    // the judge to be trusted most, or else whatever there is
    labels = byId("scatter-says").dataset.judge || board.settled.label_sets.find((name) => name !== reference);
    if (!labels) return noScatter(`There are no labels but ${reference}'s own.`);
    level = defaultLevel(labels);
    why = ` The labels chosen are ${reference}'s own: choose others to see theirs here.`;
  }
  byId("compare-labels").href = addressOf("labels", [], { a: reference, b: labels, measure });
  const [all, ours, theirs] = await Promise.all(
    [unpack("agreement"), boardOf(labels), boardOf(reference)]);
  if (byId("choose-labels").value !== wanted) return; // another choice came first
  if (byId("scatter").hidden) { // it has no width
    undrawn.add("scatter");
    return;
  }
  const agreed = all[labels]?.[level]?.[measure];
  const others = agreed ? scores(theirs, agreed.reference_level, measure) : [];
  const byName = new Map(others.map((row) => [row.system, row]));
  const points = scores(ours, level, measure).filter((row) => byName.has(row.system)).map((row) => ({
    system: row.system, reference: byName.get(row.system).score, labels: row.score,
    rank_x: byName.get(row.system).rank, rank_y: row.rank,
  })).sort((a, b) => a.rank_x - b.rank_x);
  if (!points.length) {
    return noScatter(`${reference} has no leaderboard by ${measure} to compare with.`);
  }
  for (const point of points) {
    point.far = agreed.far.includes(point.system);
    point.named = point.far ? "far" : "";
  }
  const { low, high } = agreed, says = agreed.says + why + incomplete(labels);
  byId("scatter-says").textContent = says;
  const from = (cut) => (board.settled.has_levels.includes(measure) ? `, from ${cut}` : "");
  const side = Math.min(SIDE, byId("scatter-chart").clientWidth - NARROW);
  const beyond = points.some((point) => isOutside(point, low, high)) ? " (hollow: beyond the edge)" : "";
  await draw("scatter-chart", "scatter", points, `Scatter of ${says}`, {
    x: `${measure} by ${reference}${from(agreed.reference_level)}${beyond}`,
    y: `${measure} by ${labels}${from(level)}${beyond}`,
    low, high, side, names: named(points, low, high, side),
    named: ["", "far"], shapes: ["circle", "triangle-up"],
  });
}

function isOutside({ reference, labels }, low, high) {
  return Math.min(reference, labels) < low || Math.max(reference, labels) > high;
}

function noScatter(words) {
  byId("scatter-says").textContent = words;
  byId("scatter-chart").replaceChildren();
  withoutTools(byId("scatter-chart"));
  drawn.delete("scatter-chart");
}

// Names beside their points, in pixels from the left and the top, each where no other name or point is;
// one without a place has none.
function named(points, low, high, side) {
  const edge = EDGE * (high - low || 1);
  const pixels = (value) => (side *
    (Math.min(Math.max(value, low - edge / 2), high + edge / 2) - low + edge)) / (high - low + 2 * edge);
  const at = ({ reference, labels }) => [pixels(reference), side - pixels(labels)];
  const taken = points.map(at).map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const crosses = (a) => a[0] < 0 || a[2] > side || a[1] < 0 || a[3] > side || taken.some((b) =>
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]);
  return points.filter((point) => point.far || isOutside(point, low, high)).flatMap((point) => {
    const [x, y] = at(point), width = LETTER * point.system.length;
    const places = [7, 18, 32].flatMap((by) => [[by, -7], [-by - width, -7], [-width / 2, -by - LINE],
      [-width / 2, by], [by, -by - 7], [-by - width, -by - 7], [by, by - 7], [-by - width, by - 7]]);
    const found = places.map(([dx, dy]) => [x + dx, y + dy, x + dx + width, y + dy + LINE])
      .find((box) => !crosses(box));
    if (!found) return [];
    taken.push(found);
    return [{
      system: point.system, x: found[0], y: found[1] + LINE / 2,
      from_x: x, from_y: y, // a line leads there from the nearest place of the name
      to_x: Math.min(Math.max(x, found[0]), found[2]), to_y: Math.min(Math.max(y, found[1]), found[3]),
    }];
  });
}
