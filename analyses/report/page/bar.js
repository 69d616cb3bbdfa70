// The bar of every page, the report's file included: `/` focuses its search, whose answers are links; a
// server's bar learns who is signed in, and how many cards wait for them.
(() => {
  const bar = document.querySelector(".bar"), input = bar.querySelector("#find");
  const found = bar.querySelector("#found");
  const { at, collection } = bar.dataset;
  const PATIENCE = 150; // milliseconds after a letter

  async function asked(what, values) {
    const release = new URLSearchParams(location.search).get("release");
    const answer = await fetch(`/${what}.json?${new URLSearchParams(
      { collection, ...values, ...(release && { release }) })}`);
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer.json();
  }

  const links = () => [...found.querySelectorAll("a")];
  const close = () => { found.hidden = true; };
  let goes = false; // Enter was pressed before the answer came

  function tell(rows, words) {
    found.replaceChildren(
      make("p", { role: "status" }, words),
      make("ul", {}, ...rows.map((row) => make("li", {}, make("a", { href: row.href },
        make("span", { class: "chip" }, row.kind), " ",
        make("span", { class: "id" }, row.id), " ", row.text ?? "")))));
    found.hidden = false;
    if (goes) links()[0]?.click();
  }

  let turn = 0; // of a letter: what was asked before is no longer wanted
  async function look() {
    const mine = ++turn, words = input.value.trim();
    found.replaceChildren();
    close();
    goes = false;
    if (!words) return;
    await new Promise((free) => setTimeout(free, PATIENCE));
    if (mine !== turn) return;
    try {
      const rows = await (at === undefined ? findHere(words) : asked("search", { words }));
      if (mine === turn) tell(rows, rows.length ? "" : `No results for \u201c${words}\u201d.`);
    } catch (error) {
      if (mine === turn) tell([], error.message);
    }
  }

  if (input) {
    input.hidden = false;
    input.addEventListener("input", look);
    found.addEventListener("click", () => {
      close();
      document.activeElement.blur(); // what was found takes the focus
    });
    bar.querySelector(".find").addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !relatedTarget.closest(".find")) close();
    });
    bar.querySelector(".find").addEventListener("keydown", (event) => {
      const all = links(), place = all.indexOf(document.activeElement);
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && all.length && place < 0) all[0].click();
      else if (event.key === "Enter" && place < 0) goes = true;
      else if (event.key === "ArrowDown") (all[place + 1] ?? all[place])?.focus();
      else if (event.key === "ArrowUp") (all[place - 1] ?? input).focus();
      else return;
      if (event.key !== "Enter" || place < 0) event.preventDefault();
    });
    addEventListener("click", (event) => { if (!event.target.closest(".find")) close(); });
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, textarea, select, [contenteditable]")) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  async function whoAsks() {
    const { name, may_review: mayReview, adds_people: addsPeople, waiting, token } = await asked("bar", {});
    const review = bar.querySelector("[data-tab=review]"), who = bar.querySelector(".who");
    if (!mayReview) review?.remove();
    else if (waiting && review) review.querySelector(".waiting").textContent = ` (${waiting})`;
    if (who.childNodes.length) return;
    if (addsPeople) who.append(make("a", { href: "/people" }, "People"), " ");
    who.append(make("span", {}, name));
    if (token) {
      who.append(" ", make("form", { method: "post", action: "/leave" },
        make("input", { type: "hidden", name: "token", value: token }), make("button", {}, "Sign out")));
    }
  }
  bar.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (at) whoAsks().catch(() => {}); // signed out meanwhile: the next page says so
})();

// Loads the page again, but not under a reader who types into the search or has followed a link.
let leaves = false;
addEventListener("beforeunload", () => { leaves = true; });
function reload() {
  if (!leaves && !document.activeElement.closest(".find")) location.reload();
}

// An element with text and children. Texts of people and passages are never read as HTML.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

// Below 640 px the rows of a table of class `stacked` stand below each other: each cell says its column.
function labelCells(table) {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => { cell.dataset.head = heads[column]; });
  }
}
for (const table of document.querySelectorAll("table.stacked")) labelCells(table);
