"use strict";

// Data lies in the page zipped, and is unpacked when it is first looked at.
const unpacked = new Map();

function unpack(id) {
  if (!unpacked.has(id)) unpacked.set(id, read(id));
  return unpacked.get(id);
}

async function read(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function byId(id) {
  return document.getElementById(id);
}

function fill(select, values, chosen, named = (value) => value) {
  select.replaceChildren(...values.map((value) => make("option", { value }, named(value))));
  if (values.map(String).includes(String(chosen))) select.value = chosen;
}

function figure(value, digits) {
  return value === null || value === undefined ? "\u2013" : value.toFixed(digits);
}
