"use strict";

// The secret stands behind #, which browsers send to no server. It leaves the address at once.
function enter() {
  const secret = location.hash.slice(1);
  if (!secret) return;
  const form = document.getElementById("enter");
  history.replaceState(null, "", location.pathname);
  form.elements.secret.value = secret;
  if (form.dataset.signedIn === "no") form.submit();
}

enter();
addEventListener("hashchange", enter);
