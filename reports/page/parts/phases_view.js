// At which phase a head turns each frequency: a shift is a ridge through the origin.

import { colorTable, isDark } from "./colors.js";
import { element } from "./elements.js";
import { leftOut, numberText } from "./format.js";
import { amountBar, amountShare, paintCells, putOver } from "./heat.js";
import { drawAxis } from "./plot.js";
import { hideTip, showTip } from "./tip.js";

// The ridge of an offset, theta = -2 pi f t / T, in pieces that end where the phase jumps from pi to -pi.
export function ridge(offset, length, frequencies) {
  const pieces = [];
  const first = frequencies[0];
  const last = frequencies[frequencies.length - 1];
  if (!offset) return [[[first, 0], [last, 0]]];
  const phase = (f) => (-2 * Math.PI * f * offset) / length;
  const turn = length / (2 * Math.abs(offset));
  for (let n = Math.floor((first / turn + 1) / 2); (2 * n - 1) * turn < last; ++n) {
    const from = Math.max(first, (2 * n - 1) * turn);
    const to = Math.min(last, (2 * n + 1) * turn);
    const whole = -Math.sign(offset) * 2 * Math.PI * n;
    if (to > from) pieces.push([[from, phase(from) - whole], [to, phase(to) - whole]]);
  }
  return pieces;
}

function phaseMap(side, slice, { name, store, length }) {
  const box = element("div", { class: "map" });
  const frequencies = slice.axes[0].values;
  const phases = slice.axes[1].values;
  // What does not change over positions is often louder than all waves.
  const constant = frequencies[0] === 0 && frequencies.length > 1 ? phases.length : 0;
  const largest = slice.values.subarray(constant).reduce((most, value) => Math.max(most, value), 0) || 1;
  const colors = colorTable("amount", isDark());
  const canvas = element("canvas", { "aria-hidden": "true" });
  paintCells(canvas, phases.length, frequencies.length, (row, column) => colors[Math.round(255 * amountShare(slice.values[column * phases.length + (phases.length - 1 - row)], largest))]);
  box.append(canvas);
  const draw = (width) => {
    const margin = { left: 34, top: 18, right: 8, bottom: 34 };
    const [w, h] = [width - margin.left - margin.right, 180];
    putOver(canvas, { left: margin.left, top: margin.top, width: w, height: h });
    const svg = d3.create("svg").attr("width", width).attr("height", h + margin.top + margin.bottom).attr("role", "img").attr("aria-label", `${side} of ${name}: amplitude by frequency and phase`);
    const x = d3.scaleLinear([frequencies[0] - 0.5, frequencies[frequencies.length - 1] + 0.5], [margin.left, margin.left + w]);
    const y = d3.scaleLinear([Math.PI, -Math.PI], [margin.top, margin.top + h]);
    drawAxis(svg.append("g").attr("transform", `translate(0 ${margin.top + h})`), d3.axisBottom(x).ticks(5).tickSize(4));
    drawAxis(svg.append("g").attr("transform", `translate(${margin.left} 0)`), d3.axisLeft(y).tickValues([-Math.PI, 0, Math.PI]).tickSize(4).tickFormat((value) => (value === 0 ? "0" : value > 0 ? "\u03c0" : "\u2212\u03c0")));
    svg.append("text").attr("x", 0).attr("y", 10).attr("class", "title").text(`${side === "query" ? "queries" : "keys"}: phase (rad)`);
    svg.append("text").attr("x", width - margin.right).attr("y", h + margin.top + 31).attr("text-anchor", "end").text("frequency (cycles/T)");
    const clip = svg.append("g");
    const line = d3.line().x((point) => x(point[0])).y((point) => y(point[1]));
    const node = svg.node();
    node.addEventListener("pointermove", (event) => {
      const at = node.getBoundingClientRect();
      const f = Math.round(x.invert(event.clientX - at.left) - frequencies[0]);
      const p = phases.length - 1 - Math.floor(((event.clientY - at.top - margin.top) / h) * phases.length);
      if (f < 0 || p < 0 || f >= frequencies.length || p >= phases.length) return hideTip();
      showTip([`${numberText(frequencies[f])} cycles/T, ${numberText(phases[p])} rad`, `${side} amplitude: ${numberText(slice.values[f * phases.length + p], 2)}`], event.clientX, event.clientY);
      return undefined;
    });
    node.addEventListener("pointerleave", hideTip);
    box.replaceChildren(canvas, node, amountBar("amplitude", largest));
    return () => {
      const offset = store.offset();
      clip.selectAll("path").data(offset === null || !length ? [] : ridge(offset, length, frequencies)).join("path").attr("class", "marker").attr("d", line);
    };
  };
  return { box, draw };
}

export const phasesView = {
  id: "phases",
  title: "Phases",
  needs: ["phase_spectrum/query", "phase_spectrum/key"],
  words: (page) => `Amplitude of redefined queries and keys by frequency and by the phase that the head turns them by. A head that looks t tokens on has its energy on the line that appears when offset t is marked. Colours end at the largest amplitude beyond frequency 0.${leftOut(page)}`,
  async draw(box, context) {
    const sides = [];
    for (const side of ["query", "key"]) {
      const slice = await context.arrays.slice(`phase_spectrum/${side}`, context.at);
      if (slice) sides.push(phaseMap(side, slice, { ...context, length: Number(context.page.provenance.get("wave_length")) || 0 }));
    }
    const whole = context.arrays.said["phase_spectrum/query"].whole;
    const row = element("div", { class: "pair" }, ...sides.map((side) => side.box));
    box.replaceChildren(row);
    if (!whole) box.append(element("p", { class: "words" }, "The lowest 33 frequencies of more."));
    const ends = sides.map((side) => side.draw(Math.max(180, side.box.clientWidth)));
    const mark = () => ends.forEach((end) => end());
    mark();
    return mark;
  },
};
