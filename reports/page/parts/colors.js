// Colours of numbers and words. Amounts go from the paper to the darkest blue. Signed numbers go two ways,
// blue below zero and orange above. Words have six of Okabe and Ito's colours, then two of ours.

import { shape } from "./elements.js";
import { numberText } from "./format.js";

const ramps = {
  amount: ["#f6f5f1", "#d4e2ec", "#9cc4dd", "#5a9dc8", "#1f74ac", "#084d82", "#06294f"],
  below: ["#f6f5f1", "#cfe0ec", "#8fbbd9", "#3f87b9", "#0b5389"],
  above: ["#f6f5f1", "#f6dcc8", "#eeb488", "#d9803e", "#a34f0c"],
};
const wordColors = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#9a8c2f", "#7a5c99"];

// Words for "nothing found" are grey.
const nothing = new Set(["other", "flat", "nothing", "weak", "chance", "none", "unpredicted", "no preference",
  "no preferred offset", "undefined", "unknown", "ordinary"]);
export function wordColor(meanings, value) {
  return nothing.has(meanings[value]) ? "#8b9096" : wordColors[value % wordColors.length];
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// The 256 colours of a ramp, as [red, green, blue].
function rampColors(ramp) {
  const stops = ramp.map(rgb);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((part, k) => Math.round(part + (stops[low + 1][k] - part) * (at - low)));
  });
}

const shades = Object.fromEntries(Object.entries(ramps).map(([name, ramp]) => [name, rampColors(ramp)]));

// The colour of a share, 0 to 1, of the largest amount.
export function amountColor(share, name = "amount") {
  return shades[name][Math.round(255 * Math.max(0, Math.min(1, share)))];
}

export function css(color) {
  return `rgb(${color.join(" ")})`;
}

// The place of a weight along its colours, 0 to 1; steps are finer for small weights.
export function weightShare(weight, top) {
  return Math.sqrt(Math.min(1, Math.max(0, weight) / top));
}

// How a measure is coloured: { kind, high, share(value) from -1 to 1, color(value) -> css text or null }.
export function measureColors(measure) {
  const { kind, values, meanings } = measure;
  const wordOf = (value) => (value === null ? null : wordColor(meanings, value));
  if (kind === "flag") return { kind, color: wordOf };
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
  // A share that is slightly below zero is noise, not a direction.
  const signed = kind === "offset" || -low > 0.1 * high;
  const reach = (signed ? Math.max(-low, high) : high) || 1;
  const size = (value) => (kind === "offset" ? Math.log1p(value) / Math.log1p(reach) : value / reach);
  const share = (value) => (signed ? Math.sign(value) * size(Math.abs(value)) : size(Math.max(0, value)));
  const ramp = (value) => (!signed ? "amount" : value < 0 ? "below" : "above");
  const color = (value) => (value === null ? null
    : css(amountColor(Math.abs(share(value)), ramp(value))));
  return { kind: signed ? "signed" : "amount", high: reach, share, color };
}

// A legend of colours: a strip of them with numbers below.
// @param ticks  [share from -1 or 0 to 1, text]
export function colorBar(label, ticks, colorOf) {
  const signed = ticks[0][0] < 0;
  const at = (share) => 20 + 160 * (signed ? (share + 1) / 2 : share);
  const texts =
    ticks.map(([share, text]) => shape("text", { x: at(share), y: 22, "text-anchor": "middle" }, text));
  const svg = shape("svg", { class: "bar", width: 320, height: 26, role: "img" }, ...texts);
  svg.setAttribute("aria-label", `${label}: colours from ${ticks[0][1]} to ${ticks[ticks.length - 1][1]}`);
  for (let i = 0; i < 80; ++i) {
    const share = signed ? i / 40 - 1 : i / 80;
    svg.append(shape("rect", { x: at(share), width: 2.5, height: 8, style: `fill: ${css(colorOf(share))}` }));
  }
  svg.append(shape("text", { x: 196, y: 9 }, label));
  return svg;
}

// The legend for weights from 0 to the top.
export function rampBar(what, top) {
  const ticks = [[0, "0"], [0.5, numberText(top / 2, 2)], [1, numberText(top, 2)]];
  return colorBar(what, ticks, (share) => amountColor(weightShare(share, 1)));
}
