// Where attention goes by where its query stands: bands of queries down, offsets across.

import { shape } from "./elements.js";
import { numberText, offsetText, percentText } from "./format.js";

// "−1", or "+78 to +92" of several.
export function binText({ first, last }) {
  return first === last ? offsetText(first) : `${offsetText(first)} to ${offsetText(last)}`;
}

// The bin that an offset lies in; -1: none.
export function binOf(bins, offset) {
  return bins.findIndex(({ first, last }) => first <= offset && offset <= last);
}

// Bins whose offsets are written below: no offset, the ends, and powers of four, as far as they do not touch.
export function binTicks(bins) {
  const binAt = (t) => bins.findIndex(({ first, last }) => first === t && last === t);
  const near = [64, -64, 16, -16, 4, -4, 256, -256].map(binAt);
  const kept = [];
  for (const i of [binOf(bins, 0), 0, bins.length - 1, ...near]) {
    if (i >= 0 && kept.every((other) => Math.abs(other - i) > bins.length / 9)) kept.push(i);
  }
  return kept;
}

async function bandsOf({ arrays, at }) {
  const group = "offset_by_query";
  const [first, last, ends] = await arrays.slices(group, ["bin_first", "bin_last", "band_last"], {});
  const [profile, share] = await arrays.slices(group, ["profile", "band_share"], at);
  const bins = profile.axes[1].values.map((_, i) => ({ first: first.values[i], last: last.values[i] }));
  const bands = profile.axes[0].values.map((begin, b) => ({
    queries: begin === ends.values[b] ? `${begin}` : `${begin} to ${ends.values[b]}`,
    share: share?.values[b] ?? NaN,
  }));
  return { bins, bands, value: (band, bin) => profile.values[band * bins.length + bin], all: profile.values };
}

export const bandsView = {
  id: "bands",
  title: "By where the query stands",
  more: true,
  needs: ["offset_by_query/profile"],
  words: "Attention by bands of queries over all offsets: one by one up to the reach, in wider bins beyond. "
    + "At the right: the share beyond it.",
  async show(context) {
    const { bins, bands, value, all } = await bandsOf(context);
    return [{
      kind: "heat",
      title: "Attention by band of queries and offset",
      rows: bands.length,
      columns: bins.length,
      value,
      what: "weight",
      top: all.reduce((most, one) => Math.max(most, one || 0), 0) || 1,
      height: 24 * bands.length,
      left: 74,
      right: 60,
      xTitle: "offset (tokens)",
      yTitle: "queries",
      xTicks: binTicks(bins),
      yTicks: bands.map((_, b) => b),
      columnText: (bin) => binText(bins[bin]),
      xText: (bin) => offsetText(Math.round((bins[bin].first + bins[bin].last) / 2)),
      rowText: (band) => bands[band].queries,
      words: (band, bin) => [`queries ${bands[band].queries}, offset ${binText(bins[bin])}`,
        `attention: ${numberText(value(band, bin), 4)}`],
      marks: (_, bin) => (bins[bin].first === bins[bin].last ? { offset: bins[bin].first } : {}),
      ridge: (offset, x, y) => {
        const bin = binOf(bins, offset);
        return bin < 0 ? null : `M${x(bin)} ${y(0)}V${y(bands.length)}H${x(bin + 1)}V${y(0)}Z`;
      },
      decorate: (svg, x, y) => bands.forEach(({ share }, b) => {
        if (Number.isFinite(share))
          svg.append(shape("text", { x: x(bins.length) + 6, y: y(b + 0.5) + 4 }, percentText(share)));
      }),
    }];
  },
};
