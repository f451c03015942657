// Matrices as pictures: one pixel a cell, enlarged by the browser without smoothing.

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
