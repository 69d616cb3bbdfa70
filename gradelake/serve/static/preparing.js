"use strict";

// Not a refresh of the page's own: browsers take one to an address with # for a jump within it.
setInterval(() => reload(), 1000);
