"use strict";

const form = document.getElementById("rubric");
let changed = document.querySelector("#messages, #preview") !== null; // it holds what nobody saved yet
form.addEventListener("input", () => { changed = true; });
form.addEventListener("submit", () => { changed = false; });
addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });

// another empty item, as often as one likes
for (const group of form.querySelectorAll(".new")) {
  const more = document.createElement("button");
  more.type = "button";
  more.textContent = "One more item";
  more.addEventListener("click", () => {
    const last = group.querySelector("fieldset:last-of-type");
    const next = last.cloneNode(true);
    const n = group.querySelectorAll("fieldset").length;
    next.querySelector("legend").textContent = `New item ${n + 1}`;
    next.querySelector(".note")?.remove();
    for (const field of next.querySelectorAll("[name]")) {
      field.name = field.name.replace(/^(\d+\.new)\.\d+/, `$1.${n}`);
      if (field.name.endsWith(".text") || field.name.endsWith(".answers")) field.value = "";
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
    last.after(next);
    next.querySelector("textarea").focus();
  });
  group.after(more);
}

document.querySelector("#messages, #preview")?.focus();
