// Any two measures against each other: a dot for every head.

import { measureColors } from "./colors.js";
import { dotPlot } from "./dots.js";
import { choice, element } from "./elements.js";
import { numberText, offsetText, valueText } from "./format.js";
import { measureLabel } from "./measures.js";

export class HeadScatter {
  constructor(box, page, store) {
    Object.assign(this, { box, page, store, circles: [] });
  }

  // @param ink  name of the measure that colours the dots
  draw(ink) {
    const { page, store } = this;
    const { measures } = page;
    const all = [...measures.first(), ...measures.more()].filter((name) =>
      measures.get(name).kind !== "flag");
    this.box.hidden = all.length < 2;
    if (this.box.hidden) return;
    const names = chosenMeasures(all, store.state);
    const options = all.map((name) => [name, measureLabel(measures, name)]);
    const choose = (side) => (name) => store.change({ [side]: name });
    const select = (side, text) => choice(text, options, names[side], choose(side));
    const selects = [select("y", "Up"), select("x", "Right")];
    const label = "Heads by two measures: left and right go from dot to dot, Enter opens a head";
    const drawing = element("div", { class: "drawing", role: "group", "aria-label": label });
    this.box.replaceChildren(element("p", { class: "controls" }, ...selects), drawing);
    const inked = measures.get(ink);
    const colors = measureColors(inked);
    const said = (place) => `${measureLabel(measures, ink)}: ${valueText(inked, inked.values[place])}`;
    const dots = page.heads.map(({ name }, place) => ({
      x: measures.value(names.x, place) ?? NaN,
      y: measures.value(names.y, place) ?? NaN,
      size: 4,
      color: colors.color(inked.values[place]) ?? "none",
      name,
      more: [ink === names.x || ink === names.y ? "" : said(place)],
      marks: { head: name },
    }));
    const plot = {
      title: ["y", "x"].map((side) => measureLabel(measures, names[side])).join(" against "),
      dots,
      x: measureAxis(page, names.x),
      y: measureAxis(page, names.y),
      height: 270,
      click: (place) => store.change({ head: page.heads[place], view: "" }, true),
    };
    this.circles = dotPlot(drawing, plot, store).circles;
  }

  frame(chosen, pointed) {
    this.circles.forEach((circle, place) => {
      circle.classList.toggle("chosen", place === chosen);
      circle.classList.toggle("pointed", place === pointed);
    });
  }

  filter(shown) {
    this.circles.forEach((circle, place) => circle.classList.toggle("filtered", shown?.has(place) === false));
  }
}

// Names of the measures at both axes: those of the address, else how strongly against where.
function chosenMeasures(all, { x, y }) {
  const up = all.includes(y) ? y
    : ["strength", "weight", "change", "predicted_weight"].find((name) => all.includes(name)) ?? all[0];
  const right = ["offset", "changed_at", "predicted"].find((name) => all.includes(name))
    ?? all.find((name) => name !== up);
  return { x: all.includes(x) ? x : right, y: up };
}

function measureAxis({ measures, causal }, name) {
  const { kind, unit, values } = measures.get(name);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
  const ofUnit = unit === "1" ? "" : ` (${unit}${unit === "token" ? "s" : ""})`;
  const ofOffsets = [Math.min(low, -1), Math.max(high, causal ? 0.2 : 1)];
  return {
    title: measureLabel(measures, name) + (kind === "offset" ? " (tokens; stretched near 0)" : ofUnit),
    kind: kind === "offset" ? "offset" : "linear",
    domain: kind === "offset" ? ofOffsets : [low, high === low ? low + 1 : high + 0.03 * (high - low)],
    text: kind === "offset" ? offsetText : numberText,
  };
}
