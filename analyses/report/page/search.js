// What the search of a file finds: what its packs hold. A server's asks the server.
const MOST_FOUND = 5; // of each kind

async function findHere(words) {
  const wanted = words.toLowerCase().split(/\s+/);
  const has = (...texts) => wanted.every((word) => texts.some((text) => text?.toLowerCase().includes(word)));
  const found = { system: [], query: [], item: [], passage: [] };
  const add = (kind, id, text, ids = [id]) => {
    if (found[kind].length < MOST_FOUND && has(id, text) && !found[kind].some((one) => one.id === id)) {
      found[kind].push({ kind, id, text, href: addressOf(kind, ids) });
    }
  };
  for (const system of board.settled.systems) add("system", system);
  for (const { query_id: id, text } of board.settled.queries) add("query", id, text);
  for (const { query_id: query } of board.settled.queries) {
    if ([found.item, found.passage].every((some) => some.length === MOST_FOUND)) break;
    const [{ passages, items }, texts] = await Promise.all([passagesOf(query), textsOf(query)]);
    for (const item of items) add("item", item.item_id, item.item_text, [query, item.item_id]);
    for (const passage of passages) add("passage", passage, texts[passage], [query, passage]);
  }
  return Object.values(found).flat();
}
