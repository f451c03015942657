// A head's profiles in two results, one over the other.

import { check, element, numbersBelow } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { lineKey, linePlot } from "./plot.js";

export const comparisonView = {
  id: "comparison",
  title: "Profiles of both results",
  wide: true,
  needs: ["comparison/first_profile"],
  follows: ["scale"],
  words: "Mean attention weight at each offset in the first and the second result.",
  async draw(box, { arrays, store, at, name }) {
    const first = await arrays.slice("comparison/first_profile", at);
    const second = await arrays.slice("comparison/second_profile", at);
    const offsets = first.axes[0].values;
    const series = [{ name: "first", values: first.values }, { name: "second", values: second.values }];
    const log = store.state.scale === "log";
    const controls = element("div", { class: "controls" }, check("logarithmic", log, (chosen) => store.change({ scale: chosen ? "log" : "" })));
    const drawing = element("div", { class: "drawing", "aria-label": "Profiles: left and right go through offsets" });
    box.replaceChildren(controls, lineKey(series), drawing, numbersBelow(() => [{ header: "offset", right: true, cells: offsets.map(offsetText) }, ...series.map((one) => ({ header: one.name, right: true, cells: Array.from(one.values, (value) => numberText(value, 5)) }))]));
    const place = new Map(offsets.map((offset, i) => [offset, i]));
    return linePlot(drawing, {
      x: offsets,
      series,
      xTitle: "offset (key \u2212 query, tokens)",
      yTitle: "mean weight",
      height: 250,
      log,
      label: `Profiles of ${name} in both results, offsets from ${offsetText(offsets[0])} to ${offsetText(offsets[offsets.length - 1])}`,
      marks: (i) => ({ offset: offsets[i] }),
      placeOf: (marks) => place.get(marks.offset()) ?? null,
      describe: (i) => [`offset ${offsetText(offsets[i])}`, ...series.map((one) => `${one.name}: ${numberText(one.values[i], 4)}`)],
    }, store);
  },
};
