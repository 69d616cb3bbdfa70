// Every section starts by itself: one that fails says so, and the others are there.
(async () => {
  const settled = await unpack("settled");
  const sections = [["leaderboard", startBoards], ["correlation", startCorrelation],
    ["grid", startGrid], ["coverage", startCoverage]];
  for (const [id, start] of sections) {
    try {
      await start(settled);
    } catch (error) {
      console.error(error);
      byId(id).append(make("p", { class: "note" },
        `This section could not be drawn here (${error.message}). Is this an old browser?`));
    }
  }
  document.documentElement.dataset.ready = "yes";
})();
