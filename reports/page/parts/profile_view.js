// How much a head looks at each offset, beside what is left of it when contents are dealt to other places.

import { check, choice, element, numbersBelow } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { lineKey, linePlot } from "./plot.js";

const spans = [["16", "\u00b116"], ["64", "\u00b164"], ["all", "all offsets"]];
const termNames = ["position", "and self", "and order"];

// One number per offset from numbers that know others; NaN where they know none.
function aligned(offsets, slice) {
  if (!slice) return null;
  const place = new Map(slice.axes[0].values.map((offset, i) => [offset, i]));
  return offsets.map((offset) => (place.has(offset) ? slice.values[place.get(offset)] : NaN));
}

async function seriesOf({ arrays, page, store, at }) {
  const { pairs, span } = store.state;
  const traces = "offset_trace/mean_weight";
  const counted = arrays.has(traces) ? pairs || arrays.axis(traces, "pairs").values[0] : "";
  const trace = await arrays.slice(traces, { pairs: counted, ...at });
  const account = await arrays.slice("head_account/measured_profile", at);
  const words = await arrays.slice("word_atlas/profile", at);
  const widest = (span === "all" ? trace : account ?? trace) ?? account ?? words;
  const reach = span === "16" ? 16 : span === "all" ? Infinity : 64;
  const causal = page.provenance.get("attention") === "causal"; // nobody looks ahead
  const offsets = widest.axes[0].values.filter((offset) => Math.abs(offset) <= reach && !(causal && offset > 0));
  const series = [];
  const ofAccount = account && span !== "all" && !pairs;
  if (ofAccount || trace) series.push({ name: "measured", values: aligned(offsets, trace ?? account) });
  if (ofAccount)
    for (const [k, term] of arrays.axis("head_account/dealt_profile", "term")?.values.entries() ?? [])
      series.push({ name: termNames[k] ?? term, values: aligned(offsets, await arrays.slice("head_account/dealt_profile", { term, ...at })) });
  if (words) series.push({ name: "predicted by random words", values: aligned(offsets, words) });
  const chance = trace && (await arrays.slice("offset_trace/null_weight", { pairs: counted, ...at }));
  if (chance) series.push({ name: "queries shuffled", values: aligned(offsets, chance) });
  // What the account is of: the first token, which draws attention from everywhere, is left out.
  if (ofAccount && trace) series.push({ name: "measured without the first token", values: aligned(offsets, account) });
  return { offsets, series };
}

function profileControls({ arrays, store }) {
  const { pairs, span, scale } = store.state;
  const controls = element("div", { class: "controls" }, choice("Offsets", spans, span || "64", (value) => store.change({ span: value === "64" ? "" : value })));
  const counted = arrays.has("offset_trace/mean_weight") ? arrays.axis("offset_trace/mean_weight", "pairs").values : [];
  if (counted.length > 1) controls.append(choice("Pairs", counted.map((name) => [name, name.replaceAll("_", " ")]), pairs || counted[0], (value) => store.change({ pairs: value === counted[0] ? "" : value })));
  controls.append(check("logarithmic", scale === "log", (log) => store.change({ scale: log ? "log" : "" })));
  return controls;
}

export const profileView = {
  id: "profile",
  title: "Profile over offsets",
  wide: true,
  needs: ["offset_trace/mean_weight", "head_account/measured_profile", "word_atlas/profile"],
  follows: ["pairs", "span", "scale"],
  words: (_, arrays) => [
    arrays.has("offset_trace/mean_weight") && "Mean attention weight at each offset; queries shuffled: what to expect where positions do not matter.",
    arrays.has("head_account/measured_profile") && "Without the first token: what is left when contents are dealt to other places (position), when every token still meets itself (and self), and with how contents vary together at each distance (and order).",
    arrays.has("word_atlas/profile") && "Predicted by random words: mean attention weight over documents of random words, from the weights alone.",
  ].filter(Boolean).join(" "),
  async draw(box, context) {
    const { offsets, series } = await seriesOf(context);
    const drawing = element("div", { class: "drawing", "aria-label": "Profile: left and right go through offsets" });
    box.replaceChildren(profileControls(context), lineKey(series), drawing, numbersBelow(() => [{ header: "offset", right: true, cells: offsets.map(offsetText) }, ...series.map((one) => ({ header: one.name, right: true, cells: one.values.map((value) => numberText(value, 5)) }))]));
    const place = new Map(offsets.map((offset, i) => [offset, i]));
    return linePlot(drawing, {
      x: offsets,
      series,
      xTitle: "offset (key \u2212 query, tokens)",
      yTitle: "mean weight",
      height: 250,
      log: context.store.state.scale === "log",
      label: `Profile of ${context.name}: mean attention weight at offsets from ${offsetText(offsets[0])} to ${offsetText(offsets[offsets.length - 1])}`,
      marks: (i) => ({ offset: offsets[i] }),
      placeOf: (store) => place.get(store.offset()) ?? null,
      describe: (i) => [`offset ${offsetText(offsets[i])}`, ...series.filter((one) => Number.isFinite(one.values[i])).map((one) => `${one.name}: ${numberText(one.values[i], 4)}`)],
    }, context.store);
  },
};
