// The delay that each frequency asks for, as the phases alone and as queries and keys have it.

import { choice, element, numbersBelow } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { drawAxis, followKeys } from "./plot.js";
import { hideTip, say, showTip } from "./tip.js";

const routes = [["delay_spectrum", "queries and keys"], ["phase_delay", "phases alone"]];

export const delaysView = {
  id: "delays",
  title: "Delays by frequency",
  needs: ["delay_spectrum/by_frequency", "phase_delay/by_frequency"],
  words: "The offset that each frequency asks for by itself; larger dots carry more of the head's energy. Frequencies that agree make a level row.",
  async draw(box, context) {
    const there = routes.filter(([group]) => context.arrays.has(`${group}/by_frequency`));
    const drawing = element("div", { class: "drawing", "aria-label": "Delays: left and right go through frequencies" });
    let ends = () => {};
    const show = async (group) => {
      ends = await this.drawRoute(drawing, group, context);
    };
    const controls = element("div", { class: "controls" }, choice("By", there, there[0][0], show));
    box.replaceChildren(controls, drawing);
    await show(there[0][0]);
    const slice = await context.arrays.slice(`${there[0][0]}/by_frequency`, context.at);
    box.append(numbersBelow(() => [{ header: "frequency (cycles/T)", right: true, cells: slice.axes[0].values }, { header: "offset", right: true, cells: Array.from(slice.values, (value) => numberText(value)) }]));
    return () => ends();
  },
  async drawRoute(drawing, group, { arrays, at, name, store }) {
    const slice = await arrays.slice(`${group}/by_frequency`, at);
    const real = await arrays.slice(`${group}/cross_real`, at);
    const imaginary = await arrays.slice(`${group}/cross_imaginary`, at);
    const frequencies = slice.axes[0].values;
    const energy = frequencies.map((_, i) => (real && imaginary ? Math.hypot(real.values[i], imaginary.values[i]) : 1));
    const most = Math.max(...energy.slice(1)) || 1;
    const dots = frequencies.map((frequency, i) => ({ frequency, i, offset: slice.values[i], share: Math.sqrt(energy[i] / most) })).filter((dot) => dot.frequency > 0 && Number.isFinite(dot.offset) && dot.share > 0.05);
    const width = Math.max(220, drawing.clientWidth);
    const height = 240;
    const margin = { left: 52, right: 12, top: 18, bottom: 36 };
    const reach = Math.max(4, d3.quantile(dots.map((dot) => Math.abs(dot.offset)).sort(d3.ascending), 0.95) ?? 4);
    const x = d3.scaleLinear([0, frequencies[frequencies.length - 1]], [margin.left, width - margin.right]);
    const y = d3.scaleLinear([-reach, reach], [height - margin.bottom, margin.top]).nice(5).clamp(true);
    const svg = d3.create("svg").attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", `Delays of ${name} by frequency`);
    drawAxis(svg.append("g").attr("transform", `translate(0 ${height - margin.bottom})`), d3.axisBottom(x).ticks(5).tickSize(4));
    const levels = drawAxis(svg.append("g").attr("transform", `translate(${margin.left} 0)`), d3.axisLeft(y).ticks(5).tickSize(-(width - margin.left - margin.right)).tickFormat(offsetText));
    levels.selectAll(".tick line").attr("class", (value) => (value === 0 ? "zero" : ""));
    svg.append("text").attr("x", 2).attr("y", 10).text("offset (tokens)");
    svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text("frequency (cycles/T)");
    svg.append("g").selectAll("circle").data(dots).join("circle").attr("cx", (dot) => x(dot.frequency)).attr("cy", (dot) => y(dot.offset)).attr("r", (dot) => 1 + 4 * dot.share).style("fill", "var(--accent)").attr("fill-opacity", 0.75);
    const level = svg.append("line").attr("class", "marker").attr("x1", margin.left).attr("x2", width - margin.right).attr("visibility", "hidden");
    const node = svg.node();
    let here = 0;
    const point = (i, event) => {
      const dot = dots[i];
      if (!dot) return;
      store.mark({ offset: Math.round(dot.offset) });
      const lines = [`${numberText(dot.frequency)} cycles/T`, `asks for offset ${offsetText(Number(dot.offset.toPrecision(3)))}`];
      const box = node.getBoundingClientRect();
      showTip(lines, event?.clientX ?? box.left + x(dot.frequency), event?.clientY ?? box.top + y(dot.offset));
      if (!event) say(lines.join(" "));
      here = i;
    };
    const leave = () => {
      hideTip();
      store.mark({});
    };
    node.addEventListener("pointermove", (event) => {
      const box = node.getBoundingClientRect();
      point(d3.minIndex(dots, (dot) => Math.hypot(x(dot.frequency) - event.clientX + box.left, y(dot.offset) - event.clientY + box.top)), event);
    });
    node.addEventListener("pointerleave", leave);
    drawing.replaceChildren(node);
    followKeys(drawing, dots.length, () => here, point, leave);
    const mark = () => {
      const offset = store.offset();
      const shown = offset !== null && Math.abs(offset) <= y.domain()[1];
      level.attr("visibility", shown ? null : "hidden");
      if (shown) level.attr("y1", y(offset)).attr("y2", y(offset));
    };
    mark();
    return mark;
  },
};
