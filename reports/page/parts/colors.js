// Colours of numbers and words. Amounts go from the paper through one blue to the darkest (in the dark: the lightest) of it; what has
// a sign goes two ways, blue below and orange above; words have Okabe and Ito's colours, and their letter as a second code.

const ramps = {
  light: {
    amount: ["#f6f5f1", "#d4e2ec", "#9cc4dd", "#5a9dc8", "#1f74ac", "#084d82", "#06294f"],
    below: ["#f6f5f1", "#cfe0ec", "#8fbbd9", "#3f87b9", "#0b5389"],
    above: ["#f6f5f1", "#f6dcc8", "#eeb488", "#d9803e", "#a34f0c"],
  },
  dark: {
    amount: ["#20252a", "#1f3d52", "#1f5f86", "#2c86b8", "#5eb0dc", "#a3d6f0", "#eaf7ff"],
    below: ["#20252a", "#24435a", "#2d6d98", "#55a3d4", "#a9d8f5"],
    above: ["#20252a", "#513722", "#8f5726", "#d18541", "#ffc791"],
  },
};
export const wordColors = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#9a8c2f", "#7a5c99"];

// Words that say that there is nothing are grey, whatever their number.
const nothing = /^(other|flat|nothing|weak|chance|none|unpredicted|no preference|no preferred offset|undefined|ordinary)$/;
export function wordColor(meanings, value) {
  return nothing.test(meanings[value]) ? "#8b9096" : wordColors[value % wordColors.length];
}

export function isDark() {
  return typeof matchMedia === "function" && matchMedia("(prefers-color-scheme: dark)").matches;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// 256 colours from the first of a ramp to its last, as [red, green, blue].
function table(ramp) {
  const stops = ramp.map(rgb);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((part, k) => Math.round(part + (stops[low + 1][k] - part) * (at - low)));
  });
}

const tables = new Map();
export function colorTable(name, dark) {
  const key = `${dark ? "dark" : "light"} ${name}`;
  if (!tables.has(key)) tables.set(key, table(ramps[dark ? "dark" : "light"][name]));
  return tables.get(key);
}

// The colour of a share of the largest, 0 to 1.
export function amountColor(share, name = "amount", dark = isDark()) {
  return colorTable(name, dark)[Math.round(255 * Math.max(0, Math.min(1, share)))];
}

export function css(color) {
  return `rgb(${color.join(" ")})`;
}

// Whether dark letters can be read on it.
export function isLight(color) {
  return 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] > 140;
}

// How a measure is coloured: { color(value) -> [r, g, b] or null, kind, low, high }.
export function measureColors(measure, dark = isDark()) {
  const values = measure.values.filter((value) => value !== null);
  if (measure.kind === "flag") return { kind: "flag", color: (value) => (value === null ? null : rgb(wordColor(measure.meanings, value))) };
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const reach = Math.max(-low, high) || 1;
  // Offsets of a few tokens are told apart though others are far.
  const share = measure.kind === "offset" ? (size) => Math.log1p(size) / Math.log1p(reach) : (size) => size / reach;
  if (low < 0 || measure.kind === "offset")
    return { kind: "signed", low: -reach, high: reach, share, color: (value) => (value === null ? null : amountColor(share(Math.abs(value)), value < 0 ? "below" : "above", dark)) };
  return { kind: "amount", low: 0, high: reach, share, color: (value) => (value === null ? null : amountColor(value / reach, "amount", dark)) };
}
