// Lines over a horizontal axis of numbers, linked: what is pointed at is marked, and other views' marks are shown.

import { element } from "./elements.js";
import { numberText } from "./format.js";
import { hideTip, say, showTip } from "./tip.js";

export const lineStyles = [
  { color: "var(--line-1)", dash: "" },
  { color: "var(--line-2)", dash: "6 3" },
  { color: "var(--line-3)", dash: "2 2.5" },
  { color: "var(--line-4)", dash: "8 3 2 3" },
  { color: "var(--soft)", dash: "1 3" },
  { color: "var(--line-1)", dash: "3 3" },
];

// Which line is which, by colour and by dashes.
export function lineKey(series) {
  const key = element("div", { class: "key" });
  series.forEach((one, i) => {
    const { color, dash } = lineStyles[i % lineStyles.length];
    const entry = element("span");
    const svg = d3.create("svg").attr("width", 26).attr("height", 6).attr("aria-hidden", "true");
    svg.append("line").attr("x2", 26).attr("y1", 3).attr("y2", 3).style("stroke", color).attr("stroke-width", 2).attr("stroke-dasharray", dash);
    entry.append(svg.node(), one.name);
    key.append(entry);
  });
  return key;
}

export function drawAxis(group, axis) {
  group.attr("class", "axis").call(axis);
  group.select(".domain").remove();
  group.selectAll("text").attr("font-size", null).attr("font-family", null);
  return group;
}

// About one tick for so many pixels.
export function ticksFor(pixels, each) {
  return Math.max(2, Math.floor(pixels / each));
}

// A few levels: of logarithms powers of ten alone, as long as there are two.
function levelsOf(y, log) {
  const ticks = y.ticks(4);
  const tens = ticks.filter((value) => Number.isInteger(Math.round(1e6 * Math.log10(value)) / 1e6));
  return !log ? ticks : tens.length > 1 ? tens : ticks.filter((_, i) => i % Math.ceil(ticks.length / 4) === 0);
}

const minusTick = (format) => (value) => format(value).replaceAll("-", "\u2212");

// @param plot  { x: numbers, series: [{ name, values }], xTitle, yTitle, height, log, label, describe(i) -> lines,
//               marks(i) -> marks, placeOf(marks) -> index or null }
export function linePlot(box, plot, store) {
  const width = Math.max(220, box.clientWidth);
  const height = plot.height ?? 230;
  const margin = { left: 52, right: 14, top: 18, bottom: 36 };
  const finite = plot.series.flatMap((one) => Array.from(one.values).filter((value) => Number.isFinite(value) && (!plot.log || value > 0)));
  const low = plot.log ? Math.min(...finite) : Math.min(0, ...finite);
  const high = finite.length ? Math.max(...finite) : 1;
  const x = d3.scaleLinear([plot.x[0], plot.x[plot.x.length - 1]], [margin.left, width - margin.right]);
  const scale = plot.log ? d3.scaleLog() : d3.scaleLinear();
  const y = scale.domain([low, high === low ? low + 1 : high]).range([height - margin.bottom, margin.top]);
  if (!plot.log) y.nice(4);
  const svg = d3.create("svg").attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", plot.label);
  const xAxis = drawAxis(svg.append("g").attr("transform", `translate(0 ${height - margin.bottom})`), d3.axisBottom(x).tickValues(x.ticks(ticksFor(width, 70)).filter(Number.isInteger)).tickSize(-(height - margin.bottom - margin.top)).tickFormat(minusTick(d3.format("~g"))));
  xAxis.selectAll(".tick line").attr("class", (value) => (value === 0 ? "zero" : ""));
  drawAxis(svg.append("g").attr("transform", `translate(${margin.left} 0)`), d3.axisLeft(y).tickValues(levelsOf(y, plot.log)).tickSize(-4).tickFormat(minusTick(d3.format("~g"))));
  svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text(plot.xTitle);
  svg.append("text").attr("x", 2).attr("y", 10).text(plot.yTitle);
  const line = d3.line().x((_, i) => x(plot.x[i])).y((value) => y(value)).defined((value) => Number.isFinite(value) && (!plot.log || value > 0));
  plot.series.forEach((one, i) => {
    const { color, dash } = lineStyles[i % lineStyles.length];
    svg.append("path").attr("class", "series").style("stroke", color).attr("stroke-dasharray", dash).attr("d", line(Array.from(one.values)));
  });
  const marker = svg.append("g").attr("visibility", "hidden");
  marker.append("line").attr("class", "marker").attr("y1", margin.top).attr("y2", height - margin.bottom);
  const dots = plot.series.map(() => marker.append("circle").attr("class", "marker-fill").attr("r", 3));

  const show = (i) => {
    marker.attr("visibility", i === null ? "hidden" : null);
    if (i === null) return;
    marker.select("line").attr("x1", x(plot.x[i])).attr("x2", x(plot.x[i]));
    plot.series.forEach((one, k) => {
      const value = one.values[i];
      const there = Number.isFinite(value) && (!plot.log || value > 0);
      dots[k].attr("visibility", there ? null : "hidden");
      if (there) dots[k].attr("cx", x(plot.x[i])).attr("cy", y(value));
    });
  };
  const wordsAt = (i) => plot.describe?.(i) ?? [`${plot.xTitle} ${numberText(plot.x[i])}`, ...plot.series.map((one) => `${one.name}: ${numberText(one.values[i], 4)}`)];
  let here = null;
  const point = (i, event) => {
    here = i;
    if (plot.marks) store.mark(plot.marks(i));
    else show(i);
    if (event) showTip(wordsAt(i), event.clientX, event.clientY);
    else {
      const at = box.getBoundingClientRect();
      showTip(wordsAt(i), at.left + x(plot.x[i]), at.top + margin.top);
      say(wordsAt(i).join(", "));
    }
  };
  const leave = () => {
    hideTip();
    if (plot.marks) store.mark({});
    else show(null);
  };
  const node = svg.node();
  node.addEventListener("pointermove", (event) => {
    const at = x.invert(event.clientX - node.getBoundingClientRect().left);
    point(nearest(plot.x, at), event);
  });
  node.addEventListener("pointerleave", leave);
  if (plot.marks) node.addEventListener("click", () => {
    const { offset } = plot.marks(here);
    if (offset !== undefined) store.change({ offset: store.state.offset === String(offset) ? "" : String(offset) });
  });
  box.replaceChildren(node);
  followKeys(box, plot.x.length, () => here ?? (plot.placeOf?.(store) ?? Math.floor(plot.x.length / 2)), point, leave);
  const mark = () => show(plot.placeOf ? plot.placeOf(store) : null);
  mark();
  return mark;
}

function nearest(values, at) {
  const i = d3.bisectLeft(values, at);
  return i > 0 && (i === values.length || at - values[i - 1] < values[i] - at) ? i - 1 : i;
}

// Left and right, Home and End go through places; leaving the drawing ends it.
export function followKeys(box, count, begin, point, leave) {
  box.tabIndex = 0;
  box.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step !== undefined ? begin() + step : event.key === "Home" ? 0 : event.key === "End" ? count - 1 : null;
    if (event.key === "Escape") leave();
    if (next === null) return;
    event.preventDefault();
    point(Math.max(0, Math.min(count - 1, next)), null);
  };
  box.onblur = leave;
}
