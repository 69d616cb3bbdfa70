"use strict";

// The secret stands behind #, which browsers send to no server. It leaves the address at once.
const secret = location.hash.slice(1);
const form = document.getElementById("enter");
if (secret) {
  history.replaceState(null, "", location.pathname);
  form.elements.secret.value = secret;
  if (form.dataset.signedIn === "no") form.submit();
}
