"use strict";

// Not a refresh of the page's own: browsers take one to an address with # for a jump within it.
setTimeout(() => location.reload(), 1000);
