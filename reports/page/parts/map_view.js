// The attention map: queries down, keys across; each weight in its window, tiles over the whole document.

import { parseRegion, regionText } from "./address.js";
import { ticks } from "./axes.js";
import { button, element, shape, words } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { cellsOf, colorTop, mapOf, shortToken, zoomed } from "./map_data.js";

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
  const [largest, mean] = [cells.at, cells.mean].map((weight) => numberText(weight(row, column), 2));
  return [`largest weight about ${largest}`, `mean about ${mean}, in ${step.query} \u00d7 ${step.key} tokens`,
    from, to];
}

// What is drawn of the map: the region that the address asks for, its cells, and how large they are.
function mapLayout(map, at, width) {
  const asked = parseRegion(at) ?? map.window;
  const clip = (side) => [Math.min(asked[side][0], map.whole[side][1] - 1),
    Math.min(asked[side][1], map.whole[side][1])];
  const region = { query: clip("query"), key: clip("key") };
  const cells = cellsOf(map, region);
  const room = Math.max(240, Math.min(720, width));
  const token = (side, i) => shortToken(map.texts[side][cells.first[side] + i]);
  const letters = (side, count) => Array.from({ length: count }, (_, i) => [...token(side, i)].length);
  const longest = (side, count) => 14 + 6.8 * Math.max(3, ...letters(side, count));
  const sizeBeside = (margin) =>
    Math.min((room - margin.left - 14) / cells.columns, 640 / cells.rows, largestCell);
  // Tokens are written beside the cells if they can be read there.
  const named = { left: longest("query", cells.rows), head: longest("key", cells.columns) };
  const legible = cells.exact && sizeBeside(named) >= 8;
  const margin = legible ? named : { left: 44, head: 20 };
  return { region, cells, token, legible, ...margin, size: sizeBeside(margin), top: colorTop(map, cells) };
}

// The texts of tokens beside the cells.
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
  const { region, cells, legible } = layout;
  const { first, step } = cells;
  const position = (side, i) => first[side] + i * step[side];
  // Positions that are written are round numbers, or those with which tiles begin.
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
      const low = Math.max(region.query[0], region.key[0] - offset);
      const high = Math.min(region.query[1], region.key[1] - offset);
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
  words: "Queries down, keys across. Arrow keys go through cells, + and \u2212 zoom, 0 leads back.",
  async show(context) {
    const { store, width } = context;
    const map = await mapOf(context);
    if (!map)
      return [words("The page has maps of the strongest heads; this one is in the result file.")];
    const layout = mapLayout(map, store.state.at, width);
    const { cells, region } = layout;
    const plot = mapPlot(map, layout);
    const show = (next) =>
      store.change({ at: regionText(next) === regionText(map.window) ? "" : regionText(next) });
    const zoom = (factor) => {
      const [row, column] = plot.drawn.here() ?? [cells.rows / 2 - 0.5, cells.columns / 2 - 0.5];
      const { first, step } = cells;
      const [query, key] = [first.query + (row + 0.5) * step.query, first.key + (column + 0.5) * step.key];
      show(zoomed(region, map.whole, factor, { query, key }));
    };
    plot.keys = { "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5),
      0: () => show(map.window) };
    const controls = element("div", { class: "controls" },
      button("+", "zoom in", () => zoom(1 / 1.5)), button("\u2212", "zoom out", () => zoom(1.5)),
      button("exact window", "exact window", () => show(map.window)),
      map.tile ? button("whole document", "whole document", () => show(map.whole)) : null);
    const last = cells.first.query + cells.rows - 1;
    const size = `${cells.step.query} \u00d7 ${cells.step.key}`;
    const said = cells.exact ? `Exact weights of queries ${cells.first.query}\u2013${last}`
      : `Pooled: the largest weight in tiles of ${size} tokens, rounded to 1 in 100`;
    const of = map.document ? `, of ${map.document}` : "";
    return [controls, words(`${said}${of}. Special tokens and the first token may lie above the scale.`),
      plot];
  },
};
