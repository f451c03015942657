// Matrices as pictures: one pixel a cell, enlarged by the browser without smoothing.

import { amountColor, css } from "./colors.js";
import { numberText } from "./format.js";

// @param colorOf  (row, column) -> [red, green, blue], or null for nothing
export function paintCells(canvas, rows, columns, colorOf) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows; ++i)
    for (let k = 0; k < columns; ++k) {
      const color = colorOf(i, k);
      if (!color) continue;
      const at = 4 * (i * columns + k);
      [image.data[at], image.data[at + 1], image.data[at + 2]] = color;
      image.data[at + 3] = 255;
    }
  context.putImageData(image, 0, 0);
}

export function putOver(canvas, { left, top, width, height }) {
  Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
}

// How far along the colours an amount stands, 0 to 1: their steps are finer below.
export function amountShare(amount, top) {
  return Math.sqrt(Math.min(1, Math.max(0, amount) / top));
}

// What these colours stand for, from nothing to the top.
export function amountBar(what, top) {
  const svg = d3.create("svg").attr("class", "bar").attr("width", 300).attr("height", 26).attr("role", "img").attr("aria-label", `${what}: colours from 0 to ${numberText(top)}`);
  for (let i = 0; i < 150; ++i) svg.append("rect").attr("x", 8 + i).attr("width", 1.5).attr("height", 8).attr("fill", css(amountColor(amountShare(i, 150))));
  [[0, "0"], [0.5, numberText(top / 2, 2)], [1, numberText(top, 2)]].forEach(([at, text]) => svg.append("text").attr("x", 8 + 150 * at).attr("y", 22).attr("text-anchor", at === 0 ? "start" : "middle").text(text));
  svg.append("text").attr("x", 172).attr("y", 9).text(what);
  return svg.node();
}
