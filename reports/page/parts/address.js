// What is shown, as the part of the address after #: "#/L7H8/map?color=weight&span=16".
// "#embed=L7H8/map" and "#embed=overview" show one view alone, for a frame in another page.

import { headName, parseHead } from "./format.js";

// Names in the address, and their values where the address does not mention them.
export const addressDefaults = {
  color: "", // measure that colours the overview: "strength", or "group/quantity:part"
  sort: "", // "column" or "-column" of the table, by its number
  filter: "",
  pairs: "", // which query-key pairs profiles count
  scale: "", // "log": of profiles
  span: "", // offsets that profiles show: "16", "64", "all"
  sources: "", // "-1", "0", "1": offset of the content whose sources are shown
  at: "", // region of the map: "first query:end,first key:end"
  offset: "", // stays marked
};

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Of an address: { embed, head, wrong: what stands in place of a head and is none, view, ... }
export function parseAddress(hash) {
  const embed = hash.startsWith("#embed=");
  const [path, query = ""] = hash.replace(/^#(embed=|\/)?/, "").split("?");
  const [first, second = ""] = path.split("/");
  const head = parseHead(first.toUpperCase());
  const view = head || !embed ? second : first;
  const isWrong = first !== "" && !head && !(embed && view === first);
  const wrong = isWrong ? decoded(first) : "";
  const state = { embed, head, wrong, view: /^[a-z_]+$/.test(view) ? view : "", ...addressDefaults };
  const asked = new URLSearchParams(query);
  for (const key of Object.keys(addressDefaults)) if (asked.has(key)) state[key] = asked.get(key);
  return state;
}

const readable = { "%2F": "/", "%3A": ":", "%2C": ",", "%3D": "=", "%20": "+" };

export function formatAddress(state) {
  const path = [state.head ? headName(state.head.layer, state.head.head) : "", state.view].filter(Boolean)
    .join("/");
  const asked = [];
  for (const [key, otherwise] of Object.entries(addressDefaults)) {
    if (state[key] === otherwise) continue;
    const text = encodeURIComponent(state[key]).replace(/%(2F|3A|2C|3D|20)/g, (code) => readable[code]);
    asked.push(`${key}=${text}`);
  }
  return `${state.embed ? "#embed=" : "#/"}${path}${asked.length ? `?${asked.join("&")}` : ""}`;
}

// "10:20,0:64" as { query: [10, 20], key: [0, 64] }; null if it names no region.
export function parseRegion(text) {
  const found = /^(\d+):(\d+),(\d+):(\d+)$/.exec(text);
  if (!found) return null;
  const [a, b, c, d] = found.slice(1).map(Number);
  return a < b && c < d ? { query: [a, b], key: [c, d] } : null;
}

export function regionText({ query, key }) {
  return `${query.join(":")},${key.join(":")}`;
}
