// A head over the checkpoints of a training run: how strongly it looks at its offset, and how much of that is position.

import { element, numbersBelow } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { lineKey, linePlot } from "./plot.js";

const checkpointOffsets = "checkpoints_measured_offset";
const checkpointShapes = "checkpoints_head_account/part";

export const checkpointsView = {
  id: "checkpoints",
  title: "Over the checkpoints",
  wide: true,
  needs: [`${checkpointOffsets}/weight`],
  words: "Largest mean attention weight at one offset, and what shuffled queries would give there; below, of what can be explained of the profile, the part that positions give.",
  async draw(box, { arrays, at, name, store }) {
    const names = arrays.axis(`${checkpointOffsets}/weight`, "checkpoint").values;
    const pairs = arrays.axis(`${checkpointOffsets}/weight`, "pairs").values[0];
    const over = (field, more) => Promise.all(names.map(async (checkpoint) => (await arrays.slice(field, { checkpoint, ...more, ...at }))?.values[0] ?? NaN));
    const [weight, chance, offset] = await Promise.all(["weight", "chance", "offset"].map((field) => over(`${checkpointOffsets}/${field}`, { pairs })));
    const explained = arrays.has(checkpointShapes) ? (await over(checkpointShapes, { cause: arrays.axis(checkpointShapes, "cause").values[0] })).map((share) => Math.max(0, share)) : null;
    const text = (values, digits) => values.map((value) => (Number.isFinite(value) ? numberText(value, digits) : ""));
    const columns = [
      { header: "checkpoint", cells: names },
      { header: "offset", right: true, cells: offset.map((value) => (Number.isFinite(value) ? offsetText(value) : "undefined")) },
      { header: "weight", right: true, cells: text(weight, 4) },
      { header: "shuffled", right: true, cells: text(chance, 4) },
    ];
    if (explained) columns.push({ header: "by position", right: true, cells: text(explained, 3) });
    const x = names.map((_, i) => i);
    const plots = [{ yTitle: "weight", series: [{ name: "measured", values: weight }, { name: "queries shuffled", values: chance }] }];
    if (explained) plots.push({ yTitle: "part by position", series: [{ name: "positions", values: explained }] });
    box.replaceChildren(lineKey(plots[0].series));
    const ends = plots.map(({ series, yTitle }) => {
      const drawing = element("div", { class: "drawing", "aria-label": `${yTitle}: left and right go through checkpoints` });
      box.append(drawing);
      return linePlot(drawing, {
        x,
        series,
        xTitle: "checkpoint (counted from 0)",
        yTitle,
        height: 160,
        label: `${yTitle} of ${name} over ${names.length} checkpoints`,
        describe: (i) => [names[i], ...columns.slice(1).map(({ header, cells }) => `${header}: ${cells[i] || "undefined"}`)],
      }, store);
    });
    box.append(numbersBelow(() => columns));
    return () => ends.forEach((mark) => mark());
  },
};
