// The filter of heads: "offset=-1 weight>0.1" are conditions; other words must stand somewhere in the row.

const plainText = (text) => String(text).toLowerCase().replaceAll("\u2212", "-").replaceAll("_", " ");

// Terms of a filter: { name, sign, value } or { word }.
export function filterTerms(text) {
  return text.trim().split(/\s+/).filter(Boolean).map((term) => {
    const found = /^([^=<>!]+)(!=|>=|<=|=|>|<)(.*)$/.exec(term);
    return found ? { name: found[1].toLowerCase(), sign: found[2], value: found[3] } : { word: term };
  });
}

// Compares numbers at the digits that were typed, and words by their beginning.
function meets(found, sign, asked) {
  const text = plainText(asked);
  const number = Number(text);
  if (typeof found === "number" && text.trim() !== "" && Number.isFinite(number)) {
    const digits = (/\.(\d*)/.exec(text) ?? ["", ""])[1].length;
    const same = Math.abs(found - number) < (digits ? 0.5 * 10 ** -digits : 1e-9);
    if (sign.startsWith(">")) return found > number || (same && sign === ">=");
    if (sign.startsWith("<")) return found < number || (same && sign === "<=");
    return same === (sign === "=");
  }
  const begins = plainText(found).startsWith(text);
  return sign === "=" ? begins : sign === "!=" ? !begins : false;
}

// Whether a number stands alone in a cell, or a word anywhere in it.
function stands(cell, word) {
  if (!/^[+-]?\d/.test(word)) return cell.includes(word);
  return cell === word || cell.split(/[\s()]+/).includes(word);
}

// @param valueOf  (name) -> number or word, null if undefined; undefined if there is no such name
// @param cells    texts of the head's row
export function passes(terms, valueOf, cells) {
  return terms.every((term) => {
    if (term.word) return cells.some((cell) => stands(plainText(cell), plainText(term.word)));
    const found = valueOf(term.name);
    if (term.value === "" || found === undefined) return true;
    return found === null ? term.sign === "!=" : meets(found, term.sign, term.value);
  });
}
