"use strict";

// Not a refresh of the page's own: browsers take one to an address with # for a jump within it. Who
// types into the search meanwhile, or follows a link, is not called back.
const again = setInterval(() => {
  if (!document.activeElement.closest(".find")) location.reload();
}, 1000);
addEventListener("beforeunload", () => clearInterval(again));
