"use strict";

const form = document.getElementById("rubric");
const shown = document.getElementById("changes"); // none where the form is only read
let changes = 0, sends = false;

// whether a field is not as the newest version has it; the server says of which it had changed already
const isChanged = ({ type, checked, defaultChecked, value, defaultValue, dataset: { was } }) =>
  type === "checkbox" ? checked !== (defaultChecked === (was === undefined)) : value !== (was ?? defaultValue);

function count() {
  changes = 0;
  for (const item of form.querySelectorAll(".lines > li")) {
    changes += item.classList.toggle("changed",
      [...item.querySelectorAll("textarea, input:not([type=hidden])")].some(isChanged));
  }
  for (const item of form.querySelectorAll(".new fieldset")) {
    changes += [...item.querySelectorAll("textarea")].some((field) => field.value.trim());
  }
  shown.textContent = changes ? `${changes} change${changes > 1 ? "s" : ""}` : "No changes";
}

if (shown) {
  form.addEventListener("input", count);
  addEventListener("pageshow", () => { sends = false; count(); });
  form.addEventListener("submit", () => { sends = true; });
  addEventListener("beforeunload", (event) => { if (changes && !sends) event.preventDefault(); });
}

document.querySelector("#messages, #preview")?.focus();
