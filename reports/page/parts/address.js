// What is shown, as the part of the address behind #: "#/L7H8/map?color=measured_offset/weight&dim=special".

import { headName, parseHead } from "./format.js";

// Names in the address, and what each is where the address is silent.
export const addressDefaults = {
  color: "", // measure of the grid: "group/quantity:part"
  sort: "", // "column" or "-column", by its number
  filter: "",
  pairs: "", // which query-key pairs profiles count
  dim: "", // "special", "first", "special first": tokens that maps and lines let fade
  scale: "", // "log": of profiles
  span: "", // offsets that profiles show: "16", "64", "all"
  tiles: "", // "mean": what tiles of the map show
  at: "", // part of the map: "first query:end,first key:end"
  offset: "", // that is marked for good
};

export function parseAddress(hash) {
  const state = { head: null, view: "", ...addressDefaults };
  const text = hash.replace(/^#\/?/, "");
  const [path, query = ""] = text.split("?");
  const [name = "", view = ""] = path.split("/");
  state.head = parseHead(name);
  state.view = /^[a-z_]+$/.test(view) ? view : "";
  const asked = new URLSearchParams(query);
  for (const key of Object.keys(addressDefaults)) if (asked.has(key)) state[key] = asked.get(key);
  return state;
}

export function formatAddress(state) {
  const path = state.head ? `#/${headName(state.head.layer, state.head.head)}${state.view ? `/${state.view}` : ""}` : "#/";
  const asked = [];
  for (const [key, otherwise] of Object.entries(addressDefaults))
    if (state[key] !== otherwise) asked.push(`${key}=${encodeURIComponent(state[key]).replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%20", "+")}`);
  return asked.length ? `${path}?${asked.join("&")}` : path;
}

// "10:20,0:64" as { query: [10, 20], key: [0, 64] }; null where it says nothing that can be shown.
export function parseRegion(text) {
  const found = /^(\d+):(\d+),(\d+):(\d+)$/.exec(text);
  if (!found) return null;
  const [query, key] = [[Number(found[1]), Number(found[2])], [Number(found[3]), Number(found[4])]];
  return query[0] < query[1] && key[0] < key[1] ? { query, key } : null;
}

export function regionText(region) {
  return `${region.query[0]}:${region.query[1]},${region.key[0]}:${region.key[1]}`;
}
