// The most periodic columns of a head's redefined queries and keys, over the tokens of the first document.

import { element, numbersBelow } from "./elements.js";
import { leftOut, numberText } from "./format.js";
import { lineKey, linePlot } from "./plot.js";

export const wavesView = {
  id: "waves",
  title: "Waves in queries and keys",
  needs: ["redefined/query", "redefined/key"],
  words: (page) => `The two most periodic columns of the redefined queries and keys over the first document. A head that looks t tokens on has keys that run t tokens behind.${leftOut(page)}`,
  async draw(box, { arrays, at, name, store }) {
    const query = await arrays.slice("redefined/query", at);
    const key = await arrays.slice("redefined/key", at);
    const positions = query.axes[1].values;
    const count = positions.length;
    box.replaceChildren(lineKey([{ name: "query" }, { name: "key" }]));
    const ends = [];
    const columns = [{ header: "position", right: true, cells: positions }];
    for (let wave = 0; wave < query.axes[0].values.length; ++wave) {
      const drawing = element("div", { class: "drawing", "aria-label": `Wave ${wave + 1}: left and right go through positions` });
      box.append(drawing);
      const [q, k] = [query, key].map((side) => Array.from(side.values.subarray(wave * count, (wave + 1) * count)));
      columns.push({ header: `query ${wave + 1}`, right: true, cells: q.map((value) => numberText(value)) }, { header: `key ${wave + 1}`, right: true, cells: k.map((value) => numberText(value)) });
      ends.push(linePlot(drawing, {
        x: positions,
        series: [{ name: "query", values: q }, { name: "key", values: k }],
        xTitle: "position (token)",
        yTitle: `wave ${wave + 1}`,
        height: 140,
        label: `Wave ${wave + 1} of ${name}: a column of queries and of keys over positions`,
        marks: (i) => ({ query: positions[i] }),
        placeOf: ({ marked }) => (marked.query === null ? null : positions.indexOf(marked.query) < 0 ? null : positions.indexOf(marked.query)),
      }, store));
    }
    box.append(numbersBelow(() => columns));
    return () => ends.forEach((mark) => mark());
  },
};
