// The attention map of a head: exact weights of a window, tiles of all of the document.

import { lossText } from "./arrays.js";

// @returns null where the page has no map of the head
export async function mapOf({ arrays, name, page }) {
  const weight = await arrays.slice("attention_map/weight", { map_head: name });
  if (!weight) return null;
  const { tokens } = page.result;
  const [query, key] = weight.axes;
  const first = { query: query.values[0], key: key.values[0] };
  const window = { query: [first.query, first.query + query.values.length], key: [first.key, first.key + key.values.length] };
  const largest = await arrays.slice("attention_map/largest", { map_head: name });
  const mean = await arrays.slice("attention_map/mean", { map_head: name });
  // By position in the document: all of it where the result has that, else what the window has.
  const known = (all, some, from) => tokens[all] ?? Object.assign([], Object.fromEntries((tokens[some] ?? []).map((one, i) => [from + i, one])));
  const queryTokens = known("document_token", "token", first.query);
  const keyTokens = known("document_key_token", "key_token", first.key);
  const tile = largest && { query: tileOf(largest.axes[0].values), key: tileOf(largest.axes[1].values), largest: largest.values, mean: mean?.values, rows: largest.axes[0].values.length, columns: largest.axes[1].values.length };
  const loss = largest ? lossText(arrays.said["attention_map/largest"]) : "";
  return {
    window,
    whole: { query: [0, largest ? queryTokens.length : window.query[1]], key: [0, largest ? keyTokens.length : window.key[1]] },
    weights: weight.values,
    columns: key.values.length,
    tile,
    loss,
    document: arrays.said["attention_map/weight"].notes.document ?? "",
    queryTokens,
    keyTokens,
    querySpecial: known("document_special", "special", first.query),
    keySpecial: known("document_key_special", "key_special", first.key),
  };
}

function tileOf(first) {
  return first.length > 1 ? first[1] - first[0] : Infinity;
}

export function isInside(inner, outer) {
  return ["query", "key"].every((side) => inner[side][0] >= outer[side][0] && inner[side][1] <= outer[side][1]);
}

// The cells of a region: exact where the window holds all of it, else tiles. Rows and columns count cells; each is some tokens.
export function cellsOf(map, region, tiles) {
  if (isInside(region, map.window) || !map.tile) {
    const q0 = Math.max(region.query[0], map.window.query[0]);
    const k0 = Math.max(region.key[0], map.window.key[0]);
    const rows = Math.min(region.query[1], map.window.query[1]) - q0;
    const columns = Math.min(region.key[1], map.window.key[1]) - k0;
    const at = (row, column) => map.weights[(q0 - map.window.query[0] + row) * map.columns + k0 - map.window.key[0] + column];
    return { exact: true, rows, columns, step: { query: 1, key: 1 }, first: { query: q0, key: k0 }, at };
  }
  const { query, key } = map.tile;
  const step = { query: Math.min(query, map.whole.query[1]), key: Math.min(key, map.whole.key[1]) };
  const first = { row: Math.floor(region.query[0] / step.query), column: Math.floor(region.key[0] / step.key) };
  const rows = Math.min(Math.ceil(region.query[1] / step.query), map.tile.rows) - first.row;
  const columns = Math.min(Math.ceil(region.key[1] / step.key), map.tile.columns) - first.column;
  const numbers = tiles === "mean" && map.tile.mean ? map.tile.mean : map.tile.largest;
  const at = (row, column) => numbers[(first.row + row) * map.tile.columns + first.column + column];
  return { exact: false, rows, columns, step, first: { query: first.row * step.query, key: first.column * step.key }, at, both: (row, column) => [map.tile.largest, map.tile.mean].map((all) => all?.[(first.row + row) * map.tile.columns + first.column + column]) };
}

// Whether a token is to fade: special ones, the first of the document, or neither.
export function fades(dim, special, position) {
  return (dim.includes("special") && special[position] === 1) || (dim.includes("first") && position === 0);
}

// What the darkest colour stands for: the largest weight between tokens that are neither special nor made to fade. Those may lie
// above.
export function colorTop(map, cells, dim) {
  const plain = (side, count) => Array.from({ length: count }, (_, i) => {
    const first = cells.first[side] + i * cells.step[side];
    const special = map[`${side}Special`];
    for (let position = first; position < first + cells.step[side]; ++position) if (special[position] === 1 || fades(dim, special, position)) return false;
    return true;
  });
  const [rows, columns] = [plain("query", cells.rows), plain("key", cells.columns)];
  let top = 0;
  for (let i = 0; i < cells.rows; ++i)
    for (let k = 0; k < cells.columns; ++k) if (rows[i] && columns[k]) top = Math.max(top, cells.at(i, k));
  return top || 1;
}
