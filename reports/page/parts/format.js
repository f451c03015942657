// How numbers, offsets and heads are written.

const minus = "\u2212";
export const undefinedMark = "\u2013";

// A number to this many digits, without trailing zeros; with an exponent only if it is tiny or huge.
export function numberText(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return undefinedMark;
  const size = Math.abs(value);
  const far = size !== 0 && (size < 1e-4 || size >= 1e6);
  let text = far ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toString();
  if (text.includes("e")) text = text.replace(/\.?0+e/, "e").replace("e+", "e");
  return text.replaceAll("-", minus);
}

// An offset with its sign: +1 is the next token.
export function offsetText(offset) {
  if (offset === null || offset === undefined || Number.isNaN(offset)) return undefinedMark;
  return (offset > 0 ? "+" : "") + numberText(offset, Number.isInteger(offset) ? 7 : 3);
}

export function percentText(share) {
  if (!Number.isFinite(share)) return undefinedMark;
  return share > 0 && share < 1e-4 ? "< 0.01\u00a0%" : `${numberText(100 * share, 2)}\u00a0%`;
}

// A value of a measure, with its unit.
export function valueText(measure, value) {
  if (value === null || value === undefined || value === "") return undefinedMark;
  if (measure.kind === "flag") return measure.meanings[value];
  if (measure.kind === "text") return value;
  if (measure.kind === "offset") return offsetText(value);
  const unit = measure.unit === "token" ? "tokens" : measure.unit;
  return numberText(value) + (unit === "1" || unit === "" ? "" : `\u00a0${unit}`);
}

// The key by which a cell is sorted: the number that it begins with, or its text; empty cells come last.
export function sortKey(cell) {
  const text = String(cell).replaceAll(minus, "-").trim();
  if (text === "" || text === undefinedMark || text === "-") return { rank: 2, number: 0, text };
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(text);
  return number ? { rank: 0, number: Number(number[0]), text } : { rank: 1, number: 0, text };
}

export function compareKeys(a, b) {
  return a.rank - b.rank || a.number - b.number || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
}

export function headName(layer, head) {
  return `L${layer}H${head}`;
}

// "L0H0 to L5H11": the first head and the last.
export function headSpan({ heads }) {
  return `${heads[0].name} to ${heads.at(-1).name}`;
}

// The { layer, head } of "L7H8"; null if the name is not that of a head.
export function parseHead(name) {
  const found = /^L(0|[1-9]\d*)H(0|[1-9]\d*)$/.exec(name);
  return found ? { layer: Number(found[1]), head: Number(found[2]) } : null;
}
