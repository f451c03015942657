// The query-key pairs of a head with the largest weights over all documents, with the text around them.

import { element, words } from "./elements.js";
import { numberText, offsetText } from "./format.js";

// The tokens around some places of a document, in order and each once; null where tokens are missing.
// @param places  { at: position, tokens: texts of the tokens around it }
export function excerpt(places) {
  const found = new Map();
  for (const { at, tokens } of places) {
    const half = (tokens.length - 1) / 2;
    tokens.forEach((text, i) => text !== "" && found.set(at - half + i, text));
  }
  const parts = [];
  for (const position of [...found.keys()].sort((a, b) => a - b)) {
    if (parts.length && parts.at(-1).position !== position - 1) parts.push(null);
    parts.push({ position, text: found.get(position) });
  }
  return parts;
}

// The pairs of a head, largest weight first: { weight, document, query, key: { at: position, tokens } }.
export async function pairsOf({ arrays, at }) {
  const names = ["weight", "document", "query", "key", "query_token", "key_token"];
  const [weight, documents, query, key, queryTokens, keyTokens] =
    await arrays.slices("strongest_pairs", names, at);
  const around = queryTokens.axes[1].values.length;
  const place = (positions, tokens, i) =>
    ({ at: positions.values[i], tokens: tokens.values.slice(i * around, (i + 1) * around) });
  return [...weight.values]
    .map((one, i) => ({ weight: one, document: documents.values[i],
      query: place(query, queryTokens, i), key: place(key, keyTokens, i) }))
    .filter((pair) => Number.isFinite(pair.weight));
}

function excerptLine(places, { query, key }) {
  const isAt = ({ position }, place) => places.includes(place) && position === place.at;
  const written = (part) => {
    if (!part) return "\u2026";
    const marks = [isAt(part, query) && "at-query", isAt(part, key) && "at-key"].filter(Boolean);
    return marks.length ? element("strong", { class: marks.join(" ") }, part.text) : part.text;
  };
  return element("p", { class: "excerpt" }, ...excerpt(places).flatMap((part) => [written(part), " "]));
}

const weightText = (weight) => (weight < 0.01 ? numberText(weight, 2) : weight.toFixed(3));

function pairItem(pair, { page, store }) {
  const { query, key, weight, document } = pair;
  const apart = page.provenance.get("attention") === "cross";
  const text = ({ at, tokens }) => `${at} \u201c${tokens[(tokens.length - 1) / 2]}\u201d`;
  const offset = apart ? "" : `, offset ${offsetText(key.at - query.at)}`;
  const lines = apart ? [[query], [key]] : [[query, key]];
  const where = `query ${text(query)}, key ${text(key)}${offset}, document ${document}`;
  const item = element("li", {}, element("span", { class: "weight" }, weightText(weight)),
    element("div", {}, ...lines.map((places) => excerptLine(places, pair)),
      element("p", { class: "words" }, where)));
  if (!apart) {
    item.addEventListener("pointerenter", () => store.mark({ offset: key.at - query.at }));
    item.addEventListener("pointerleave", () => store.mark({}));
  }
  return item;
}

export const strongestView = {
  id: "strongest",
  title: "Strongest pairs of all documents",
  needs: ["strongest_pairs/query_token"],
  words: "The largest attention weights, with the text around the query (blue) and the key (underlined). "
    + "Pairs with a special token or the first token of a document are left out. Documents count from 0.",
  async show(context) {
    const pairs = await pairsOf(context);
    if (!pairs.length) return [words("No weight lies between other tokens.")];
    return [element("ol", { class: "pairs" }, ...pairs.map((pair) => pairItem(pair, context)))];
  },
};
