// The attention map: queries down, keys across; exact weights in the window, tiles over the whole document.

import { ticks } from "./axes.js";
import { button, element, shape, words } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { cellsOf, colorTop, mapOf, shortToken } from "./map_data.js";

function placesText(tokens, first, step, end) {
  if (step === 1) return `${first} \u201c${tokens[first] ?? ""}\u201d`;
  return `${first}\u2013${Math.min(first + step, end) - 1} \u201c${tokens[first] ?? ""} \u2026\u201d`;
}

const largestCell = 40; // pixels

export function cellWords(map, cells, row, column) {
  const { first, step } = cells;
  const [query, key] = [first.query + row * step.query, first.key + column * step.key];
  const from = `query ${placesText(map.texts.query, query, step.query, map.whole.query[1])}`;
  const to = `key ${placesText(map.texts.key, key, step.key, map.whole.key[1])}`;
  if (cells.exact)
    return [`weight ${numberText(cells.at(row, column), 4)}`, from, to, `offset ${offsetText(key - query)}`];
  const largest = numberText(cells.at(row, column), 2);
  return [`largest weight ${largest}, in ${step.query} \u00d7 ${step.key} tokens`, from, to];
}

// The cells to draw, and their size.
function mapLayout(map, cells, width) {
  const room = Math.max(240, Math.min(720, width));
  const token = (side, i) => shortToken(map.texts[side][cells.first[side] + i]);
  const letters = (side, count) => Array.from({ length: count }, (_, i) => [...token(side, i)].length);
  const longest = (side, count) => 14 + 6.8 * Math.max(3, ...letters(side, count));
  const sizeBeside = (margin) =>
    Math.min((room - margin.left - 14) / cells.columns, 640 / cells.rows, largestCell);
  // Tokens are written beside the cells if they are legible there.
  const named = { left: longest("query", cells.rows), head: longest("key", cells.columns) };
  const legible = cells.exact && sizeBeside(named) >= 8;
  const margin = legible ? named : { left: 44, head: 20 };
  return { cells, token, legible, ...margin, size: sizeBeside(margin), top: colorTop(map, cells) };
}

// Writes the tokens beside the cells.
function drawTokens(svg, x, y, { cells, token, size }) {
  const every = Math.ceil(11 / size);
  const write = (side, i, attributes) => svg.append(shape("text", attributes, token(side, i)));
  for (let i = 0; i < cells.rows; i += every)
    write("query", i, { x: x(0) - 5, y: y(i + 0.5) + 3.5, "text-anchor": "end" });
  for (let k = 0; k < cells.columns; k += every) {
    write("key", k, { transform: `translate(${x(k + 0.5) + 3.5} ${y(0) - 5}) rotate(-90)` });
  }
}

function mapPlot(map, layout) {
  const { cells, legible } = layout;
  const { first, step } = cells;
  const { query: queries, key: keys } = cells.exact ? map.window : map.whole;
  const position = (side, i) => first[side] + i * step[side];
  // The positions that are written are round numbers, or those at which tiles begin.
  const written = (side, count) => {
    const at = step[side] === 1 ? first[side] : 0;
    const isCell = (i) => Number.isInteger(i) && i >= 0 && i < count;
    return ticks(at, at + count, 6).map((one) => one - at).filter(isCell);
  };
  const text = (side) => (i) =>
    `${position(side, i)}${cells.exact && legible ? ` ${layout.token(side, i)}` : ""}`;
  return {
    kind: "heat",
    title: "Attention map",
    rows: cells.rows,
    columns: cells.columns,
    value: cells.at,
    what: "weight",
    top: layout.top,
    left: layout.left,
    head: layout.head,
    size: layout.size,
    xTitle: legible ? "" : "key position",
    yTitle: legible ? "query \\ key" : "query position",
    xTicks: legible ? [] : written("key", cells.columns),
    yTicks: legible ? [] : written("query", cells.rows),
    columnText: text("key"),
    rowText: text("query"),
    words: (i, k) => cellWords(map, cells, i, k),
    marks: (i, k) => {
      const [query, key] = [position("query", i), position("key", k)];
      return cells.exact ? { offset: key - query, query, key } : { offset: key - query };
    },
    ridge: (offset, x, y) => {
      const low = Math.max(queries[0], keys[0] - offset);
      const high = Math.min(queries[1], keys[1] - offset);
      const at = (query) =>
        `${x((query + offset - first.key) / step.key)} ${y((query - first.query) / step.query)}`;
      return low < high ? `M${at(low)}L${at(high)}` : null;
    },
    decorate: (svg, x, y) => legible && drawTokens(svg, x, y, layout),
  };
}

export const mapView = {
  id: "map",
  title: "Attention map",
  needs: ["attention_map/weight"],
  follows: ["at"],
  words: "Queries down, keys across. Arrow keys go through cells.",
  async show(context) {
    const { store, width } = context;
    const map = await mapOf(context);
    if (!map)
      return [words("The page has maps of the strongest heads only; the result file has this one too.")];
    const cells = cellsOf(map, store.state.at === "document");
    const plot = mapPlot(map, mapLayout(map, cells, width));
    const show = (text, at) => button(text, text, () => store.change({ at }));
    const controls = map.tile && element("div", { class: "controls" }, show("exact window", ""),
      show("whole document", "document"));
    const last = cells.first.query + cells.rows - 1;
    const size = `${cells.step.query} \u00d7 ${cells.step.key}`;
    const said = cells.exact ? `Exact weights of queries ${cells.first.query}\u2013${last}`
      : `Pooled: the largest weight in tiles of ${size} tokens`;
    const of = map.document ? `, of ${map.document}` : "";
    return [controls, words(`${said}${of}. Special tokens and the first token may lie above the scale.`),
      plot];
  },
};
