// Where a head looks, measured, and where each way of predicting says it would.

import { scrolled, textTable } from "./elements.js";
import { offsetText } from "./format.js";

// Measures of each row: offset, what became of it, groups of its interval; the first in the result counts.
const agreement = (name) => [`offset_agreement/predicted:${name}`, `offset_agreement/verdict:${name}`];
const measuredLabel = "measured over all pairs";
const predictionKinds = [
  { label: "planted", offset: ["planted/offset:"], word: ["planted/kind:"] },
  { label: measuredLabel, offset: ["measured_offset/offset:all", "offset_agreement/measured:"],
    word: ["measured_offset/status:all"] },
  { label: "by position", offset: [agreement("position")[0], "head_account/dealt_offset:position"],
    word: [agreement("position")[1]] },
  { label: "by weights alone", offset: [agreement("weights")[0], "position_atlas/predicted_offset:"],
    word: [agreement("weights")[1], "position_atlas/status:"] },
  { label: "by random words", offset: ["word_atlas/predicted_offset:"], word: ["word_atlas/status:"] },
  { label: "by phases", offset: [agreement("phases")[0], "rotary_wave/predicted_offset:"],
    word: [agreement("phases")[1], "rotary_wave/status:"], ends: ["rotary_wave", "phase_delay"] },
];

// Rows of one head; a prediction that is undefined for every head has none.
export function predictionRows(measures, place) {
  const first = (names) => names.find((name) => measures.get(name));
  const isKnown = ({ label, offset }) => first(offset)
    && (label === measuredLabel || measures.get(first(offset)).values.some((one) => one !== null));
  return predictionKinds.filter(isKnown).map(({ label, offset, word, ends = [] }) => {
    const words = measures.word(first(word), place);
    const at = measures.value(first(offset), place) ?? (words === "self" ? 0 : null);
    const end = (which) => (at === null ? null
      : measures.value(first(ends.map((group) => `${group}/${which}:`)), place));
    return { label, offset: at, low: end("lower"), high: end("upper"), word: words };
  });
}

export const predictionsView = {
  id: "predictions",
  title: "Predicted and measured",
  more: true,
  hasNothing: ({ measures }) => predictionRows(measures, 0).length < 2,
  words: "Where the head looks over all pairs, with the first token, and where each way of predicting says "
    + "it would. A dash: no offset.",
  async show({ page, place, name }) {
    const rows = predictionRows(page.measures, place);
    const interval = ({ low, high }) => (low === null || high === null ? ""
      : `${offsetText(low)} to ${offsetText(high)}`);
    const intervals = { header: "interval", right: true, cells: rows.map(interval) };
    return [scrolled(`Offsets of ${name}`, textTable([
      { header: "what", cells: rows.map(({ label }) => label) },
      { header: "offset", right: true, cells: rows.map(({ offset }) => offsetText(offset)) },
      ...(intervals.cells.some(Boolean) ? [intervals] : []),
      { header: "status", cells: rows.map(({ word }) => word) },
    ]))];
  },
};
