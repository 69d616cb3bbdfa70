// Correlations with their intervals, by measure; and coverage of the rubric as k grows.
const CORRELATION = [["measure", "correlation-measure"]];

async function showCorrelation({ measure }) {
  const select = byId("correlation-measure");
  if (!select) return;
  const address = addressed();
  const all = await unpack("correlated");
  if (addressed() !== address) return; // another choice came first
  const known = board.settled.measures.filter((name) => all.some((row) => row.measure === name));
  fill(select, known, measure ?? known[0]);
  const rows = all.filter((row) => row.measure === select.value && row.kendall !== null);
  rows.sort((a, b) => b.kendall - a.kendall);
  for (const row of rows) {
    row.shown = row.label_set + (row.is_incomplete ? " (incomplete)" : "");
    Object.assign(row, { value: row.kendall, statistic: "Kendall's tau-b" });
  }
  await draw("correlation-chart", "correlation", rows,
    `Kendall's tau-b by ${select.value}: ` + rows.map((row) =>
      `${row.shown} ${figure(row.kendall, "tau")}`).join(", "), { name: "shown" });
}

const COVERAGE = [
  ["labels", "coverage-labels"], ["from", "coverage-tau"], ["system", "coverage-system"]];

async function chooseCoverage({ labels, from, system }) {
  const { covered, tau } = board.settled;
  const names = Object.keys(covered);
  if (!names.length || !byId("coverage-labels")) return;
  labels = pick(names, labels);
  const address = addressed();
  const data = await boardOf(labels);
  if (addressed() !== address) return; // another choice came first
  fill(byId("coverage-labels"), names, labels);
  fill(byId("coverage-tau"), Object.keys(data.boards), from in data.boards ? from : tau);
  await showCoverage(data, labels, byId("coverage-tau").value, system);
}

async function showCoverage(data, labels, tau, system) {
  const measures = data.measures.filter((measure) => measure.startsWith("Cover@"));
  const ks = measures.map((measure) => Number(measure.slice(6))).sort((a, b) => a - b);
  const last = `Cover@${ks[ks.length - 1]}`;
  const order = scores(data, tau, last);
  const cover = (system, k) =>
    data.boards[tau][`Cover@${k}`].score[data.systems.indexOf(system)];
  const rows = order.flatMap(({ system }) => ks.map((k) =>
    ({ system, measure: `Cover@${k}`, cover: cover(system, k) })));
  fill(byId("coverage-system"), order.map((row) => row.system), system);
  byId("coverage-says").textContent = board.settled.covered[labels][tau] + incomplete(labels);
  const table = byId("coverage-table");
  table.replaceChildren(
    make("thead", {}, make("tr", {}, make("th", {}, "system"),
      ...ks.map((k) => make("th", {}, `Cover@${k}`)))),
    make("tbody", {}, ...order.map(({ system }) => make("tr", {},
      make("th", { scope: "row" }, system),
      ...ks.map((k) => scoreCell(cover(system, k)))))));
  sortable(table);
  await draw("coverage-chart", "coverage", rows,
    `Coverage of the rubric: ${byId("coverage-says").textContent}`,
    { chosen: byId("coverage-system").value });
}
