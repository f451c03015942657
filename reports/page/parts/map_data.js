// The attention map of a head: exact weights of a window, and tiles over the whole document.

// @returns null if the page has no map of the head
export async function mapOf({ arrays, name, page: { result: { tokens } } }) {
  const [weight, largest] = await arrays.slices("attention_map", ["weight", "largest"], { map_head: name });
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
  };
  const document = arrays.said["attention_map/weight"].notes.document ?? "";
  const { values: weights, axes } = weight;
  return { window, whole, texts, special, weights, columns: axes[1].values.length, tile, document };
}

function tileSize(first) {
  return first.length > 1 ? first[1] - first[0] : Infinity;
}

// The cells to draw: the weights of the window, or tiles of the whole document.
export function cellsOf(map, wholeDocument) {
  const { window, tile, columns } = map;
  if (!wholeDocument || !tile) {
    const at = (row, column) => map.weights[row * columns + column];
    return { exact: true, rows: window.query[1] - window.query[0], columns, step: { query: 1, key: 1 },
      first: { query: window.query[0], key: window.key[0] }, at };
  }
  const step = { query: Math.min(tile.query, map.whole.query[1]), key: Math.min(tile.key, map.whole.key[1]) };
  return { exact: false, rows: tile.rows, columns: tile.columns, step, first: { query: 0, key: 0 },
    at: (row, column) => tile.largest[row * tile.columns + column] };
}

const isPlain = (map, side, position) => position > 0 && map.special[side][position] !== 1;

// The weight of the darkest colour: the largest between tokens that are neither special nor the first. Those
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

export function shortToken(text) {
  const letters = [...(text ?? "")];
  return letters.length > 11 ? `${letters.slice(0, 10).join("")}\u2026` : letters.join("");
}
