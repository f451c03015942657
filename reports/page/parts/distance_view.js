// How far a head looks: what a window of the last tokens holds of its attention.

import { element } from "./elements.js";
import { numberText } from "./format.js";

// "Of its attention, 90 % within 2.4 ± 0.1, 95 % within 3080 ± 10 tokens.": each share whose window is known.
export function windowSentence(measures, place) {
  const parts = [90, 95, 99].map((share) => {
    const name = `attention_distance/window_${share}`;
    const [window, error] = [`${name}:`, `${name}_error:`].map((one) => measures.value(one, place));
    const tokens = (value) => (value < 9.95 ? numberText(value, 2) : numberText(Math.round(value), 7));
    const spread = error === null ? "" : ` ± ${tokens(error)}`;
    return window === null ? "" : `${share} % within ${tokens(window)}${spread}`;
  }).filter(Boolean);
  return parts.length ? `Of its attention, ${parts.join(", ")} tokens.` : "";
}

// "Largest mean weights at distances in tokens: 0.312 ± 0.004 at 1, 0.11 ± 0.002 at 2.": the three largest.
export function slashSentence(distances, weights, errors) {
  const parts = Array.from(distances.slice(0, 3), (distance, i) => {
    const spread = Number.isFinite(errors[i]) ? ` ± ${numberText(errors[i], 2)}` : "";
    const weight = `${numberText(weights[i])}${spread}`;
    return Number.isFinite(weights[i]) ? `${weight} at ${numberText(distance, 7)}` : "";
  }).filter(Boolean);
  return parts.length ? `Largest mean weights at distances in tokens: ${parts.join(", ")}.` : "";
}

export const distanceView = {
  id: "distance",
  title: "How far it looks",
  more: true,
  needs: ["attention_distance/slash_weight"],
  words: "The smallest windows of the last tokens that hold a share of the head's attention, beside special "
    + "and first tokens.",
  async show({ arrays, at, page, place }) {
    const slashes = await arrays.slices(
      "attention_distance", ["slash_distance", "slash_weight", "slash_error"], at);
    const strongest = slashes.every(Boolean) ? slashSentence(...slashes.map((of) => of.values)) : "";
    const said = [windowSentence(page.measures, place), strongest].filter(Boolean);
    return [element("ul", {}, ...said.map((sentence) => element("li", {}, sentence)))];
  },
};
