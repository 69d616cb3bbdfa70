"use strict";

// The store of card.js: answers go to the server, which has them on its disk
// before it says so.
const token = document.querySelector("meta[name=token]").content;

async function send(what, sent) {
  const response = await fetch(what, {
    method: sent ? "POST" : "GET",
    headers: sent ? { "content-type": "application/json", "x-token": token } : {},
    body: sent && JSON.stringify(sent),
  }).catch(() => { throw new Error("the server cannot be reached; try again in a moment"); });
  const answer = await response.json().catch(() => ({ error: `the server said ${response.status}` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

reviewCards(document.getElementById("review"), {
  load: () => send("cards"),
  answer: (id, answer) => send("answers", { id, ...answer }),
  undo: (id) => send("undo", { id }),
  next: () => send("next"),
}).catch((error) => { document.getElementById("review").textContent = error.message; });
