// The filter of heads: every word stands somewhere in the row.

const plainText = (text) => String(text).toLowerCase().replaceAll("\u2212", "-").replaceAll("_", " ");

// Whether a number stands in a cell by itself, or a word anywhere in it.
function stands(cell, word) {
  if (!/^[+-]?\d/.test(word)) return cell.includes(word);
  return cell === word || cell.split(/[\s()]+/).includes(word);
}

// @param text   words; "_" stands for a space
// @param cells  texts of the head's row
export function passes(text, cells) {
  return text.trim().split(/\s+/).filter(Boolean)
    .every((word) => cells.some((cell) => stands(plainText(cell), plainText(word))));
}
