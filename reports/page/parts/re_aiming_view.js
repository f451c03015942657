// Heads whose keys were re-aimed by u tokens: what happened to one of them, and its profile before and after.

import { choice, words } from "./elements.js";
import { headName, numberText, offsetText, parseHead } from "./format.js";
import { offsetLines } from "./lines.js";
import { drawParts } from "./plots.js";

const reAimedProfile = "re_aiming/profile";
const reAimedOffset = "re_aiming/offset";
const nearReAimed = 16; // offsets to each side of both peaks

// What happened in one sentence.
// @param before  { offset, weight } of the model as it is; NaN: the head has no preferred offset
// @param after   the same with the keys re-aimed by u tokens
export function reAimedSentence(name, u, before, after) {
  const tokens = Math.abs(u) === 1 ? "token" : "tokens";
  const done = `With the keys of ${name} re-aimed by u = ${offsetText(u)} ${tokens}`;
  const weights = `weight ${numberText(before.weight)} \u2192 ${numberText(after.weight)}`;
  if (!Number.isFinite(before.offset))
    return `${done}, attention goes ${Number.isFinite(after.offset) ? `to offset ${offsetText(after.offset)}`
      : "nowhere in particular"}: the head had no preferred offset before.`;
  const asked = `offset ${offsetText(before.offset)}`;
  if (!Number.isFinite(after.offset))
    return `${done}, the head loses its preference for ${asked}, where its weight was `
      + `${numberText(before.weight)}.`;
  const moved = `${done}, attention goes from ${asked} to ${offsetText(after.offset)} (${weights})`;
  const expected = before.offset - u;
  return after.offset === expected ? `${moved}: it moves by \u2212u, as positions ask for.`
    : `${moved}; positions alone would ask for ${offsetText(expected)}.`;
}

// Offsets around both peaks and 0.
export function reAimedSpan(offsets, peaks) {
  const known = [0, ...peaks.filter(Number.isFinite)];
  const [low, high] = [Math.min(...known) - nearReAimed, Math.max(...known) + nearReAimed];
  return offsets.filter((offset) => offset >= low && offset <= high);
}

export class ReAimingSection {
  // Whether the page is that of re-aimed heads.
  static isOf(arrays) {
    return arrays.has(reAimedOffset);
  }

  constructor(page, arrays, store) {
    Object.assign(this, { page, arrays, store, mark: null });
    const part = (id) => document.getElementById(`re-aiming${id}`);
    [this.section, this.controls] = ["", "-controls"].map(part);
    [this.sentence, this.box] = ["-sentence", "-profile"].map(part);
    store.listenToMarks(() => this.mark?.());
  }

  // The head and the shift of the address, else the first head and the smallest shift ahead.
  chosen() {
    const heads = this.arrays.axis(reAimedOffset, "re_aimed_head").values;
    const shifts = this.arrays.axis(reAimedOffset, "shift").values.filter((u) => u !== 0);
    const { head, shift } = this.store.state;
    const asked = head ? headName(head.layer, head.head) : "";
    const otherwise = shifts.find((u) => u > 0) ?? shifts.at(-1);
    return { heads, shifts, name: heads.includes(asked) ? asked : heads[0],
      u: shifts.includes(Number(shift)) ? Number(shift) : otherwise };
  }

  async draw() {
    const { arrays, store, page } = this;
    const { heads, shifts, name, u } = this.chosen();
    this.section.hidden = false;
    const goTo = (head) => store.change({ head: parseHead(head) }, true);
    const shiftTo = (value) => store.change({ shift: value });
    const options = shifts.map((shift) => [String(shift), offsetText(shift)]);
    this.controls.replaceChildren(choice("Head", heads.map((head) => [head, head]), name, goTo),
      choice("Keys re-aimed by u tokens", options, String(u), shiftTo));
    const of = (shift) => ({ re_aimed_head: name, shift });
    const found = async (shift) => {
      const [offset, weight] = await arrays.slices("re_aiming", ["offset", "weight"], of(shift));
      return { offset: offset.values[0], weight: weight?.values[0] ?? NaN };
    };
    const [before, after] = [await found(0), await found(u)];
    this.sentence.textContent = reAimedSentence(name, u, before, after);
    if (!arrays.has(reAimedProfile))
      return this.box.replaceChildren(words("This result was written before profiles were kept with it."));
    const slices = [await arrays.slice(reAimedProfile, of(0)), await arrays.slice(reAimedProfile, of(u))];
    const all = slices[0].axes[0].values;
    const isSeen = (offset) => !(page.causal && offset > 0);
    const shown = reAimedSpan(all.filter(isSeen), [before.offset, after.offset]);
    const values = (slice) => shown.map((offset) => slice.values[all.indexOf(offset)]);
    const series = [{ name: "as the model is", values: values(slices[0]) },
      { name: `keys re-aimed by ${offsetText(u)}`, values: values(slices[1]) }];
    const plot = offsetLines(shown, { title: "Profile", series, yTitle: "mean weight", height: 250 });
    this.mark = drawParts(this.box, [plot], { name, store });
  }
}
