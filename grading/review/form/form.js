// The form's own store: answers are kept in the browser, each under a key of its own so that two
// tabs do not overwrite each other, and given back as a JSON file.
(async () => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const about = read("about");
  const cards = read("cards");
  const texts = read("passages");
  const prefix = `gradelake-review/${about.form}/`;
  const memory = new Map(); // where storage is refused
  let keeps = true;
  let inFile = 0; // answers that were saved to a file

  const warn = (text) => {
    document.getElementById("warning").textContent = text;
    document.getElementById("warning").hidden = false;
  };
  const refused = (error) => {
    keeps = false;
    warn(`This browser keeps nothing for this page (${error.name}). Your answers are gone when this `
      + "tab is closed: save them to a file before, with the button below, or open the form in another browser.");
  };
  const get = (key) => {
    let kept = memory.get(key) ?? null;
    try {
      kept ??= localStorage.getItem(prefix + key);
    } catch (error) {
      if (keeps) refused(error);
    }
    try {
      return JSON.parse(kept);
    } catch {
      return null; // somebody else's
    }
  };
  const put = (key, value) => {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(prefix + key, text);
      memory.delete(key);
    } catch (error) {
      memory.set(key, text);
      if (keeps) refused(error);
    }
  };
  const drop = (key) => {
    memory.delete(key);
    try {
      localStorage.removeItem(prefix + key);
    } catch { /* nothing is kept there */ }
  };
  const isAnswer = (kept) => Number.isInteger(kept?.grade) && Number.isFinite(kept.at);
  const answerTo = ({ id }) => { const kept = get(id); return isAnswer(kept) ? kept : null; };
  const answered = () => cards.filter((card) => answerTo(card)).length;

  const store = {
    async load() {
      put("opened", Date.now());
      const dealt = cards.map((card) => ({
        ...card,
        kind: about.kind,
        description: card.description,
        narrative: card.narrative,
        passage: texts[card.passage],
        own: answerTo(card),
        draft: get(`note/${card.id}`),
      }));
      return {
        ...about,
        blind: true,
        cards: dealt,
        saved: keeps ? "Every answer is kept in this browser at once: you may close this tab, and open "
          + "the file again to go on." : "This browser keeps nothing: save your answers before you close this tab.",
        after: "Save your answers with the button below, and give the file to who sent you this form.",
      };
    },
    async answer(id, { grade, note, seconds }) {
      const before = answerTo({ id })?.seconds ?? 0;
      put(id, { grade, note, seconds: Math.round((before + seconds) * 10) / 10, at: Date.now() });
      drop(`note/${id}`);
      return { own: answerTo({ id }) }; // the form does not know what the grader gave
    },
    async undo(id) { return { own: answerTo({ id }) }; }, // it may be changed then
    async skip(id) { drop(id); },
    draft(id, note) { put(`note/${id}`, note); },
  };

  document.getElementById("save").addEventListener("click", () => {
    const answers = cards.flatMap((card) => {
      const own = answerTo(card);
      const { query_id, passage_id, item_id, passage_sha256, query_sha256 } = card;
      return own ? [{
        query_id, passage_id, item_id, passage_sha256, query_sha256,
        grade: own.grade, note: own.note, seconds: own.seconds,
        answered_at: new Date(own.at).toISOString(),
      }] : [];
    });
    const saved = document.getElementById("saved");
    if (!answers.length) {
      saved.textContent = "There is no answer to save yet.";
      return;
    }
    const { format, form, deck, collection, grader, grader_id, assessor } = about;
    const content = { format, form, deck, collection, grader, grader_id, assessor, answers };
    const file = new Blob([`${JSON.stringify(content, null, 1)}\n`], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `${collection}-${grader}-${assessor}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    inFile = answers.length;
    saved.textContent = `${answers.length} of ${cards.length} answers are in ${link.download}, in your downloads.`;
  });
  addEventListener("beforeunload", (event) => {
    if (!keeps && answered() !== inFile) event.preventDefault();
  });
  await reviewCards(document.getElementById("review"), store);
  document.documentElement.dataset.ready = "yes";
})();
