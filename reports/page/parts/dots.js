// Dots at two numbers each; a dot without a number stands in a strip beside the axis.

import { axes, scale } from "./axes.js";
import { setShape, shape } from "./elements.js";
import { numberText } from "./format.js";
import { pointing } from "./pointing.js";

// @param plot  { title, dots: [{ x, y, size, color, name, more: lines, marks }],
//                x, y: { title, kind, domain, text }, height, offsets: "x" or "y", the axis that has offsets,
//                click(i) }
// @returns { circles, mark, columns }
export function dotPlot(box, plot, store) {
  const { dots, height = 250 } = plot;
  const width = Math.max(220, box.clientWidth);
  const lost = (side) => dots.some((dot) => !Number.isFinite(dot[side]));
  const [left, right, bottom] = [52, width - (lost("x") ? 46 : 14), height - (lost("y") ? 60 : 38)];
  const axis = {
    x: scale(plot.x.domain, [left, right], plot.x.kind),
    y: scale(plot.y.domain, [bottom, 20], plot.y.kind),
  };
  const text = { x: plot.x.text ?? numberText, y: plot.y.text ?? numberText };
  const svg = shape("svg", { width, height, role: "img", "aria-label": plot.title });
  axes(svg, { ...axis, xText: text.x, yText: text.y, xTitle: plot.x.title, yTitle: plot.y.title,
    lines: true });
  const strip = { x: right + 28, y: bottom + 42 };
  if (lost("x")) svg.append(shape("text", { x: strip.x, y: bottom + 16, "text-anchor": "middle" }, "none"));
  if (lost("y")) svg.append(shape("text", { x: left - 8, y: strip.y + 4, "text-anchor": "end" }, "none"));
  // Beyond the axis a dot stands at its end.
  const place = (side, value) => {
    if (!Number.isFinite(value)) return strip[side];
    const ends = axis[side].range;
    return Math.max(Math.min(...ends), Math.min(Math.max(...ends), axis[side](value)));
  };
  const places = dots.map((dot) => [place("x", dot.x), place("y", dot.y)]);
  const circles = dots.map((dot, i) => {
    const [cx, cy] = places[i];
    return shape("circle", { class: "dot", cx, cy, r: dot.size, style: `fill: ${dot.color}` });
  });
  const level = shape("line", { class: "marker", visibility: "hidden" });
  const ring = shape("circle", { class: "marker", r: 7, visibility: "hidden" });
  svg.append(...circles, level, ring);
  box.replaceChildren(svg);
  // Keys go from dot to dot, from left to right.
  const order = dots.map((_, i) => i)
    .sort((a, b) => places[a][0] - places[b][0] || places[b][1] - places[a][1]);
  const far = (k, px, py) => Math.hypot(places[order[k]][0] - px, places[order[k]][1] - py);
  const said = (side, dot) => `${plot[side].title}: ${text[side](dot[side])}`;
  pointing(box, svg, {
    count: order.length,
    at: (px, py) => {
      const best = order.reduce((near, _, k) => (far(k, px, py) < far(near, px, py) ? k : near), 0);
      return order.length && far(best, px, py) < 30 ? best : null;
    },
    where: (k) => places[order[k]],
    words: (k) => {
      const dot = dots[order[k]];
      return [dot.name, said("y", dot), said("x", dot), ...(dot.more ?? [])].filter(Boolean);
    },
    marks: (k) => dots[order[k]].marks ?? {},
    show: (k) => {
      if (k === null) return setShape(ring, { visibility: "hidden" });
      const [cx, cy] = places[order[k]];
      return setShape(ring, { visibility: null, cx, cy });
    },
    click: plot.click && ((k) => plot.click(order[k])),
  }, store);
  const mark = () => {
    const offset = store.offset();
    const along = axis[plot.offsets];
    const shown = along && offset !== null && offset >= along.domain[0] && offset <= along.domain[1];
    setShape(level, { visibility: shown ? null : "hidden" });
    if (!shown) return;
    const at = along(offset);
    const [across, down] = [axis.x.range, axis.y.range];
    const isLevel = plot.offsets === "y";
    const [x1, x2] = isLevel ? across : [at, at];
    const [y1, y2] = isLevel ? [at, at] : down;
    setShape(level, { x1, x2, y1, y2 });
  };
  mark();
  const numbers = (side) => dots.map((dot) => numberText(dot[side], 4));
  const column = (side) => ({ header: plot[side].title, right: true, cells: numbers(side) });
  const columns = () => [{ header: "", cells: dots.map(({ name }) => name) }, column("x"), column("y")];
  return { circles, mark, columns };
}
