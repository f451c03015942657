// How numbers and offsets are written.

const minus = "\u2212";
export const undefinedMark = "\u2013";

// To so many digits, without a tail of zeros; exponents only where a number is tiny or huge.
export function numberText(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return undefinedMark;
  const size = Math.abs(value);
  let text = size !== 0 && (size < 1e-4 || size >= 1e6) ? value.toExponential(digits - 1) : Number(value.toPrecision(digits)).toString();
  if (text.includes("e")) text = text.replace(/\.?0+e/, "e").replace("e+", "e");
  return text.replaceAll("-", minus);
}

// With the sign that says where: +1 is the next token.
export function offsetText(offset) {
  if (offset === null || offset === undefined || Number.isNaN(offset)) return undefinedMark;
  return (offset > 0 ? "+" : "") + (Number.isInteger(offset) ? String(offset).replace("-", minus) : numberText(offset, 3));
}

// A number with its unit, as the kind of a measure has it.
export function valueText(measure, value) {
  if (value === null || value === undefined) return undefinedMark;
  if (measure.kind === "flag") return measure.meanings[value];
  if (measure.kind === "offset") return offsetText(value);
  return numberText(value) + unitText(measure.unit);
}

export function unitText(unit) {
  return unit === "1" || unit === "" ? "" : `\u00a0${unit}`;
}

// "measured_offset/weight" as words, with the part that it is of.
export function measureName(measure) {
  const words = measure.name.replace("/", ": ").replaceAll("_", " ");
  return measure.part ? `${words} (${measure.part.replaceAll("_", " ")})` : words;
}

// What a cell of a table is sorted by: a number where it begins with one, else its text; what says nothing stands last.
export function sortKey(cell) {
  const text = String(cell).replaceAll(minus, "-").trim();
  if (text === "" || text === undefinedMark || text === "-") return { rank: 2, number: 0, text };
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(text);
  return number ? { rank: 0, number: Number(number[0]), text } : { rank: 1, number: 0, text };
}

export function compareKeys(a, b) {
  return a.rank - b.rank || a.number - b.number || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
}

// Letters by which a few words can be told apart: initials of several words, else as many letters as it takes.
export function shortWords(words) {
  const short = (word, letters) => {
    const parts = word.split(/[\s_]+/);
    return parts.length > 1 ? parts.map((part) => part[0]).join("").slice(0, letters + 1) : word.slice(0, letters);
  };
  for (let letters = 1; letters < 3; ++letters) {
    const all = words.map((word) => short(word, letters));
    if (new Set(all).size === all.length) return all;
  }
  return words.map((word) => short(word, 3));
}

// "L7H8" and back; null where it is none.
export function headName(layer, head) {
  return `L${layer}H${head}`;
}

export function parseHead(name) {
  const found = /^L(0|[1-9]\d*)H(0|[1-9]\d*)$/.exec(name);
  return found ? { layer: Number(found[1]), head: Number(found[2]) } : null;
}

// What the chain of waves knows nothing of, after a sentence about it.
export function leftOut({ provenance }) {
  const term = provenance.get("position_term");
  return term ? ` Queries and keys are those before the position term (${term}), which is left out: what it shifts is not seen here.` : "";
}
