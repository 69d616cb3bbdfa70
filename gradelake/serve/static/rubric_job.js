"use strict";

// Shows how far the work is, and loads the page again when it has ended.
const job = document.getElementById("job");
const bar = job.querySelector("progress");
const shown = document.getElementById("progress");

async function look() {
  try {
    const answer = await fetch(job.dataset.state);
    if (answer.ok) {
      const state = await answer.json();
      if (state.ended) reload();
      if (state.progress) shown.textContent = state.progress;
      if (state.total) {
        bar.max = state.total;
        bar.value = state.done;
      }
    } else if (answer.status < 500) {
      reload(); // signed out, or the server began anew: its page says so
    }
  } catch {
    shown.textContent = "The server does not answer; trying again.";
  }
  setTimeout(look, 700);
}
look();
