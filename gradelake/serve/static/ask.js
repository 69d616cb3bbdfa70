"use strict";

// The book shows what has every word while one types, as its form does. Ctrl+Enter runs a statement.
const words = document.querySelector(".book-filter input");
words?.addEventListener("input", () => {
  const wanted = words.value.toLowerCase().split(/\s+/);
  for (const group of document.querySelectorAll(".book section")) {
    const questions = [...group.querySelectorAll("li")];
    for (const one of questions) {
      const text = one.textContent.toLowerCase();
      one.hidden = !wanted.every((word) => text.includes(word));
    }
    group.hidden = questions.every((one) => one.hidden);
  }
});

document.querySelector("textarea[name=sql]")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});
