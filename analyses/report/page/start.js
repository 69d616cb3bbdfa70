// The first board and what the address names are drawn at once, and the other sections when the
// browser has nothing else to do: long before anybody scrolls to them, searches or prints.
const undrawn = new Set(); // sections that are still to be drawn

// A section that fails says so, and the others are there.
async function drawSection(id, state = {}) {
  undrawn.delete(id);
  stands[id] = state;
  byId(id).querySelector(":scope > .failed")?.remove();
  try {
    await sections.get(id)?.(state);
  } catch (error) {
    console.error(error);
    byId(id).append(make("p", { class: "note failed" },
      `This section could not be drawn (${error.message}). Your browser may be too old.`));
  }
  showTables(byId(id), stands[id]);
}

async function drawRest() {
  for (const id of [...undrawn]) {
    if (byId(id).hidden) continue; // a picture that is hidden has no width
    await new Promise((free) => (window.requestIdleCallback ?? setTimeout)(free, { timeout: 500 }));
    if (undrawn.has(id) && !byId(id).hidden) await drawSection(id);
  }
}

(async () => {
  showParts(here().kind);
  unpack("vega"); // while the rest is read
  const [settled] = await Promise.all([unpack("settled"), unpack("pictures")]); // their heights, too
  startPaths();
  const { kind, ids, state } = here();
  // a server's page opens with its head, where the way back is
  const below = isSection(kind) && !(AT && kind === "board");
  startBoards(settled);
  startGrid();
  startControls("correlation", CORRELATION);
  startControls("coverage", COVERAGE);
  for (const [id, show] of [
    ["board", chooseBoard], ["scatter", showScatter], ["correlation", showCorrelation],
    ["grid", chooseGrid], ["queries", showQueries], ["coverage", chooseCoverage], ["moved", showMoved],
  ]) {
    if (!byId(id)) continue; // it would be empty, and was left out
    sections.set(id, show);
    undrawn.add(id);
  }
  const { dataset } = document.documentElement;
  startTables(document.querySelector("main"));
  if (views.has(kind)) {
    await follow();
  } else {
    asked = addressed();
    const id = sectionOf(kind);
    showTab({ kind, ids });
    await drawSection("board", id === "board" ? state : {});
    if (id !== "board" && isSection(id)) await drawSection(id, state);
    if (below) scrollToKind(kind);
    history.replaceState({ ...stands }, "");
    dataset.ready = "first";
    const top = scrollY;
    await drawRest();
    // a browser that does not hold its place while sections above it grow
    if (below && scrollY === top) scrollToKind(kind);
  }
  dataset.ready = "yes";
})();

// A page prints as it stands, so all tabs are shown, and drawn, first.
byId("print-all").addEventListener("click", async () => {
  showParts("overview", true);
  byId("here").textContent = board.settled.collection;
  await drawRest();
  print();
});

// On paper nothing opens: what is closed is printed too.
const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("main details:not([open], .tools *)"));
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of closed.splice(0)) details.open = false;
  if (document.documentElement.dataset.tab === "all") showTab(here());
});
