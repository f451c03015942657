// Lines over a horizontal axis of numbers.

import { axes, scale, ticksOf } from "./axes.js";
import { element, setShape, shape } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { pointing } from "./pointing.js";

const lineStyles = [
  { color: "var(--line-1)", dash: null },
  { color: "var(--line-2)", dash: "6 3" },
  { color: "var(--line-3)", dash: "2 2.5" },
  { color: "var(--line-4)", dash: "8 3 2 3" },
  { color: "var(--soft)", dash: "1 3" },
  { color: "var(--line-1)", dash: "3 3" },
];

// The key of the lines: their colours and dashes.
export function lineKey(series) {
  return element("div", { class: "key" }, ...series.map((one, i) => {
    const { color, dash } = lineStyles[i % lineStyles.length];
    const stroke = { x2: 26, y1: 3, y2: 3, style: `stroke: ${color}`, "stroke-width": 2,
      "stroke-dasharray": dash };
    const sample = shape("svg", { width: 26, height: 6, "aria-hidden": "true" }, shape("line", stroke));
    return element("span", {}, sample, one.name);
  }));
}

// Lines over offsets; they mark the offset that is pointed at.
export function offsetLines(offsets, plot) {
  const place = new Map(offsets.map((offset, i) => [offset, i]));
  return {
    kind: "lines",
    x: offsets,
    xName: "offset",
    xTitle: "offset (key \u2212 query, tokens)",
    xText: offsetText,
    marks: (i) => ({ offset: offsets[i] }),
    placeOf: (store) => place.get(store.marked.offset) ?? null,
    ...plot,
  };
}

// @param plot  { title, x: numbers, series: [{ name, values }], xName, xTitle, xText(value), yTitle, height,
//                marks(i), placeOf(store) -> index or null }
export function linePlot(box, plot, store) {
  const { series, xText = numberText, height = 230 } = plot;
  const width = Math.max(220, box.clientWidth);
  const [left, right, top, bottom] = [52, width - 14, 20, height - 38];
  const known = series.flatMap((one) => Array.from(one.values).filter(Number.isFinite));
  const high = known.length ? Math.max(...known) : 1;
  const lowest = Math.min(0, ...known);
  const low = lowest === high ? high - 1 : lowest;
  const x = scale([plot.x[0], plot.x[plot.x.length - 1]], [left, right]);
  const y = scale([low, high], [bottom, top]);
  const svg = shape("svg", { width, height, role: "img", "aria-label": plot.title });
  const xTicks = ticksOf(x, 64).filter(Number.isInteger);
  axes(svg, { x, y, xText, xTicks, xTitle: plot.xTitle, yTitle: plot.yTitle, lines: true });
  series.forEach(({ values }, i) => {
    let path = "";
    values.forEach((value, k) => {
      const begins = k === 0 || !Number.isFinite(values[k - 1]);
      if (!Number.isFinite(value)) return;
      path += `${begins ? "M" : "L"}${x(plot.x[k]).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    const { color, dash } = lineStyles[i % lineStyles.length];
    svg.append(shape("path",
      { class: "series", style: `stroke: ${color}`, "stroke-dasharray": dash, d: path }));
  });
  const line = shape("line", { class: "marker", y1: top, y2: bottom });
  const dots = series.map(() => shape("circle", { class: "marker-fill", r: 3 }));
  const marker = shape("g", { visibility: "hidden" }, line, ...dots);
  svg.append(marker);
  const show = (i) => {
    setShape(marker, { visibility: i === null ? "hidden" : null });
    if (i === null) return;
    const cx = x(plot.x[i]);
    setShape(line, { x1: cx, x2: cx });
    series.forEach(({ values }, k) => {
      const there = Number.isFinite(values[i]);
      setShape(dots[k], there ? { visibility: null, cx, cy: y(values[i]) } : { visibility: "hidden" });
    });
  };
  box.replaceChildren(svg);
  const said = (i) => series.filter(({ values }) => Number.isFinite(values[i]))
    .map(({ name, values }) => `${name}: ${numberText(values[i], 4)}`);
  pointing(box, svg, {
    count: plot.x.length,
    begin: () => plot.placeOf?.(store) ?? Math.floor(plot.x.length / 2),
    at: (px) => Math.max(0, Math.min(plot.x.length - 1, nearestPlace(plot.x, x.invert(px)))),
    where: (i) => [x(plot.x[i]), top],
    words: (i) => [`${plot.xName} ${xText(plot.x[i])}`, ...said(i)],
    marks: plot.marks,
    show: plot.marks ? null : show,
  }, store);
  const mark = () => show(plot.placeOf ? plot.placeOf(store) : null);
  mark();
  return mark;
}

function nearestPlace(values, at) {
  const distance = (i) => Math.abs(values[i] - at);
  return values.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}
