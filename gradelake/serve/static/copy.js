"use strict";

// Copies a field. Without HTTPS browsers offer no clipboard: the text is selected, for Ctrl+C.
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    } catch {
      button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
    }
  });
}
