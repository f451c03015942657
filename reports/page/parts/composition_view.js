// What a head's attention is made of: its bits in four parts, and the hypotheses that explain two of them.

import { scrolled, shareCell, textTable, words } from "./elements.js";
import { numberText } from "./format.js";

const partMeanings = {
  sink: "which special key, or text at all",
  position: "where query and key stand",
  word: "words that draw attention from every query",
  match: "what this query finds in these keys",
};
const explainedPart = { "the word itself": "word" }; // all other hypotheses are about match
const leastGain = 0.02; // bit: smaller gains have no row

// Rows { name, says, value, lower, upper, of }: parts first, then the hypotheses with a gain.
export function compositionRows({ measures }, place) {
  const value = (name, part) => measures.value(`attention_bits/${name}:${part}`, place);
  const row = (kind, name, says, of) => ({ name, says, of, value: value(kind, name),
    lower: value(`${kind}_lower`, name), upper: value(`${kind}_upper`, name) });
  const made = Object.entries(partMeanings).map(([name, says]) => row("part", name, says, ""));
  const gains = [...measures.all.values()].filter(({ name }) => name === "attention_bits/gain")
    .map(({ part }) => row("gain", part, "", explainedPart[part] ?? "match"))
    .filter((one) => one.value >= leastGain);
  return [...made, ...gains].filter((one) => one.value !== null);
}

const intervalText = ({ lower, upper }) => (lower === null || upper === null ? ""
  : `${numberText(lower, 2)} to ${numberText(upper, 2)}`);

export const compositionView = {
  id: "parts",
  title: "What its attention is made of",
  hasNothing: (page) => !page.measures.get("bits"),
  words: "How far the attention of a query is from uniform attention, in bits: four parts that add up to it, "
    + "each with its interval over documents; below, what explains word and match on documents that it was "
    + "not fitted on.",
  async show({ page, place, name }) {
    const bits = page.measures.value("bits", place);
    if (bits === null) return [words("Its attention is undefined: no query sees enough text.")];
    const rows = compositionRows(page, place);
    const column = (header, cell) => ({ header, cells: rows.map(cell) });
    const table = textTable([
      column("", (one) => [one.of ? `${one.of}: ${one.name}` : one.name, words(one.says)]),
      column("bits", (one) => numberText(one.value, 2)), column("interval", intervalText),
      column("of all", (one) => shareCell(one.value / bits, one.of ? "before" : "after"))], "shares");
    return [scrolled(`Parts of ${name}`, table)];
  },
};
