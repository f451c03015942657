// The overview: a small profile of every head, layers down and heads across, coloured by a measure.

import { amountColor, colorBar, measureColors, wordColor } from "./colors.js";
import { element, setShape, shape } from "./elements.js";
import { numberText, offsetText, valueText } from "./format.js";
import { measureLabel } from "./measures.js";
import { pointing } from "./pointing.js";

const near = 16; // offsets to each side
const [left, top] = [28, 18];

// Arrays that give profiles, the best first.
const profileArrays = ["head_account/measured_profile", "offset_trace/mean_weight",
  "word_atlas/profile", "comparison/second_profile", "position_atlas/kernel", "rotary_wave/kernel"];

// The profiles of all heads over nearby offsets, each scaled to its largest; null without arrays.
export async function smallProfiles({ arrays, page }) {
  const name = profileArrays.find((one) => arrays.has(one));
  if (!name) return null;
  const { axes } = arrays.said[name];
  const pairs = axes[0].name === "pairs" ? { pairs: axes[0].values[0] } : {};
  const offsets = axes[axes.length - 1].values;
  const isNear = (offset) => offset >= -near && offset <= (page.causal ? 0 : near);
  const kept = offsets.map((_, i) => i).filter((i) => isNear(offsets[i]));
  const profiles = await Promise.all(page.heads.map(async ({ layer, head }) => {
    const slice = await arrays.slice(name, { ...pairs, layer, head });
    const values = slice ? kept.map((i) => Math.max(0, slice.values[i]) || 0) : [];
    const peak = Math.max(...values) || 1;
    return values.map((value) => value / peak);
  }));
  return { offsets: kept.map((i) => offsets[i]), profiles };
}

export class HeadGrid {
  constructor(box, legend, page, store) {
    Object.assign(this, { box, legend, page, store, small: null, cells: [], frames: [] });
  }

  // @param name  of the measure that gives the ink
  draw(name) {
    const { page } = this;
    const { heads, layers } = page.result;
    const measure = page.measures.get(name);
    const w = Math.max(5, Math.min(64, ((this.box.clientWidth || 320) - left - 2) / heads.length));
    const h = Math.max(5, Math.min(46, 0.8 * w, 430 / layers.length));
    Object.assign(this, { w, h, columns: heads.length, measure, label: measureLabel(page.measures, name) });
    const colors = measureColors(measure);
    // Words have letters beside their colours, because not everybody can tell the colours apart.
    const letters = measure.kind === "flag" ? measure.meanings.map((word) => word.slice(0, 2)) : null;
    const size = { width: left + w * heads.length + 1, height: top + h * layers.length + 1 };
    const svg = shape("svg", { ...size, role: "img", "aria-label": `All heads, ink by ${this.label}` });
    svg.append(shape("text", { x: 0, y: top - 6 }, "head"));
    const number = (list, apart, place) => list.forEach((one, i) => {
      if (i % Math.ceil(18 / apart) === 0) svg.append(shape("text", place(i), one));
    });
    number(heads, w, (i) => ({ x: left + w * (i + 0.5), y: top - 6, "text-anchor": "middle" }));
    number(layers, h, (i) => ({ x: left - 6, y: top + h * (i + 0.5) + 4, "text-anchor": "end" }));
    this.cells = page.heads.map((_, place) => this.cell(place, colors, letters));
    const frame = (kind) => shape("rect",
      { class: `frame ${kind}`, width: w, height: h, visibility: "hidden" });
    this.frames = ["chosen", "pointed"].map(frame);
    svg.append(...this.cells, ...this.frames);
    this.box.replaceChildren(svg);
    this.listen(svg);
    this.drawLegend(colors, letters);
  }

  listen(svg) {
    const { page, columns, w, h } = this;
    pointing(this.box, svg, {
      count: page.heads.length,
      columns,
      at: (x, y) => {
        const [column, row] = [Math.floor((x - left) / w), Math.floor((y - top) / h)];
        const isCell = column >= 0 && row >= 0 && column < columns && row < page.result.layers.length;
        return isCell ? row * columns + column : null;
      },
      where: (place) => this.corner(place),
      words: (place) => this.words(place),
      marks: (place) => ({ head: page.heads[place].name }),
      click: (place) => this.store.change({ head: page.heads[place], view: "" }, true),
    }, this.store);
  }

  corner(place) {
    return [left + this.w * (place % this.columns), top + this.h * Math.floor(place / this.columns)];
  }

  cell(place, colors, letters) {
    const { w, h } = this;
    const value = this.measure.values[place];
    const style = `fill: ${colors.color(value) ?? "none"}`;
    const profile = this.small?.profiles[place];
    const cell = shape("g", { class: "cell", transform: `translate(${this.corner(place).join(" ")})` });
    const ground = shape("rect",
      { class: "ground", width: w - 1, height: h - 1, style: profile ? null : style });
    cell.append(ground);
    if (profile?.length) {
      const [width, height] = [w - 3, h - (h > 24 ? 11 : 3)];
      const point = (one, i) =>
        `L${(1 + (width * i) / (profile.length - 1)).toFixed(1)} ${(h - 2 - height * one).toFixed(1)}`;
      const path = `M1 ${h - 2}${profile.map(point).join("")}L${w - 2} ${h - 2}Z`;
      cell.append(shape("path", { class: "ink", style, d: path }));
    }
    const offset = this.page.measures.value("offset", place);
    const text = letters && value !== null ? letters[value] : offset === null ? "" : offsetText(offset);
    if (text && w >= 30 && h > 24) cell.append(shape("text", { x: 3, y: 10 }, text));
    return cell;
  }

  // Names more than one measure, so that a verdict never stands without the strength of its profile.
  words(place) {
    const { measures, heads } = this.page;
    const { measure, label } = this;
    const isMore = (name) => name !== label && measures.value(name, place) !== null;
    const others = ["bits", "part", "offset", "strength"].filter(isMore);
    return [`${heads[place].name}: ${label} ${valueText(measure, measure.values[place])}`,
      ...others.map((name) => `${name} ${valueText(measures.get(name), measures.value(name, place))}`)];
  }

  // Frames the head that is shown and the one that is pointed at, by their places; -1: none.
  frame(...places) {
    this.frames.forEach((frame, i) => {
      const [x, y] = this.corner(Math.max(0, places[i]));
      setShape(frame, { visibility: places[i] < 0 ? "hidden" : null, x: x - 0.5, y: y - 0.5 });
    });
  }

  // Fades heads that the filter leaves out.
  filter(shown) {
    this.cells.forEach((cell, place) => cell.classList.toggle("filtered", shown?.has(place) === false));
  }

  drawLegend(colors, letters) {
    const { measure } = this;
    const unit = measure.unit === "1" || measure.kind === "flag" ? ""
      : `, in ${measure.unit}s`.replace("nats", "nat");
    const gap = measure.undefined && measure.values.includes(null) ? ` No ink: ${measure.undefined}.` : "";
    const { small } = this;
    const span = small ? `${offsetText(small.offsets[0])} to ${offsetText(small.offsets.at(-1))}` : "";
    const cells = small ? ` Each cell is a profile over offsets ${span}, scaled to its largest.` : "";
    const said = element("p", { class: "words" },
      `${this.label}: ${measure.long_name}${unit}.${gap}${cells}`);
    if (letters) return this.legend.replaceChildren(...this.wordKeys(letters), said);
    const text = measure.kind === "offset" ? offsetText : (value) => numberText(value, 2);
    const steps = colors.kind === "signed" ? [-colors.high, 0, colors.high]
      : [0, colors.high / 2, colors.high];
    const ramp = (share) => (colors.kind === "amount" ? "amount" : share < 0 ? "below" : "above");
    const colorOf = (share) => amountColor(Math.abs(share), ramp(share));
    const ticks = steps.map((step) => [colors.share(step), text(step)]);
    return this.legend.replaceChildren(colorBar("", ticks, colorOf), said);
  }

  wordKeys(letters) {
    const { meanings, values } = this.measure;
    return meanings.flatMap((word, i) => {
      const count = values.filter((value) => value === i).length;
      if (!count) return [];
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = wordColor(meanings, i);
      return element("span", {}, swatch, `${letters[i]}\u2002${word} (${count})`);
    });
  }
}
