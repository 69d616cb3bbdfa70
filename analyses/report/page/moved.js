// What was graded day by day, and what it cost: the rest of "What moved" is HTML.
PICTURES.days = {
  height: 160,
  mark: { type: "bar" },
  encoding: {
    x: { field: "day", type: "ordinal", title: null, axis: { labelOverlap: true, labelAngle: 0 } },
    y: number("n", { title: null }),
    color: nominal("what", { sort: null, title: null, scale: { range: "category" } }),
    tooltip: [nominal("day"), nominal("what"), number("n", { format: "," })],
  },
};

async function showMoved() {
  const days = await unpack("days");
  for (const [id, what, columns] of [
    ["days-pairs", "Pairs graded each day", ["graded", "failed"]],
    ["days-tokens", "Tokens each day", ["prompt_tokens", "completion_tokens"]],
  ]) {
    const rows = days.flatMap((day) => columns.map((column) => (
      { day: day.day, what: column.replace("_", " "), n: day[column] ?? 0 })));
    await draw(id, "days", rows,
      `${what}: ${rows.map((row) => `${row.day} ${row.n} ${row.what}`).join(", ")}`);
  }
}
