// Correlations with their intervals, by measure; and coverage of the rubric as k grows.
async function startCorrelation(settled) {
  const choose = byId("correlation-measure");
  if (!choose) return;
  const all = await unpack("correlated");
  const measures = settled.measures.filter((name) => all.some((row) => row.measure === name));
  fill(choose, measures, measures[0]);
  const show = () => {
    const rows = all.filter((row) => row.measure === choose.value && row.kendall !== null);
    rows.sort((a, b) => b.kendall - a.kendall);
    for (const row of rows) row.shown = row.label_set + (row.is_incomplete ? " (incomplete)" : "");
    return draw("correlation-chart", "correlation", rows,
      `Kendall's tau-b by ${choose.value}: ` + rows.map((row) =>
        `${row.shown} ${figure(row.kendall, 3)}`).join(", "));
  };
  choose.addEventListener("change", show);
  await show();
}

async function startCoverage(settled) {
  const labels = byId("coverage-labels"), tau = byId("coverage-tau");
  if (!labels) return;
  const covered = settled.covered;
  if (!covered.length) return;
  fill(labels, covered, covered[0]);
  const levels = async () => {
    const chosen = labels.value;
    const data = await boardOf(chosen);
    if (labels.value !== chosen) return; // another choice came first
    fill(tau, Object.keys(data.boards), tau.value || settled.tau);
    await showCoverage(data, labels.value, tau.value);
  };
  labels.addEventListener("change", levels);
  tau.addEventListener("change", levels);
  await levels();
}

async function showCoverage(data, labels, tau) {
  const measures = data.measures.filter((measure) => measure.startsWith("Cover@"));
  const ks = measures.map((measure) => Number(measure.slice(6))).sort((a, b) => a - b);
  const last = `Cover@${ks[ks.length - 1]}`;
  const order = scores(data, tau, last).sort((a, b) => a.rank - b.rank);
  const cover = (system, k) =>
    data.boards[tau][`Cover@${k}`].score[data.systems.indexOf(system)];
  const rows = order.flatMap(({ system }) => ks.map((k) => ({ system, k, cover: cover(system, k) })));
  byId("coverage-says").textContent = order.length
    ? `By ${labels}: ${order[0].system} covers ${(100 * order[0].score).toFixed(0)} % of the ` +
      `rubric with its first ${ks[ks.length - 1]} passages, the most of ${order.length} systems.` + incomplete(labels)
    : "No system has a coverage.";
  const table = byId("coverage-table");
  table.replaceChildren(
    make("thead", {}, make("tr", {}, make("th", {}, "system"),
      ...ks.map((k) => make("th", {}, `Cover@${k}`)))),
    make("tbody", {}, ...order.map(({ system }) => make("tr", {},
      make("th", { scope: "row" }, system),
      ...ks.map((k) => make("td", { class: "n" }, figure(cover(system, k), 4)))))));
  sortable(table);
  await draw("coverage-chart", "coverage", rows, byId("coverage-says").textContent);
}
