// The attention map: queries down, keys across; weight by weight in its window, in tiles over all of the document.

import { choice, element, numbersBelow } from "./elements.js";
import { numberText } from "./format.js";
import { amountBar } from "./heat.js";
import { mapOf } from "./map_data.js";
import { MapDrawing } from "./map_drawing.js";

export const mapView = {
  id: "map",
  title: "Attention map",
  needs: ["attention_map/weight"],
  follows: ["at", "tiles", "dim"],
  words: "Queries down, keys across. Drag a rectangle, press + and \u2212, or turn the wheel with Ctrl to zoom; 0 or a double click leads back.",
  async draw(box, context) {
    const map = await mapOf(context);
    if (!map) {
      box.replaceChildren(element("p", { class: "words" }, "The page holds maps of the heads that look most strongly, for want of room; this one is in the result file."));
      return () => {};
    }
    const drawing = element("div", { class: "map drawing", tabIndex: 0, role: "group", "aria-label": "Attention map: arrows go through cells, plus and minus zoom" });
    const mapped = new MapDrawing(drawing, map, context);
    const { store } = context;
    const controls = element("div", { class: "controls" });
    const button = (text, label, pressed) => element("button", { type: "button", onclick: pressed, "aria-label": label }, text);
    controls.append(element("span", {}, button("+", "zoom in", () => mapped.zoom(1 / 1.5, mapped.cursor)), " ", button("\u2212", "zoom out", () => mapped.zoom(1.5, mapped.cursor)), " ", button("exact window", "exact window", () => mapped.show(map.window)), map.tile ? " " : "", map.tile ? button("whole document", "whole document", () => mapped.show(map.whole)) : ""));
    if (!mapped.cells.exact) controls.append(choice("Tiles show the", [["", "largest weight"], ["mean", "mean weight"]], store.state.tiles, (tiles) => store.change({ tiles })));
    const { cells } = mapped;
    const kind = cells.exact
      ? `Exact weights of queries ${cells.first.query}\u2013${cells.first.query + cells.rows - 1}`
      : `Pooled: ${store.state.tiles === "mean" ? "mean" : "largest"} weight in tiles of ${cells.step.query} \u00d7 ${cells.step.key} tokens, ${map.loss}`;
    const words = element("p", { class: "words" }, `${kind}${map.document ? `, of ${map.document}` : ""}. Special tokens may lie above the scale.`);
    box.replaceChildren(controls, words, drawing, amountBar("weight", mapped.top), numbersBelow(() => mapColumns(map, cells)));
    mapped.draw();
    return () => mapped.mark();
  },
};

function mapColumns(map, cells) {
  const label = (side, i) => `${cells.first[side] + i * cells.step[side]} ${cells.exact ? map[`${side}Tokens`][cells.first[side] + i] ?? "" : ""}`;
  const columns = [{ header: "query \\ key", cells: Array.from({ length: cells.rows }, (_, i) => label("query", i)) }];
  for (let k = 0; k < cells.columns; ++k) columns.push({ header: label("key", k), right: true, cells: Array.from({ length: cells.rows }, (_, i) => numberText(cells.at(i, k), cells.exact ? 4 : 2)) });
  return columns;
}
