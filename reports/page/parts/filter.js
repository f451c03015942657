// The filter of heads: "part=match bits>2" are conditions on measures, other words stand in the row.

const plainText = (text) => String(text).toLowerCase().replaceAll("\u2212", "-").replaceAll("_", " ");

// Whether a number stands in a cell by itself, or a word anywhere in it.
function stands(cell, word) {
  if (!/^[+-]?\d/.test(word)) return cell.includes(word);
  return cell === word || cell.split(/[\s()]+/).includes(word);
}

// Numbers are equal at the digits that are typed, words by their beginning. Undefined meets "!=" alone.
function meets(found, sign, asked) {
  const text = plainText(asked);
  if (typeof found !== "number") {
    const begins = found != null && plainText(found).startsWith(text);
    return sign === "=" ? begins : sign === "!=" && !begins;
  }
  const digits = /\.(\d*)/.exec(text)?.[1].length ?? 0;
  const same = Number(found.toFixed(digits)) === Number(text);
  if (sign[0] === "<") return found < text || (same && sign === "<=");
  if (sign[0] === ">") return found > text || (same && sign === ">=");
  return same === (sign === "=");
}

// @param text     words and conditions; "_" stands for a space
// @param cells    texts of the head's row
// @param valueOf  (name) -> number or word; null where undefined; undefined if there is no such measure
export function passes(text, cells, valueOf) {
  return text.trim().split(/\s+/).filter(Boolean).every((term) => {
    const [, name, sign, asked] = /^(\w+)(!=|>=|<=|=|>|<)(.+)$/.exec(term) ?? [];
    const found = name && valueOf(name.toLowerCase());
    if (name) return found !== undefined && meets(found, sign, asked);
    return cells.some((cell) => stands(plainText(cell), plainText(term)));
  });
}
