// Where attention goes by where its query stands: bands of queries down, offsets across, bins of several beyond the reach.

import { colorTable, isDark } from "./colors.js";
import { element, numbersBelow } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { amountBar, amountShare, paintCells, putOver } from "./heat.js";
import { drawAxis } from "./plot.js";
import { hideTip, showTip } from "./tip.js";

// "−1", or "+78 to +92" of several.
export function binText({ first, last }) {
  return first === last ? offsetText(first) : `${offsetText(first)} to ${offsetText(last)}`;
}

// The bin that an offset lies in; -1: none.
export function binOf(bins, offset) {
  return bins.findIndex(({ first, last }) => first <= offset && offset <= last);
}

// Bins whose offsets may be written below, those first that say most: no offset, the last ones, powers of four.
export function binTicks(bins) {
  const { reach } = reachOf(bins);
  const near = [64, 16, 4, 256].filter((t) => t <= reach).flatMap((t) => [t, -t]);
  return [...new Set([binOf(bins, 0), 0, bins.length - 1, ...near.map((t) => binOf(bins, t))])].filter((i) => i >= 0);
}

// How far offsets have bins of their own, and the first and last of these.
export function reachOf(bins) {
  const single = bins.map((_, i) => i).filter((i) => bins[i].first === bins[i].last);
  return { begin: single[0], end: single[single.length - 1] + 1, reach: Math.max(0, ...single.map((i) => Math.abs(bins[i].first))) };
}

async function bandsOf({ arrays, at }) {
  const profile = await arrays.slice("offset_by_query/profile", at);
  const [first, last, ends, share, peaks, sources] = await Promise.all(
    ["bin_first", "bin_last", "band_last"].map((name) => arrays.slice(`offset_by_query/${name}`, {})).concat(["band_share", "peak_offset", "peak_source"].map((name) => arrays.slice(`offset_by_query/${name}`, at))));
  const begins = profile.axes[0].values;
  const bins = profile.axes[1].values.map((_, i) => ({ first: first.values[i], last: last.values[i] }));
  const most = peaks ? peaks.axes[1].values.length : 0;
  const bands = begins.map((begin, b) => ({
    queries: `${begin} to ${ends.values[b]}`,
    share: share?.values[b] ?? NaN,
    profile: Array.from(profile.values.subarray(b * bins.length, (b + 1) * bins.length)),
    peaks: Array.from({ length: most }, (_, k) => ({ offset: peaks.values[b * most + k], source: sources?.values[b * most + k] })).filter(({ offset }) => Number.isFinite(offset)),
  }));
  return { bins, bands };
}

const sourceWords = ["", "positions bring it about", "not by positions", "not known why"];

export const bandsView = {
  id: "bands",
  title: "By where the query stands",
  needs: ["offset_by_query/profile"],
  words: "Attention of queries in bands of positions, over all offsets: one by one up to the reach, several together beyond. Triangles are single offsets beyond the reach where attention piles up.",
  async draw(box, context) {
    const { store, name } = context;
    const { bins, bands } = await bandsOf(context);
    const map = element("div", { class: "map" });
    const canvas = element("canvas", { "aria-hidden": "true" });
    const colors = colorTable("amount", isDark());
    const largest = Math.max(...bands.flatMap(({ profile }) => profile.filter(Number.isFinite))) || 1;
    const colorOf = (value) => (Number.isFinite(value) ? colors[Math.round(255 * amountShare(value, largest))] : null);
    paintCells(canvas, bands.length, bins.length, (row, column) => colorOf(bands[row].profile[column]));
    map.append(canvas);
    const columns = [{ header: "queries", cells: bands.map(({ queries }) => queries) }, { header: "beyond the reach", right: true, cells: bands.map(({ share }) => numberText(share)) }, { header: "peaks beyond", cells: bands.map(({ peaks }) => peaks.map(({ offset, source }) => `${offsetText(offset)} (${sourceWords[source] ?? ""})`).join(", ")) }];
    box.replaceChildren(map, amountBar("weight", largest), numbersBelow(() => columns));
    const width = Math.max(220, map.clientWidth);
    const margin = { left: 76, top: 18, right: 58, bottom: 36 };
    const [w, h] = [width - margin.left - margin.right, 24 * bands.length];
    putOver(canvas, { left: margin.left, top: margin.top, width: w, height: h });
    const x = d3.scaleLinear([0, bins.length], [margin.left, margin.left + w]);
    const y = (band) => margin.top + (h * band) / bands.length;
    const shareText = (share) => (!Number.isFinite(share) ? "" : share > 0 && share < 1e-4 ? "< 0.01 %" : `${numberText(100 * share, 2)} %`);
    const svg = d3.create("svg").attr("width", width).attr("height", h + margin.top + margin.bottom).attr("role", "img").attr("aria-label", `${name}: attention by band of queries and offset; ${bands.map(({ queries, share }) => `queries ${queries}: ${shareText(share)} beyond the reach`).join("; ")}`);
    const ticks = [];
    for (const i of binTicks(bins)) if (ticks.every((other) => Math.abs(x(i) - x(other)) > 32)) ticks.push(i);
    const { begin, end } = reachOf(bins);
    svg.append("g").selectAll("line").data([begin, end]).join("line").attr("class", "frame").attr("x1", x).attr("x2", x).attr("y1", margin.top).attr("y2", margin.top + h);
    drawAxis(svg.append("g").attr("transform", `translate(0 ${margin.top + h})`), d3.axisBottom(x).tickValues(ticks.map((i) => i + 0.5)).tickSize(4).tickFormat((place) => offsetText(Math.round((bins[place - 0.5].first + bins[place - 0.5].last) / 2))));
    const rows = svg.append("g").selectAll("g").data(bands).join("g").attr("transform", (_, b) => `translate(0 ${y(b + 0.5) + 4})`);
    rows.append("text").attr("x", margin.left - 6).attr("text-anchor", "end").text(({ queries }) => queries);
    rows.append("text").attr("x", margin.left + w + 6).text(({ share }) => shareText(share));
    svg.append("text").attr("x", 0).attr("y", 10).text("queries");
    svg.append("text").attr("x", width).attr("y", 10).attr("text-anchor", "end").text("beyond the reach");
    svg.append("text").attr("x", margin.left + w).attr("y", h + margin.top + 32).attr("text-anchor", "end").text("offset (tokens)");
    bands.forEach(({ peaks }, b) => peaks.forEach(({ offset, source }) => {
      const bin = binOf(bins, offset);
      if (bin >= 0) svg.append("path").attr("class", "marker").attr("d", d3.line()([[x(bin + 0.5) - 4, y(b) + 2], [x(bin + 0.5) + 4, y(b) + 2], [x(bin + 0.5), y(b) + 9]]) + "Z").style("fill", source === 1 ? "var(--accent)" : "none");
    }));
    const marker = svg.append("rect").attr("class", "frame").attr("y", margin.top).attr("height", h).attr("width", Math.max(2, w / bins.length)).attr("visibility", "hidden");
    const node = svg.node();
    node.addEventListener("pointermove", (event) => {
      const at = node.getBoundingClientRect();
      const bin = Math.floor(x.invert(event.clientX - at.left));
      const band = Math.floor(((event.clientY - at.top - margin.top) / h) * bands.length);
      if (bin < 0 || band < 0 || bin >= bins.length || band >= bands.length) {
        hideTip();
        return store.mark({});
      }
      const here = bands[band].peaks.filter(({ offset }) => binOf(bins, offset) === bin);
      store.mark(bins[bin].first === bins[bin].last ? { offset: bins[bin].first } : {});
      showTip([`queries ${bands[band].queries}, offset ${binText(bins[bin])}`, `attention: ${numberText(bands[band].profile[bin], 4)}`, ...here.map(({ offset, source }) => `peak at ${offsetText(offset)}: ${sourceWords[source] ?? ""}`)], event.clientX, event.clientY);
      return undefined;
    });
    node.addEventListener("pointerleave", () => {
      hideTip();
      store.mark({});
    });
    map.replaceChildren(canvas, node);
    const mark = () => {
      const bin = store.offset() === null ? -1 : binOf(bins, store.offset());
      marker.attr("visibility", bin < 0 ? "hidden" : null);
      if (bin >= 0) marker.attr("x", x(bin));
    };
    mark();
    return mark;
  },
};
