"use strict";

// Data lies in the page zipped, and is unpacked when it is first looked at.
const unpacked = new Map();
const kinds = JSON.parse(document.getElementById("kinds").textContent); // of figures, by their names

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

// A figure as its kind looks; what would be 0 and is not has as many digits as it takes
function figure(value, kind) {
  if (value === null || value === undefined) return "\u2013";
  const { digits, tells, is_signed: isSigned, percent } = kinds[kind];
  const shown = percent ? 100 * value : value, size = Math.abs(shown);
  const isHidden = tells && size > 0 && size < 0.5 * 10 ** -digits;
  const text = size.toFixed(isHidden ? Math.ceil(-Math.log10(size)) : digits);
  const sign = Number(text) === 0 ? "" : shown < 0 ? "-" : isSigned ? "+" : "";
  return `${sign}${text}${percent ? "%" : ""}`;
}
