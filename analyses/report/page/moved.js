// What was graded day by day, and what it cost: the rest of "What moved" is HTML.
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
