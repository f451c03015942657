// Axes of drawings: where numbers stand, and which of them are written.

import { shape } from "./elements.js";
import { numberText } from "./format.js";

// A function that gives the place of a number between two places; its .invert gives the number at a place.
export function scale([low, high], [from, to]) {
  const span = high - low || 1;
  const place = (value) => from + ((value - low) / span) * (to - from);
  place.invert = (at) => low + ((at - from) / (to - from)) * span;
  return Object.assign(place, { domain: [low, high], range: [from, to] });
}

// About `count` round numbers between low and high.
export function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

// The numbers to write at an axis, about `apart` pixels from one to the next.
export function ticksOf(axis, apart) {
  const [low, high] = axis.domain;
  return ticks(low, high, Math.abs(axis.range[1] - axis.range[0]) / apart);
}

// Draws both axes: numbers below and at the left, titles at their ends.
// @param side  { x, y, xTicks, yTicks, xText, yText: how ticks are written, xTitle, yTitle, lines: a grid }
export function axes(svg, side) {
  const { x, y, xText = numberText, yText = numberText } = side;
  const [left, right] = [Math.min(...x.range), Math.max(...x.range)];
  const [top, bottom] = [Math.min(...y.range), Math.max(...y.range)];
  const line = (tick, ends) =>
    svg.append(shape("line", { class: side.lines && tick === 0 ? "tick zero" : "tick", ...ends }));
  for (const tick of side.xTicks ?? ticksOf(x, 60)) {
    line(tick, { x1: x(tick), x2: x(tick), y1: side.lines ? top : bottom, y2: bottom + 4 });
    svg.append(shape("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, xText(tick)));
  }
  for (const tick of side.yTicks ?? ticksOf(y, 40)) {
    line(tick, { x1: left - 4, x2: side.lines ? right : left, y1: y(tick), y2: y(tick) });
    svg.append(shape("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, yText(tick)));
  }
  svg.append(shape("text", { x: right, y: bottom + 32, "text-anchor": "end" }, side.xTitle));
  svg.append(shape("text", { x: 2, y: 10 }, side.yTitle));
}
