// The state of the page as the part of the address after #: "#/L7H8/map?color=weight&span=16".

import { headName, parseHead } from "./format.js";

// Names in the address, and their values if the address does not mention them.
export const addressDefaults = {
  color: "", // measure that colours the overview: "strength", or "group/quantity:part"
  sort: "", // "column" or "-column" of the table, by its number
  filter: "",
  pairs: "", // which query-key pairs count in profiles
  span: "", // offsets that profiles show: "16", "64", "all"
  sources: "", // "-1", "0", "1": offset of the content whose sources are shown
  at: "", // "document": the map of the whole document, not of the window
};

// Reads an address into { head, view, ... }.
export function parseAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [first, view = ""] = path.split("/");
  const head = parseHead(first.toUpperCase());
  const state = { head, view: /^[a-z_]+$/.test(view) ? view : "", ...addressDefaults };
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
  return `#/${path}${asked.length ? `?${asked.join("&")}` : ""}`;
}
