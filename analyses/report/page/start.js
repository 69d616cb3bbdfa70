// Every section starts by itself: one that fails says so, and the others are there.
(async () => {
  const settled = await unpack("settled");
  const { kind, state } = here();
  for (const [id, start, show] of [
    ["board", startBoards, chooseBoard], ["correlation", startCorrelation, showCorrelation],
    ["grid", startGrid, chooseGrid], ["coverage", startCoverage, chooseCoverage],
    ["moved", () => {}, showMoved],
  ]) {
    try {
      start(settled);
      sections.set(id, show);
      await show(id === kind ? state : {});
    } catch (error) {
      console.error(error);
      byId(id).append(make("p", { class: "note" },
        `This section could not be drawn here (${error.message}). Is this an old browser?`));
    }
  }
  if (views.has(kind)) await follow();
  else if (sections.has(kind)) byId(kind).scrollIntoView();
  document.documentElement.dataset.ready = "yes";
})();
