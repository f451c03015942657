// The experiments on a head, and what they showed.

import { element, textBar, words } from "./elements.js";
import { numberText, percentText } from "./format.js";

// Rows { done, before, after, happened }: an experiment, shares before and after it, and its outcome.
export function evidenceRows(page, place) {
  const { measures, provenance } = page;
  const value = (name) => measures.value(name, place);
  const change = (before, after) => `${numberText(before)} \u2192 ${numberText(after)}`;
  const rows = [];
  const add = (done, before, after, happened) => rows.push({ done, before, after, happened });
  const [follow, kept, swaps] = [value("follows"), value("kept"), value("attention_bits/trials:")];
  if (follow !== null)
    add(`The contents of its strongest key and of another key were swapped (${swaps} times)`, null, follow,
      `${percentText(follow)} of the attention went with the content, the rest stayed with the place`);
  if (kept !== null)
    add("The content of another document's token was put into the query", 1, kept,
      `its strongest key kept ${percentText(kept)} of its weight`);
  const [strength, part] = [value("strength"), value("by_position")];
  const [dealt, shuffled] = [value("head_account/position_strength:"), value("head_account/null_strength:")];
  if (strength !== null && dealt !== null) {
    const explained = part === null || measures.word("profile", place) === "no preference" ? ""
      : `; positions give ${percentText(Math.max(0, part))} of what explains its profile over offsets`;
    add("Contents were dealt to other places of the same document: positions alone are left", strength, dealt,
      `strength ${change(strength, dealt)}${explained}`);
  }
  if (dealt !== null && shuffled !== null) {
    const p = value("head_account/p_value:");
    const tested = `; chance gives ${numberText(dealt)} or more with p = ${numberText(p, 2)}`;
    add("Then places were put in random order: what chance gives in place of positions", dealt, shuffled,
      `strength of positions alone ${change(dealt, shuffled)}${p === null ? "" : tested}`);
  }
  const moved = value("moved");
  const [low, high] = ["account_evidence/moved_lower:", "account_evidence/moved_upper:"].map(value);
  if (moved !== null && low !== null && high !== null) {
    const how = provenance.get("position_term") === "rotary" ? "turned" : "moved";
    const told = high - low <= 0.5;
    const share = told ? percentText(moved) : "an unknown share";
    add(`Its keys were ${how} by four tokens`, null, told ? Math.min(1, Math.max(0, moved)) : 0,
      `${share} of its offset profile followed (interval ${percentText(low)} to ${percentText(high)})`);
  }
  const [weight, without, placebo] = ["account_evidence/weight:",
    "account_evidence/weight_without:", "account_evidence/weight_placebo:"].map(value);
  if (weight !== null && without !== null) {
    const source = measures.word("account_evidence/removed_source:", place) || "its strongest source";
    add(`The source \u201c${source}\u201d was removed from its keys`, weight, without,
      `largest weight ${change(weight, without)}; random directions: ${numberText(placebo)}`);
  }
  const [left, random] = ["matched_content/without:", "matched_content/placebo:"].map(value);
  if (left !== null && random !== null)
    add("The first direction in which contents match was removed from its keys", 1, left,
      `strongest keys keep ${percentText(left)} of their weight; a random direction: ${percentText(random)}`);
  for (const [what, unit, scale] of [["loss", "nats", 1], ["state", "%", 100]]) {
    const of = (quantity) => value(`head_effect/${what}${quantity}:`);
    if (of("") === null || (what === "state" && value("loss_change") !== null)) continue;
    const numbers = ["", "_lower", "_upper", "_placebo"].map((end) => numberText(scale * of(end)));
    const name = what === "loss" ? "the loss" : "the final state";
    add("Its output was replaced by its mean over other documents", null, null,
      `${name} changed by ${numbers[0]} ${unit} (interval ${numbers[1]} to ${numbers[2]}); `
      + `by a random change as large: ${numbers[3]} ${unit}`);
  }
  return rows;
}

function barsOf(before, after) {
  if (after === null) return null;
  const first = before === null ? null : textBar(before, "before");
  return element("span", { class: "bars" }, first, textBar(after, "after"));
}

export const evidenceView = {
  id: "evidence",
  title: "What was done, and what happened",
  hasNothing: (page) => !page.measures.get("head_account/position_strength:") 
    && !page.measures.get("follows") && !page.measures.get("head_effect/state:"),
  words: "Grey bars: before; blue bars: after. A full bar is 1.",
  async show({ page, place }) {
    const rows = evidenceRows(page, place).flatMap(({ done, before, after, happened }) => [
      element("dt", {}, done),
      element("dd", {}, barsOf(before, after), happened),
    ]);
    const why = page.provenance.get("undefined_evidence");
    return [
      element("dl", { class: "evidence" }, ...rows),
      why && words(`No keys were moved: ${why}.`),
    ];
  },
};
