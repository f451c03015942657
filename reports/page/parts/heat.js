// Matrices as pictures with axes: one pixel per cell, enlarged by the browser without smoothing.

import { axes } from "./axes.js";
import { amountColor, rampBar, weightShare } from "./colors.js";
import { element, setShape, shape } from "./elements.js";
import { pointing } from "./pointing.js";

function paintCells(canvas, { rows, columns, value, top }) {
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows; ++i)
    for (let k = 0; k < columns; ++k) {
      const share = weightShare(value(i, k), top);
      if (!Number.isFinite(share)) continue;
      const at = 4 * (i * columns + k);
      image.data.set(amountColor(share), at);
      image.data[at + 3] = 255;
    }
  context.putImageData(image, 0, 0);
}

// @param plot  { title, rows, columns: how many, value(row, column), top: value of the darkest colour,
//                what: name of the values, height of all cells or size of one, left, head, right: room
//                beside and above the cells, xTitle, yTitle, xTicks, yTicks: columns and rows that are named,
//                columnText(column), rowText(row), xText(column): a shorter name,
//                words(row, column) -> lines, marks(row, column), ridge(offset, x, y): path of a marked
//                offset, decorate(svg, x, y): draws more; x and y give where a column or row begins }
// @returns a function that shows the marked offset
export function heatPlot(box, plot, store) {
  const { rows, columns, left = 52, head = 20, right = 14, columnText, rowText, xText = columnText } = plot;
  const room = Math.max(220, box.clientWidth) - left - right;
  const width = plot.size ? plot.size * columns : room;
  const height = plot.size ? plot.size * rows : plot.height;
  const canvas = element("canvas", { "aria-hidden": "true" });
  paintCells(canvas, plot);
  Object.assign(canvas.style,
    { left: `${left}px`, top: `${head}px`, width: `${width}px`, height: `${height}px` });
  const whole = { width: left + width + right, height: head + height + (plot.xTicks.length ? 38 : 4) };
  const svg = shape("svg", { ...whole, role: "img", "aria-label": plot.title });
  const x = (column) => left + (width * column) / columns;
  const y = (row) => head + (height * row) / rows;
  svg.append(shape("rect", { class: "edge", x: left, y: head, width, height }));
  const across = Object.assign((column) => x(column + 0.5), { range: [x(0), x(columns)] });
  const down = Object.assign((row) => y(row + 0.5), { range: [y(0), y(rows)] });
  const { xTicks, yTicks, xTitle, yTitle } = plot;
  axes(svg, { x: across, y: down, xTicks, yTicks, xText, yText: rowText, xTitle, yTitle });
  plot.decorate?.(svg, x, y);
  const ridge = shape("path", { class: "marker" });
  const frame = shape("rect",
    { class: "marker", visibility: "hidden", width: width / columns, height: height / rows });
  svg.append(ridge, frame);
  box.classList.add("map");
  box.replaceChildren(canvas, svg, rampBar(plot.what, plot.top));
  const split = (i) => [Math.floor(i / columns), i % columns];
  const placeAt = (px, py) => {
    const [column, row] = [Math.floor(((px - left) / width) * columns),
      Math.floor(((py - head) / height) * rows)];
    return row >= 0 && column >= 0 && row < rows && column < columns ? row * columns + column : null;
  };
  pointing(box, svg, {
    count: rows * columns,
    columns,
    at: placeAt,
    where: (i) => [x((i % columns) + 1), y(Math.floor(i / columns))],
    words: (i) => plot.words(...split(i)),
    marks: (i) => plot.marks?.(...split(i)) ?? {},
    show: (i) => {
      if (i === null) return setShape(frame, { visibility: "hidden" });
      const [row, column] = split(i);
      return setShape(frame, { visibility: null, x: x(column), y: y(row) });
    },
  }, store);
  const mark = () => {
    const { offset } = store.marked;
    setShape(ridge, { d: offset === null ? null : plot.ridge?.(offset, x, y) ?? null });
  };
  mark();
  return mark;
}
