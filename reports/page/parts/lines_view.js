// Head view, as BertViz draws it: lines from queries to keys, as strong as the weights.

import { parseRegion } from "./address.js";
import { element } from "./elements.js";
import { numberText, offsetText } from "./format.js";
import { fades, mapOf } from "./map_data.js";
import { shortToken } from "./map_drawing.js";
import { followKeys } from "./plot.js";
import { hideTip, say, showTip } from "./tip.js";

const most = 32; // tokens on a side
const least = 0.02; // weight of a line

// The tokens that are shown: those of the map's region, as far as their weights are exact.
export function lineTokens(map, at) {
  const region = parseRegion(at) ?? map.window;
  const side = (name) => {
    const first = Math.max(region[name][0], map.window[name][0]);
    const end = Math.min(region[name][1], map.window[name][1], first + most);
    return end > first ? [first, end] : [map.window[name][0], Math.min(map.window[name][1], map.window[name][0] + most)];
  };
  return { query: side("query"), key: side("key") };
}

export function linesOf(map, tokens) {
  const lines = [];
  for (let query = tokens.query[0]; query < tokens.query[1]; ++query)
    for (let key = tokens.key[0]; key < tokens.key[1]; ++key) {
      const weight = map.weights[(query - map.window.query[0]) * map.columns + key - map.window.key[0]];
      if (weight >= least) lines.push({ query, key, weight });
    }
  return lines;
}

export const linesView = {
  id: "lines",
  title: "Head view",
  needs: ["attention_map/weight"],
  follows: ["at", "dim"],
  words: `Lines from queries on the left to keys on the right, as strong as the weight; below ${least} none. Point at a token to see its lines alone. The tokens are those of the map, ${most} at most.`,
  async draw(box, context) {
    const map = await mapOf(context);
    if (!map) {
      box.replaceChildren(element("p", { class: "words" }, "No map of this head is in the page."));
      return () => {};
    }
    const { store, name } = context;
    const tokens = lineTokens(map, store.state.at);
    const lines = linesOf(map, tokens);
    const drawing = element("div", { class: "drawing", "aria-label": "Head view: left and right go through queries" });
    box.replaceChildren(drawing);
    const width = Math.max(240, Math.min(560, drawing.clientWidth));
    const side = Math.min(110, width * 0.3);
    const step = 17;
    const rows = Math.max(tokens.query[1] - tokens.query[0], tokens.key[1] - tokens.key[0]);
    const svg = d3.create("svg").attr("width", width).attr("height", rows * step + 24).attr("role", "img").attr("aria-label", `Head view of ${name}: ${lines.length} weights of at least ${least}`);
    svg.append("text").attr("x", side - 6).attr("y", 10).attr("text-anchor", "end").text("query");
    svg.append("text").attr("x", width - side + 6).attr("y", 10).text("key");
    const y = (position, which) => 24 + (position - tokens[which][0] + 0.5) * step;
    const { dim } = store.state;
    const faded = (which, position) => fades(dim, map[`${which}Special`], position);
    const paths = svg.append("g").selectAll("line").data(lines).join("line")
      .attr("x1", side).attr("x2", width - side).attr("y1", (line) => y(line.query, "query")).attr("y2", (line) => y(line.key, "key"))
      .attr("stroke-width", 2).style("stroke", "var(--accent)");
    const show = () => {
      const { marked } = store;
      const offset = store.offset();
      const isMarked = (line) => (marked.query !== null && marked.key !== null ? line.query === marked.query && line.key === marked.key : offset !== null && line.key - line.query === offset);
      const isShown = (line) => (marked.query === null || line.query === marked.query) && (marked.key === null || line.key === marked.key || marked.query === null);
      paths.style("stroke", (line) => (isMarked(line) ? "var(--mark)" : "var(--accent)"))
        .attr("stroke-opacity", (line) => (faded("query", line.query) || faded("key", line.key) ? 0.15 : 1) * (isMarked(line) ? Math.max(0.5, line.weight) : isShown(line) ? line.weight : 0.03));
    };
    const words = (which, position) => {
      const own = lines.filter((line) => line[which] === position).sort((a, b) => b.weight - a.weight).slice(0, 4);
      const other = which === "query" ? "key" : "query";
      return [`${which} ${position} \u201c${map[`${which}Tokens`][position] ?? ""}\u201d`, ...own.map((line) => `${numberText(line.weight, 3)} ${which === "query" ? "to" : "from"} ${line[other]} \u201c${map[`${other}Tokens`][line[other]] ?? ""}\u201d, offset ${offsetText(line.key - line.query)}`)];
    };
    for (const which of ["query", "key"])
      for (let position = tokens[which][0]; position < tokens[which][1]; ++position) {
        const text = svg.append("text").attr("class", `token${faded(which, position) ? " faded" : ""}`).attr("x", which === "query" ? side - 6 : width - side + 6).attr("y", y(position, which) + 4)
          .attr("text-anchor", which === "query" ? "end" : "start").text(shortToken(map[`${which}Tokens`][position])).node();
        text.addEventListener("pointermove", (event) => {
          store.mark({ [which]: position });
          showTip(words(which, position), event.clientX, event.clientY);
        });
        text.addEventListener("pointerleave", () => {
          hideTip();
          store.mark({});
        });
      }
    drawing.append(svg.node());
    let here = -1;
    followKeys(drawing, tokens.query[1] - tokens.query[0], () => here, (i) => {
      here = i;
      const position = tokens.query[0] + i;
      const said = words("query", position);
      store.mark({ query: position });
      const at = drawing.getBoundingClientRect();
      showTip(said, at.left + side, at.top + y(position, "query"));
      say(said.join(", "));
    }, () => {
      hideTip();
      store.mark({});
    });
    show();
    return show;
  },
};
