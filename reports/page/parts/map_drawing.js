// The cells of an attention map under the pointer, the keys and the zoom.

import { parseRegion, regionText } from "./address.js";
import { colorTable, isDark } from "./colors.js";
import { element } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { amountShare, paintCells, putOver } from "./heat.js";
import { cellsOf, colorTop, fades } from "./map_data.js";
import { drawAxis } from "./plot.js";
import { hideTip, say, showTip } from "./tip.js";

const smallest = 4; // tokens along a side

// A region around a place, by a factor smaller or larger, within the document.
export function zoomed(region, whole, factor, at) {
  const next = {};
  for (const side of ["query", "key"]) {
    const [low, high] = region[side];
    const all = whole[side][1];
    const size = Math.min(all, Math.max(smallest, Math.round((high - low) * factor)));
    const center = at ? at[side] : (low + high) / 2;
    const share = (center - low) / (high - low);
    const from = Math.max(0, Math.min(all - size, Math.round(center - share * size)));
    next[side] = [from, from + size];
  }
  return next;
}

function clipped(region, whole) {
  const side = (name) => [Math.min(region[name][0], whole[name][1] - 1), Math.min(region[name][1], whole[name][1])];
  return { query: side("query"), key: side("key") };
}

function placesText(tokens, first, step, end) {
  if (step === 1) return `${first} \u201c${tokens[first] ?? ""}\u201d`;
  return `${first}\u2013${Math.min(first + step, end) - 1} \u201c${tokens[first] ?? ""} \u2026\u201d`;
}

export function cellWords(map, cells, row, column) {
  const query = cells.first.query + row * cells.step.query;
  const key = cells.first.key + column * cells.step.key;
  const from = `query ${placesText(map.queryTokens, query, cells.step.query, map.whole.query[1])}`;
  const to = `key ${placesText(map.keyTokens, key, cells.step.key, map.whole.key[1])}`;
  if (cells.exact) return [`weight ${numberText(cells.at(row, column), 4)}`, from, to, `offset ${offsetText(key - query)}`];
  const [largest, mean] = cells.both(row, column);
  return [`largest weight about ${numberText(largest, 2)}`, `mean about ${numberText(mean, 2)}, in ${cells.step.query} \u00d7 ${cells.step.key} tokens`, from, to];
}

export class MapDrawing {
  constructor(box, map, context) {
    Object.assign(this, { box, map, ...context });
    const { state } = this.store;
    this.region = clipped(parseRegion(state.at) ?? map.window, map.whole);
    this.cells = cellsOf(map, this.region, state.tiles);
    this.top = colorTop(map, this.cells, state.dim);
    this.cursor = null;
  }

  draw() {
    const { cells } = this;
    const width = Math.max(240, this.box.clientWidth);
    const longest = (side) => Math.min(11, Math.max(3, ...this.labels(side).map((text) => [...text].length)));
    const sizeIn = (margin) => Math.min((width - margin.left - margin.right) / cells.columns, 640 / cells.rows);
    const named = { left: 8 + 6.8 * longest("query"), top: 8 + 6.8 * longest("key"), right: 4, bottom: 4 };
    this.legible = cells.exact && sizeIn(named) >= 9;
    this.margin = this.legible ? named : { left: 44, top: 34, right: 4, bottom: 4 };
    const size = sizeIn(this.margin);
    this.size = size;
    const [w, h] = [size * cells.columns, size * cells.rows];
    const canvas = element("canvas", { "aria-hidden": "true" });
    const { dim } = this.store.state;
    const colors = colorTable("amount", isDark());
    const rowFades = Array.from({ length: cells.rows }, (_, i) => cells.exact && fades(dim, this.map.querySpecial, cells.first.query + i));
    const columnFades = Array.from({ length: cells.columns }, (_, k) => cells.exact && fades(dim, this.map.keySpecial, cells.first.key + k));
    paintCells(canvas, cells.rows, cells.columns, (i, k) => {
      const share = amountShare(cells.at(i, k), this.top);
      return colors[Math.round(255 * (rowFades[i] || columnFades[k] ? 0.25 * share : share))];
    });
    putOver(canvas, { left: this.margin.left, top: this.margin.top, width: w, height: h });
    const svg = d3.create("svg").attr("width", width).attr("height", h + this.margin.top + this.margin.bottom).attr("role", "img")
      .attr("aria-label", `Attention map of ${this.name}: queries ${this.region.query.join(" to ")}, keys ${this.region.key.join(" to ")}`);
    svg.append("rect").attr("class", "frame").attr("x", this.margin.left).attr("y", this.margin.top).attr("width", w).attr("height", h);
    this.axes(svg, w, h);
    this.line = svg.append("path").attr("class", "marker").attr("stroke-dasharray", "5 3");
    this.frame = svg.append("rect").attr("class", "marker").attr("visibility", "hidden");
    this.picked = svg.append("rect").attr("class", "pick").attr("visibility", "hidden");
    this.box.replaceChildren(canvas, svg.node());
    this.listen(svg.node());
    this.mark();
  }

  labels(side) {
    const { cells } = this;
    const count = side === "query" ? cells.rows : cells.columns;
    return Array.from({ length: count }, (_, i) => shortToken(this.map[`${side}Tokens`][cells.first[side] + i]));
  }

  axes(svg, w, h) {
    const { margin, size, cells } = this;
    if (this.legible) {
      const every = Math.ceil(11 / size);
      const { dim } = this.store.state;
      this.labels("query").forEach((text, i) => i % every === 0 && svg.append("text").attr("class", `token${fades(dim, this.map.querySpecial, cells.first.query + i) ? " faded" : ""}`).attr("x", margin.left - 5).attr("y", margin.top + size * (i + 0.5) + 3.5).attr("text-anchor", "end").text(text));
      this.labels("key").forEach((text, k) => k % every === 0 && svg.append("text").attr("class", `token${fades(dim, this.map.keySpecial, cells.first.key + k) ? " faded" : ""}`).attr("transform", `translate(${margin.left + size * (k + 0.5) + 3.5} ${margin.top - 5}) rotate(-90)`).text(text));
      return;
    }
    const x = d3.scaleLinear([cells.first.key, cells.first.key + cells.columns * cells.step.key], [margin.left, margin.left + w]);
    const y = d3.scaleLinear([cells.first.query, cells.first.query + cells.rows * cells.step.query], [margin.top, margin.top + h]);
    drawAxis(svg.append("g").attr("transform", `translate(0 ${margin.top})`), d3.axisTop(x).ticks(Math.max(2, w / 70)).tickSize(4));
    drawAxis(svg.append("g").attr("transform", `translate(${margin.left} 0)`), d3.axisLeft(y).ticks(Math.max(2, h / 50)).tickSize(4));
    svg.append("text").attr("x", margin.left + w).attr("y", 10).attr("text-anchor", "end").text("key position");
    svg.append("text").attr("x", 0).attr("y", 10).text("query");
  }

  cellAt(event) {
    const at = this.box.getBoundingClientRect();
    const column = Math.floor((event.clientX - at.left - this.margin.left) / this.size);
    const row = Math.floor((event.clientY - at.top - this.margin.top) / this.size);
    return row >= 0 && column >= 0 && row < this.cells.rows && column < this.cells.columns ? { row, column } : null;
  }

  point(cell, event) {
    this.cursor = cell;
    const { cells } = this;
    const query = cells.first.query + cell.row * cells.step.query;
    const key = cells.first.key + cell.column * cells.step.key;
    this.store.mark(cells.exact ? { offset: key - query, query, key } : { offset: key - query });
    const words = cellWords(this.map, cells, cell.row, cell.column);
    this.frame.attr("visibility", null).attr("x", this.margin.left + this.size * cell.column).attr("y", this.margin.top + this.size * cell.row).attr("width", this.size).attr("height", this.size);
    if (event) showTip(words, event.clientX, event.clientY);
    else {
      const at = this.box.getBoundingClientRect();
      showTip(words, at.left + this.margin.left + this.size * (cell.column + 1), at.top + this.margin.top + this.size * cell.row);
      say(words.join(", "));
    }
  }

  leave() {
    hideTip();
    this.frame.attr("visibility", "hidden");
    this.store.mark({});
  }

  zoom(factor, cell) {
    const { cells } = this;
    const at = cell && { query: cells.first.query + (cell.row + 0.5) * cells.step.query, key: cells.first.key + (cell.column + 0.5) * cells.step.key };
    this.show(zoomed(this.region, this.map.whole, factor, at));
  }

  show(region) {
    const text = regionText(region);
    this.store.change({ at: text === regionText(this.map.window) ? "" : text });
  }

  listen(node) {
    let from = null;
    node.addEventListener("pointerdown", (event) => {
      from = event.pointerType === "mouse" && event.button === 0 ? this.cellAt(event) : null;
      if (from) event.preventDefault();
    });
    node.addEventListener("pointermove", (event) => {
      const cell = this.cellAt(event);
      if (!cell) return this.leave();
      this.point(cell, event);
      if (from && (cell.row !== from.row || cell.column !== from.column)) this.pick(from, cell);
      return undefined;
    });
    node.addEventListener("pointerup", (event) => {
      const cell = this.cellAt(event);
      if (from && cell && (Math.abs(cell.row - from.row) > 1 || Math.abs(cell.column - from.column) > 1)) this.show(this.picks(from, cell));
      this.picked.attr("visibility", "hidden");
      from = null;
    });
    node.addEventListener("pointerleave", () => {
      from = null;
      this.picked.attr("visibility", "hidden");
      this.leave();
    });
    node.addEventListener("dblclick", () => this.show(this.map.window));
    node.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, this.cellAt(event));
    }, { passive: false });
    this.box.onkeydown = (event) => this.keys(event);
    this.box.onblur = () => this.leave();
  }

  // The region between two cells, and its frame.
  picks(a, b) {
    const { cells, map } = this;
    const side = (name, place) => {
      const [low, high] = [Math.min(a[place], b[place]), Math.max(a[place], b[place]) + 1];
      return [cells.first[name] + low * cells.step[name], Math.min(cells.first[name] + high * cells.step[name], map.whole[name][1])];
    };
    return zoomed({ query: side("query", "row"), key: side("key", "column") }, map.whole, 1);
  }

  pick(a, b) {
    const [left, top] = [Math.min(a.column, b.column), Math.min(a.row, b.row)];
    this.picked.attr("visibility", null).attr("x", this.margin.left + this.size * left).attr("y", this.margin.top + this.size * top)
      .attr("width", this.size * (Math.abs(a.column - b.column) + 1)).attr("height", this.size * (Math.abs(a.row - b.row) + 1));
  }

  keys(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const cell = this.cursor ?? { row: 0, column: 0 };
    if (event.key === "+" || event.key === "=") this.zoom(1 / 1.5, this.cursor);
    else if (event.key === "-") this.zoom(1.5, this.cursor);
    else if (event.key === "0") this.show(this.map.window);
    else if (event.key === "Escape") this.leave();
    else if (step) this.point({ row: Math.max(0, Math.min(this.cells.rows - 1, cell.row + step[0])), column: Math.max(0, Math.min(this.cells.columns - 1, cell.column + step[1])) }, null);
    else return;
    event.preventDefault();
  }

  // The diagonal of the marked offset, and the query that another view points at.
  mark() {
    const offset = this.store.offset();
    const { cells, margin, size } = this;
    if (offset === null || !cells.columns) return this.line.attr("d", null);
    const x = (key) => margin.left + ((key - cells.first.key) / cells.step.key) * size;
    const y = (query) => margin.top + ((query - cells.first.query) / cells.step.query) * size;
    const ends = [[cells.first.query, cells.rows * cells.step.query], [cells.first.key, cells.columns * cells.step.key]];
    const low = Math.max(ends[0][0], ends[1][0] - offset);
    const high = Math.min(ends[0][0] + ends[0][1], ends[1][0] + ends[1][1] - offset);
    const middle = cells.exact ? 0 : 0.5;
    return this.line.attr("d", low < high ? `M${x(low + offset + middle)} ${y(low + middle)}L${x(high + offset + middle)} ${y(high + middle)}` : null);
  }
}

export function shortToken(text) {
  const letters = [...(text ?? "")];
  return letters.length > 11 ? `${letters.slice(0, 10).join("")}\u2026` : letters.join("");
}
