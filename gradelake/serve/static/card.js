// A review in a browser: one card at a time, by keys or buttons. Texts come in as text, never as
// HTML; no style or script is put into the page.
//
// reviewCards(root, store) draws into an element; the promise is kept when the first card is there.
// A store has, all but the texts asynchronous:
//   load()  -> {grader, title, what: "grade", scale: [every grade, ascending], names: [of each, or
//              none], hint: to them, blind, cards}
//   next()  -> what to do at the end, [{words, href}]
//   answer(id, {grade, note, seconds})  -> the card's state: what is new of it, below; `stays`: it
//              is to be looked at once more. Throws what it cannot keep. grade: null is "wrong".
//   undo(id)           -> the card's state once its answer is taken back, where that may be
// A card: {id, query_id, passage_id, item_id, query, item, passage, turned?, own} and, once it
// may be seen, {grade, answer, others: [{assessor, grade}]}; own: null or {grade, note}.
async function reviewCards(root, store) {
  const MANY = 21; // grades that have a button each
  const NOTE = 2000; // characters
  const review = await store.load();
  const { cards, scale, blind, what, names } = review;
  const [least, most] = [scale[0], scale.at(-1)];
  const digits = least >= 0 && most <= 9;
  const saved = "Every answer is saved at once: you may close this tab, and go on later.";
  // Who sees the two answers of a battle the other way round gives, and is shown, grades the other way round.
  const turn = (grade) => (grade === 0 || grade === 3 ? 3 - grade : grade);
  const turned = (said) => said && { ...said, ...("grade" in said ? { grade: turn(said.grade) } : {}) };
  const facing = (card, state) => (card.turned
    ? { ...turned(state), own: turned(state.own), ...(state.others && { others: state.others.map(turned) }) }
    : state);
  for (const card of cards.filter((each) => each.turned)) {
    Object.assign(card, facing(card, card), { passage: card.item, item: card.passage });
  }
  const path = cards.filter((each) => each.own);
  const notes = new Map(cards.map((each) => [each, each.own?.note ?? ""]));
  const spent = new Map(); // milliseconds on a card, before now
  let queue = cards.filter((each) => !each.own); // the first is on the screen
  let since = null; // when the card came on the screen; null while nobody can see it
  let busy = false;
  let keys = {};

  const make = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const status = make("p", { role: "status", class: "status" });
  const bar = make("progress", { max: cards.length, "aria-label": "Cards answered" });
  const count = make("p", { class: "count" });
  const place = make("section", { "aria-label": "Card" });
  const help = make("ul", { class: "help", hidden: "" });
  const panel = make("div", {}); // what is asked, and the buttons; at the foot of a phone
  root.classList.add("review");
  root.replaceChildren(
    make("h1", {}, review.title),
    make("div", { class: "progress" }, bar, count),
    place, make("div", { class: "panel" }, status, help, panel), make("p", { class: "saved" }, saved),
  );

  const tell = (text) => { status.textContent = text; };
  const clock = () => {
    if (since !== null) spent.set(queue[0], (spent.get(queue[0]) ?? 0) + performance.now() - since);
    since = null;
  };
  const isSeen = (card) => card.grade !== undefined;

  // One thing after the other: keys that are pressed while an answer is on its way do not count.
  async function wait(work) {
    if (busy) return false;
    busy = true;
    try {
      await work();
      return true;
    } catch (error) {
      tell(`Not saved: ${error.message}`);
      return false;
    } finally {
      busy = false;
    }
  }

  async function answer(grade) {
    const card = queue[0];
    clock();
    since = performance.now();
    const note = notes.get(card).trim() || null;
    const seconds = Math.round((spent.get(card) ?? 0) / 100) / 10;
    let state;
    const given = { grade: card.turned ? turn(grade) : grade, note, seconds };
    if (!await wait(async () => { state = await store.answer(card.id, given); })) return;
    spent.delete(card);
    Object.assign(card, facing(card, state));
    tell(grade === null ? "Saved." : `Saved: ${grade}.`);
    if (state.stays) draw();
    else leave();
  }

  // Stay with what was said; a note that was changed since is kept with it.
  function keep() {
    const { own } = queue[0];
    if ((notes.get(queue[0]).trim() || null) === own.note) leave();
    else answer(own.grade);
  }

  function leave(last = false) {
    clock();
    const [card] = queue.splice(0, 1);
    if (last) queue.push(card);
    path.push(card);
    draw();
  }

  function skip() {
    queue[0].own = null;
    tell(queue.length === 1 ? "This is the last card left." : "Skipped: it comes again at the end.");
    leave(true);
  }

  async function undo() {
    const card = path.at(-1);
    if (!card) return tell("There is no card before this one.");
    if (card.own && !await wait(async () => Object.assign(card, facing(card, await store.undo(card.id))))) return undefined;
    clock();
    path.pop();
    queue = [card, ...queue.filter((each) => each !== card)];
    tell("Back to the card before.");
    return draw();
  }

  function button(label, key, run, attributes = {}) {
    if (key) keys[key] = run;
    const made = make("button", { type: "button", "data-does": label, ...attributes }, label);
    if (key && !label.startsWith(key)) made.append(" ", make("kbd", { "aria-hidden": "true" }, key));
    if (key) made.setAttribute("aria-keyshortcuts", key);
    made.addEventListener("click", run);
    return made;
  }

  // Which keys there are just now.
  function showKeys() {
    help.hidden = !help.hidden;
    help.replaceChildren(...[...panel.querySelectorAll("[aria-keyshortcuts]")].map((each) => make("li", {},
      make("kbd", {}, each.getAttribute("aria-keyshortcuts")), " ", each.dataset.does)));
  }

  function grades(card) {
    const group = make("div", { role: "group", class: "grades", "aria-label": `Your ${what}` });
    if (scale.length > MANY) {
      const input = make("input", { type: "number", min: least, max: most, step: 1, "aria-label": `Your ${what}` });
      const read = () => {
        const grade = input.valueAsNumber;
        if (scale.includes(grade)) answer(grade);
        else tell(`Enter a whole number from ${least} to ${most}.`);
      };
      input.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.repeat) read(); });
      group.append(input, button(`Give this ${what}`, null, read));
      return group;
    }
    group.classList.toggle("named", names.length > 0);
    const said = isSeen(card) ? [...card.others ?? [], { assessor: review.grader, grade: card.grade }] : [];
    for (const grade of scale) {
      const pressed = { "aria-pressed": String(card.own?.grade === grade) };
      const label = [grade, names[grade - least]].join(" ").trim();
      const made = button(label, digits ? String(grade) : null, () => answer(grade), pressed);
      const by = said.filter((each) => each.grade === grade).map((each) => each.assessor).join(", ");
      if (by) made.prepend(make("span", { class: "by" }, by), " ");
      group.append(made);
    }
    return group;
  }

  // What is asked of a card: words, then buttons.
  function asked(card) {
    const range = `${least} to ${most}`;
    if (!blind) {
      return [`Which ${what} is right, ${range}?`, grades(card),
        button(`Only that ${card.grade} is wrong`, "x", () => answer(null))];
    }
    if (!card.own) return [`Your ${what}, ${range}:`, grades(card)];
    return [`Your ${what} is ${card.own.grade}. Keep it, or give another:`, grades(card),
      button("Keep it", "Enter", keep)];
  }

  function noted(card) {
    const text = make("textarea", { rows: 2, maxlength: NOTE, dir: "auto" });
    text.value = notes.get(card);
    const label = make("label", { class: "note" }, "Note, kept with your answer (Enter: done)", text);
    label.hidden = !text.value;
    text.addEventListener("input", () => notes.set(card, text.value));
    text.addEventListener("keydown", (event) => {
      if (event.isComposing || (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey))) return;
      event.preventDefault();
      label.hidden = !text.value;
      place.querySelector("h2").focus();
    });
    return [label, button("Note", "n", () => { label.hidden = false; text.focus(); })];
  }

  function draw() {
    keys = { q: () => tell(saved) };
    const card = queue[0];
    const n = cards.filter((each) => each.own).length;
    bar.value = n;
    count.textContent = `${n} of ${cards.length} answered`;
    const head = make("h2", { tabindex: -1 });
    if (!card) {
      head.textContent = cards.length ? "All cards are answered" : "There is no card to review";
      const after = make("p");
      place.replaceChildren(head, after);
      panel.replaceChildren(...(path.length ? [make("div", { class: "tools" }, button("Undo", "u", undo))] : []));
      head.focus();
      store.next().then((tasks) => after.replaceChildren(...(tasks.length
        ? tasks.map(({ words, href }) => make("a", { href, class: "button primary" }, words))
        : ["Nothing else is waiting for you."]))).catch((error) => tell(error.message));
      return;
    }
    head.textContent = `Card ${cards.indexOf(card) + 1} of ${cards.length}`;
    const facts = make("dl", {});
    const fact = (name, text, kind = "") => {
      if (text !== undefined && text !== null && text !== "") {
        facts.append(make("dt", {}, name), make("dd", { dir: "auto", class: kind }, String(text)));
      }
    };
    fact("Query", card.query);
    if (review.shows_topic) {
      fact("Meaning", card.description);
      fact("Narrative", card.narrative);
    }
    if (review.is_of_two) {
      place.classList.add("battle");
      fact(review.words.text, card.passage, "text");
      fact(review.words.item, card.item, "text");
    } else {
      fact(review.words.item, card.item, "item");
      fact(review.words.text, card.passage, "text");
    }
    fact("Scale", review.hint);
    if (isSeen(card)) {
      if (card.item) fact("Grade", `${card.grade}  (of ${least} to ${most}, by ${review.grader})`);
      else fact("Label", `${card.grade}  (by ${review.grader})`);
      fact("Answer", card.answer, "text");
      fact("Others", (card.others ?? []).map((other) => `${other.assessor}: ${other.grade}`).join(", "));
    }
    const [words, ...buttons] = asked(card);
    const [note, noteButton] = noted(card);
    const tools = make("div", { class: "tools" }, ...buttons.slice(1));
    if (!(blind && isSeen(card))) tools.append(button("Skip", "s", skip));
    tools.append(noteButton, button("Undo", "u", undo), button("Keys", "?", showKeys));
    help.hidden = true;
    const ids = make("p", { class: "ids" }, `${card.query_id}, passage ${card.passage_id}`);
    place.replaceChildren(head, ids, facts, note);
    panel.replaceChildren(make("p", { class: "ask" }, words), buttons[0], tools);
    clock();
    if (!document.hidden) since = performance.now();
    head.focus();
    scrollTo(0, 0);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clock();
    else if (queue.length) since = performance.now();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest("textarea, input, select")) return;
    if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
    const run = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
  draw();
}
