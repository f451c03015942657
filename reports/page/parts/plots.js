// The content of a view: elements, and plots of lines or cells.

import { element } from "./elements.js";
import { heatPlot } from "./heat.js";
import { lineKey, linePlot } from "./lines.js";

const kinds = { lines: linePlot, heat: heatPlot };

// @param parts  elements, and plots { kind: "lines" or "heat", title, ... }: see linePlot(), heatPlot()
// @param name   of the head
// @returns a function that shows what other views mark
export function drawParts(box, parts, { name, store }) {
  const made = parts.filter(Boolean).map((part) => {
    if (part instanceof Node) return { nodes: [part] };
    const label = `${part.title} of ${name}: arrow keys go through its places`;
    const drawing = element("div", { class: "drawing", role: "group", "aria-label": label });
    const key = part.kind === "lines" && part.series.length > 1 ? [lineKey(part.series)] : [];
    return { part, drawing, nodes: [...key, drawing] };
  });
  box.replaceChildren(...made.flatMap(({ nodes }) => nodes));
  // A drawing takes the width of its place on the page, so all are put there first.
  const marks = made.filter(({ part }) => part)
    .map(({ part, drawing }) => kinds[part.kind](drawing, part, store));
  return () => marks.forEach((mark) => mark());
}
