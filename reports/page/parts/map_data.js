// The attention map of a head: exact weights of a window, and tiles over the whole document.

// @returns null if the page has no map of the head
export async function mapOf({ arrays, name, page: { result: { tokens } } }) {
  const names = ["weight", "largest", "mean"];
  const [weight, largest, mean] = await arrays.slices("attention_map", names, { map_head: name });
  if (!weight) return null;
  const window = {};
  const whole = {};
  const texts = {};
  const special = {};
  ["query", "key"].forEach((side, k) => {
    const positions = weight.axes[k].values;
    const prefix = side === "key" ? "key_" : "";
    // By position in the document: all positions if the result has them, else those of the window.
    const known = (all, some) => tokens[all] ?? Array(positions[0]).concat(tokens[some] ?? []);
    window[side] = [positions[0], positions[0] + positions.length];
    texts[side] = known(`document_${prefix}token`, `${prefix}token`);
    special[side] = known(`document_${prefix}special`, `${prefix}special`);
    whole[side] = [0, largest ? texts[side].length : window[side][1]];
  });
  const [rows, columns] = (largest?.axes ?? []).map((axis) => axis.values);
  const tile = largest && {
    query: tileSize(rows),
    key: tileSize(columns),
    rows: rows.length,
    columns: columns.length,
    largest: largest.values,
    mean: mean?.values,
  };
  const document = arrays.said["attention_map/weight"].notes.document ?? "";
  const { values: weights, axes } = weight;
  return { window, whole, texts, special, weights, columns: axes[1].values.length, tile, document };
}

function tileSize(first) {
  return first.length > 1 ? first[1] - first[0] : Infinity;
}

function isInside(inner, outer) {
  const isWithin = (side) => inner[side][0] >= outer[side][0] && inner[side][1] <= outer[side][1];
  return ["query", "key"].every(isWithin);
}

// The cells of a region, `step` tokens along a side: exact if the window holds all of it, else tiles.
export function cellsOf(map, region) {
  if (isInside(region, map.window) || !map.tile) {
    const [q0, k0] = ["query", "key"].map((side) => Math.max(region[side][0], map.window[side][0]));
    const rows = Math.min(region.query[1], map.window.query[1]) - q0;
    const columns = Math.min(region.key[1], map.window.key[1]) - k0;
    const start = (q0 - map.window.query[0]) * map.columns + k0 - map.window.key[0];
    const at = (row, column) => map.weights[start + row * map.columns + column];
    return { exact: true, rows, columns, step: { query: 1, key: 1 }, first: { query: q0, key: k0 }, at };
  }
  const { tile, whole } = map;
  const step = { query: Math.min(tile.query, whole.query[1]), key: Math.min(tile.key, whole.key[1]) };
  const first = { row: Math.floor(region.query[0] / step.query),
    column: Math.floor(region.key[0] / step.key) };
  const rows = Math.min(Math.ceil(region.query[1] / step.query), tile.rows) - first.row;
  const columns = Math.min(Math.ceil(region.key[1] / step.key), tile.columns) - first.column;
  const place = (row, column) => (first.row + row) * tile.columns + first.column + column;
  const at = (row, column) => tile.largest[place(row, column)];
  const mean = (row, column) => tile.mean?.[place(row, column)];
  return { exact: false, rows, columns, step,
    first: { query: first.row * step.query, key: first.column * step.key }, at, mean };
}

const isPlain = (map, side, position) => position > 0 && map.special[side][position] !== 1;

// The weight of the darkest colour: the largest between tokens that are neither special nor the first, which
// draw attention from everywhere.
export function colorTop(map, cells) {
  const counts = (side, i) => {
    const from = cells.first[side] + i * cells.step[side];
    return Array.from({ length: cells.step[side] }, (_, k) => from + k)
      .every((position) => isPlain(map, side, position));
  };
  const columns = Array.from({ length: cells.columns }, (_, k) => counts("key", k));
  let top = 0;
  for (let i = 0; i < cells.rows; ++i) {
    if (!counts("query", i)) continue;
    for (let k = 0; k < cells.columns; ++k) if (columns[k]) top = Math.max(top, cells.at(i, k));
  }
  return top || 1;
}

// A region around a place, by a factor smaller or larger, within the document.
export function zoomed(region, whole, factor, at) {
  const next = {};
  for (const side of ["query", "key"]) {
    const [low, high] = region[side];
    const all = whole[side][1];
    const size = Math.min(all, Math.max(4, Math.round((high - low) * factor)));
    const center = at ? at[side] : (low + high) / 2;
    const share = (center - low) / (high - low);
    const from = Math.max(0, Math.min(all - size, Math.round(center - share * size)));
    next[side] = [from, from + size];
  }
  return next;
}

export function shortToken(text) {
  const letters = [...(text ?? "")];
  return letters.length > 11 ? `${letters.slice(0, 10).join("")}\u2026` : letters.join("");
}
