// The grid of layers and heads, coloured by a measure.

import { css, isLight, measureColors, wordColor } from "./colors.js";
import { element } from "./elements.js";
import { headName, measureName, numberText, offsetText, shortWords, valueText } from "./format.js";
import { hideTip, say, showTip } from "./tip.js";

export class HeadGrid {
  // @param rows  sets of "L7H8" that the table shows, or null: all
  constructor(box, legend, words, page, store) {
    Object.assign(this, { box, legend, words, page, store, shown: null });
    store.listenToMarks(() => this.frame());
  }

  draw(measure) {
    this.measure = measure;
    this.letters = measure.kind === "flag" ? shortWords(measure.meanings) : [];
    const { layers, heads } = this.page.result;
    const width = this.box.clientWidth || 320;
    const left = 26;
    const top = 20;
    const size = Math.max(6, Math.min(36, Math.floor((width - left) / heads.length)));
    const colors = measureColors(measure);
    const svg = d3.create("svg").attr("width", left + size * heads.length + 2).attr("height", top + size * layers.length + 2)
      .attr("role", "grid").attr("aria-label", `Layers by heads, coloured by ${measureName(measure)}`);
    const every = Math.ceil(16 / size);
    svg.append("text").attr("x", 0).attr("y", top - 3).attr("aria-hidden", "true").text("head");
    heads.forEach((head, i) => {
      if (i % every === 0) svg.append("text").attr("aria-hidden", "true").attr("x", left + size * (i + 0.5)).attr("y", top - 3).attr("text-anchor", "middle").text(head);
    });
    layers.forEach((layer, i) => {
      const row = svg.append("g").attr("role", "row");
      if (i % every === 0) row.append("text").attr("role", "rowheader").attr("aria-label", `layer ${layer}`).attr("x", left - 6).attr("y", top + size * (i + 0.5) + 4).attr("text-anchor", "end").text(layer);
      heads.forEach((head, k) => this.cell(row, { layer, head, value: measure.values[i * heads.length + k], x: left + size * k, y: top + size * i, size }, colors));
    });
    this.box.replaceChildren(svg.node());
    this.cells = [...svg.node().querySelectorAll(".cell")];
    this.frame();
    this.drawLegend(colors);
    this.words.textContent = `${measure.long_name}${measure.unit === "1" || measure.kind === "flag" ? "" : `, in ${measure.unit === "token" ? "tokens" : measure.unit}`}.${measure.undefined ? ` Empty cells: ${measure.undefined}.` : ""}`;
  }

  cell(row, { layer, head, value, x, y, size }, colors) {
    const name = headName(layer, head);
    const color = colors.color(value);
    const text = valueText(this.measure, value) + this.strengthText(layer, head);
    const cell = row.append("g").attr("class", "cell").attr("role", "gridcell").attr("tabindex", -1).attr("data-head", name)
      .attr("aria-label", `${name}: ${text}`).attr("transform", `translate(${x} ${y})`);
    cell.append("rect").attr("width", size - 1).attr("height", size - 1).attr("fill", color ? css(color) : "none").attr("stroke", color ? "none" : "var(--faint)");
    const short = this.measure.kind === "flag" ? this.letters[value] ?? "" : this.measure.kind === "offset" ? offsetText(Math.round(value)) : "";
    if (value !== null && short && size >= (short.length > 3 ? 26 : 20) && short.length < 5)
      cell.append("text").attr("x", (size - 1) / 2).attr("y", size / 2 + 3).attr("aria-hidden", "true").style("fill", isLight(color) ? "#1d1f22" : "#ffffff").text(short);
    cell.append("rect").attr("class", "frame").attr("width", size - 1).attr("height", size - 1);
    const node = cell.node();
    node.addEventListener("click", () => this.store.change({ head: { layer, head } }, true));
    node.addEventListener("pointermove", (event) => {
      this.store.mark({ head: name });
      showTip([name, `${measureName(this.measure)}: ${text}`], event.clientX, event.clientY);
    });
    node.addEventListener("pointerleave", () => {
      this.store.mark({});
      hideTip();
    });
    node.addEventListener("keydown", (event) => this.keys(event, node));
    node.addEventListener("focus", () => say(`${name}, ${measureName(this.measure)} ${text}`));
  }

  // A verdict is never said without the strength of the profile that it is about.
  strengthText(layer, head) {
    if (this.measure.name !== "head_account/verdict") return "";
    const { layers, heads } = this.page.result;
    const strength = this.page.measures.get("head_account/strength:")?.values[layers.indexOf(layer) * heads.length + heads.indexOf(head)] ?? null;
    return strength === null ? "" : `, strength ${strength.toFixed(2)}`;
  }

  keys(event, node) {
    const { heads } = this.page.result;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads.length, ArrowDown: heads.length }[event.key];
    if (event.key === "Enter" || event.key === " ") node.dispatchEvent(new MouseEvent("click"));
    else if (step === undefined) return;
    event.preventDefault();
    const next = this.cells[this.cells.indexOf(node) + (step ?? 0)];
    if (!next) return;
    for (const cell of this.cells) cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // Frames the head that is shown or pointed at, and lets those fade that the table leaves out.
  frame() {
    const { head } = this.store.state;
    const chosen = head ? headName(head.layer, head.head) : "";
    for (const cell of this.cells ?? []) {
      const name = cell.dataset.head;
      cell.classList.toggle("chosen", name === chosen || name === this.store.marked.head);
      cell.classList.toggle("filtered", this.shown !== null && !this.shown.has(name));
      cell.setAttribute("aria-selected", name === chosen);
      if (!this.box.contains(document.activeElement)) cell.tabIndex = name === (chosen || this.cells[0].dataset.head) ? 0 : -1;
    }
  }

  filter(shown) {
    this.shown = shown;
    this.frame();
  }

  drawLegend(colors) {
    const { measure } = this;
    if (colors.kind === "flag") {
      this.legend.replaceChildren(...measure.meanings.map((word, i) => {
        const swatch = element("span", { class: "swatch" });
        swatch.style.background = wordColor(measure.meanings, i);
        return element("span", {}, swatch, `${this.letters[i]}\u2002${word} (${measure.values.filter((value) => value === i).length})`);
      }));
      return;
    }
    const width = Math.min(240, this.box.clientWidth - 10);
    const svg = d3.create("svg").attr("width", width + 60).attr("height", 30).attr("role", "img").attr("aria-label", `colours from ${numberText(colors.low)} to ${numberText(colors.high)}`);
    const from = Math.round(colors.low);
    const place = (value) => 20 + (colors.kind === "amount" ? colors.share(value) : 0.5 + 0.5 * Math.sign(value) * colors.share(Math.abs(value))) * width;
    for (let i = 0; i < width; ++i) {
      const share = colors.kind === "amount" ? i / width : (2 * i) / width - 1;
      svg.append("rect").attr("x", 20 + i).attr("width", 1.5).attr("height", 9).attr("fill", css(colors.color(inverse(colors, share))));
    }
    const ticks = colors.kind === "amount" ? [0, colors.high / 2, colors.high] : measure.kind === "offset" ? offsetTicks(colors.high) : [colors.low, 0, colors.high];
    for (const tick of ticks)
      svg.append("text").attr("x", place(tick)).attr("y", 24).attr("text-anchor", "middle").text(measure.kind === "offset" ? offsetText(tick) : numberText(tick, from === 0 ? 2 : 3));
    this.legend.replaceChildren(svg.node());
  }
}

// The value whose colour stands at a share of the bar, -1 to 1.
function inverse(colors, share) {
  const size = Math.abs(share);
  const reach = colors.high;
  const linear = Math.abs(colors.share(reach / 2) - 0.5) < 1e-9;
  return Math.sign(share) * (linear ? size * reach : Math.expm1(size * Math.log1p(reach)));
}

function offsetTicks(reach) {
  const near = reach > 12 ? [1, 8] : [1];
  const steps = [...near.filter((tick) => tick < reach / 2), reach];
  return [...steps.map((tick) => -tick).reverse(), 0, ...steps];
}
