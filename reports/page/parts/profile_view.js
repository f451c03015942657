// How much a head looks at each offset, in one result or in two.

import { choice, element } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { offsetLines } from "./lines.js";

const spans = [["16", "\u00b116"], ["64", "\u00b164"], ["all", "all offsets"]];
const termNames = ["positions alone", "and each token itself", "and usual neighbours"];
const [trace, shuffledTrace] = ["offset_trace/mean_weight", "offset_trace/null_weight"];
const [accounted, dealtProfile] = ["head_account/measured_profile", "head_account/dealt_profile"];

// One number per offset from a slice over other offsets; NaN if the slice has none.
function aligned(offsets, slice) {
  const place = new Map(slice.axes[0].values.map((offset, i) => [offset, i]));
  return offsets.map((offset) => (place.has(offset) ? slice.values[place.get(offset)] : NaN));
}

async function profileSeries({ arrays, page, store, at }) {
  const compared = await arrays.slices("comparison", ["first_profile", "second_profile"], at);
  const { pairs, span } = store.state;
  const counted = arrays.has(trace) ? pairs || arrays.axis(trace, "pairs").values[0] : "";
  const all = await arrays.slice(trace, { pairs: counted, ...at });
  const account = await arrays.slice(accounted, at);
  const random = await arrays.slice("word_atlas/profile", at);
  const widest = (span === "all" ? all : account ?? all) ?? account ?? random ?? compared[0];
  const reach = span === "all" ? Infinity : Number(span || 16);
  // In causal models no query looks ahead.
  const isShown = (offset) => Math.abs(offset) <= reach && !(page.causal && offset > 0);
  const offsets = widest.axes[0].values.filter(isShown);
  const series = [];
  const add = (name, slice) => slice && series.push({ name, values: aligned(offsets, slice) });
  const ofAccount = account && span !== "all" && !pairs;
  add("measured", all ?? (ofAccount ? account : null));
  const terms = ofAccount && arrays.has(dealtProfile) ? arrays.axis(dealtProfile, "term").values : [];
  for (const [k, term] of terms.entries())
    add(termNames[k] ?? term, await arrays.slice(dealtProfile, { term, ...at }));
  add("predicted by random words", random);
  add("first", compared[0]);
  add("second", compared[1]);
  add("by chance", all && (await arrays.slice(shuffledTrace, { pairs: counted, ...at })));
  // The account leaves out the first token, which draws attention from everywhere.
  if (ofAccount && all) add("measured without the first token", account);
  return { offsets, series };
}

function profileControls({ arrays, store }) {
  const { pairs, span } = store.state;
  const counted = arrays.has(trace) ? arrays.axis(trace, "pairs").values : [];
  const options = counted.map((name) => [name, name.replaceAll("_", " ")]);
  const setPairs = (value) => store.change({ pairs: value === counted[0] ? "" : value });
  const setSpan = (value) => store.change({ span: value === spans[0][0] ? "" : value });
  return element("div", { class: "controls" }, choice("Offsets", spans, span || spans[0][0], setSpan),
    counted.length > 1 ? choice("Pairs", options, pairs || counted[0], setPairs) : null);
}

export const profileView = {
  id: "profile",
  title: "Profile over offsets",
  needs: [trace, accounted, "word_atlas/profile", "comparison/first_profile"],
  follows: ["pairs", "span"],
  words: (_, arrays) => [
    arrays.has(trace) && "Mean attention weight at each offset. By chance: with the queries in random order.",
    arrays.has(dealtProfile)
      && "Positions alone: the words of each text in random order, so that only places can be known. The "
      + "next two lines also let each token look at itself, and give words their usual neighbours. These "
      + "three leave out the first token.",
    arrays.has("comparison/first_profile") && "Mean attention weight at each offset in both results.",
    arrays.has("word_atlas/profile") && "Predicted by random words: from the weights, over random documents.",
  ].filter(Boolean).join(" "),
  async show(context) {
    const { offsets, series } = await profileSeries(context);
    return [profileControls(context),
      offsetLines(offsets, { title: "Profile", series, yTitle: "mean weight", height: 250 })];
  },
};
