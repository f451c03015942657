// Where a head looks, measured, and where each way of predicting says it would.

import { element } from "./elements.js";
import { offsetText, undefinedMark } from "./format.js";
import { drawAxis, ticksFor } from "./plot.js";
import { hideTip } from "./tip.js";

// Measures of each row: where, how sure, and in words what became of it. The first that the result has counts.
const rows = [
  { label: "planted", offset: ["planted/offset:"], word: ["planted/kind:"] },
  { label: "measured", offset: ["measured_offset/offset:all", "offset_agreement/measured:"], word: ["measured_offset/status:all"] },
  { label: "by position", offset: ["offset_agreement/predicted:position"], word: ["offset_agreement/verdict:position"] },
  { label: "by weights alone", offset: ["offset_agreement/predicted:weights", "position_atlas/predicted_offset:"], word: ["offset_agreement/verdict:weights", "position_atlas/status:"] },
  { label: "by random words", offset: ["word_atlas/predicted_offset:"], word: ["word_atlas/status:"] },
  { label: "by phases", offset: ["offset_agreement/predicted:phases"], word: ["offset_agreement/verdict:phases"], low: ["rotary_wave/lower:", "phase_delay/lower:"], high: ["rotary_wave/upper:", "phase_delay/upper:"] },
  { label: "by queries and keys", offset: ["offset_agreement/predicted:scores"], word: ["offset_agreement/verdict:scores"], low: ["delay_spectrum/lower:"], high: ["delay_spectrum/upper:"] },
  { label: "weights times values", offset: ["value_use/norm_offset:"] },
];

// What the measures say of one head, row by row; rows of which the result knows nothing of any head are left out.
export function predictionRows(measures, place) {
  const found = (names) => (names ?? []).map((name) => measures.get(name)).find(Boolean);
  const value = (names) => found(names)?.values[place] ?? null;
  return rows.filter((row) => found(row.offset)?.values.some((offset) => offset !== null) || (row.label === "measured" && found(row.offset))).map((row) => {
    const word = found(row.word);
    const said = word?.values[place];
    const offset = value(row.offset);
    const known = offset !== null;
    return { label: row.label, offset, low: known ? value(row.low) : null, high: known ? value(row.high) : null, word: word && said !== null ? word.meanings?.[said] ?? "" : "" };
  });
}

export const predictionsView = {
  id: "predictions",
  title: "Predicted and measured",
  needs: [],
  hasNothing: ({ measures }) => predictionRows(measures, 0).length === 0,
  words: "Where the head looks, and where each way of predicting says it would; bars are intervals. A dash: no offset.",
  async draw(box, { page, place, name, store }) {
    const said = predictionRows(page.measures, place);
    const drawing = element("div", { class: "drawing" });
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...["", "offset", "interval", ""].map((text) => element("th", { scope: "col" }, text)))));
    const body = element("tbody");
    for (const row of said) {
      const interval = row.low === null || row.high === null ? "" : `${offsetText(row.low)} to ${offsetText(row.high)}`;
      const line = element("tr", {}, element("th", { scope: "row" }, row.label), element("td", { class: "right" }, offsetText(row.offset)), element("td", {}, interval), element("td", {}, row.word));
      line.dataset.offset = row.offset === null ? "" : Math.round(row.offset);
      line.addEventListener("pointerenter", () => row.offset !== null && store.mark({ offset: Math.round(row.offset) }));
      line.addEventListener("pointerleave", () => store.mark({}));
      body.append(line);
    }
    table.append(body);
    const lines = element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Offsets of ${name}` }, table);
    box.replaceChildren(drawing, lines);
    const width = Math.max(220, drawing.clientWidth);
    const known = said.flatMap((row) => [row.offset, row.low, row.high]).filter((value) => value !== null);
    const reach = Math.max(2, ...known.map(Math.abs));
    const margin = { left: 132, right: 16, top: 4, bottom: 34 };
    const height = said.length * 20 + margin.top + margin.bottom;
    const x = d3.scaleSymlog([-reach, reach], [margin.left, width - margin.right]).constant(2);
    const svg = d3.create("svg").attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", said.map((row) => `${row.label}: ${offsetText(row.offset)}`).join("; "));
    const near = ticksFor(width - margin.left, 60) > 5 ? [-64, -16, -4, -1, 0, 1, 4, 16, 64] : [-16, -1, 0, 1, 16];
    const ticks = reach < 4 ? d3.range(-Math.floor(reach), Math.floor(reach) + 1) : near.filter((tick) => Math.abs(tick) <= reach);
    const axis = drawAxis(svg.append("g").attr("transform", `translate(0 ${height - margin.bottom})`), d3.axisBottom(x).tickValues(ticks).tickFormat(offsetText).tickSize(-(height - margin.bottom - margin.top)));
    axis.selectAll(".tick line").attr("class", (tick) => (tick === 0 ? "zero" : ""));
    svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text("offset (tokens)");
    const group = svg.append("g").selectAll("g").data(said).join("g").attr("transform", (_, i) => `translate(0 ${margin.top + 20 * i + 10})`);
    group.append("text").attr("x", margin.left - 10).attr("y", 4).attr("text-anchor", "end").text((row) => row.label);
    const between = group.filter((row) => row.low !== null && row.high !== null);
    between.append("line").attr("x1", (row) => x(row.low)).attr("x2", (row) => x(row.high)).style("stroke", "var(--accent)").attr("stroke-width", 3).attr("stroke-opacity", 0.4);
    group.filter((row) => row.offset !== null).append("circle").attr("cx", (row) => x(row.offset)).attr("r", 4.5).style("fill", (row) => (row.label === "measured" ? "var(--ink)" : "var(--accent)"));
    group.filter((row) => row.offset === null).append("text").attr("x", x(0)).attr("y", 4).attr("text-anchor", "middle").text(undefinedMark);
    const marker = svg.append("line").attr("class", "marker").attr("y1", margin.top).attr("y2", height - margin.bottom).attr("visibility", "hidden");
    const node = svg.node();
    node.addEventListener("pointermove", (event) => {
      const at = Math.round(x.invert(event.clientX - node.getBoundingClientRect().left));
      store.mark(Math.abs(at) <= reach ? { offset: at } : {});
    });
    node.addEventListener("pointerleave", () => {
      hideTip();
      store.mark({});
    });
    drawing.replaceChildren(node);
    const mark = () => {
      const offset = store.offset();
      const shown = offset !== null && Math.abs(offset) <= reach;
      marker.attr("visibility", shown ? null : "hidden");
      if (shown) marker.attr("x1", x(offset)).attr("x2", x(offset));
      for (const line of body.children) line.classList.toggle("marked", offset !== null && line.dataset.offset === String(offset));
    };
    mark();
    return mark;
  },
};
