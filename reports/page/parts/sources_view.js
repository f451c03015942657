// The sources of a head: what wrote the parts of the states that it reads, by their shares of its scores.

import { choice, element, scrolled, shareCell, textTable, words } from "./elements.js";
import { offsetText } from "./format.js";

const least = 0.02; // share of the whole: smaller sources are summed up
const ofContent = "score_sources/content_key";

// Sources with their shares. Small ones are summed up; those without a share are left out.
export function sourceRows(names, query, key) {
  const rows = [];
  const rest = { name: "all smaller sources", query: 0, key: 0 };
  names.forEach((name, i) => {
    const shares = [query[i], key[i]];
    if (!shares.some(Number.isFinite)) return;
    if (shares.some((share) => Math.abs(share) >= least))
      return void rows.push({ name, query: query[i], key: key[i] });
    rest.query += query[i] || 0;
    rest.key += key[i] || 0;
  });
  return [rest.query, rest.key].some((share) => Math.abs(share) >= 0.005) ? [...rows, rest] : rows;
}

export const sourcesView = {
  id: "sources",
  title: "Sources",
  needs: ["score_sources/position_key"],
  follows: ["sources"],
  words: "Which parts of the states make the scores differ from offset to offset: embeddings of words and "
    + "positions, and what earlier layers wrote. The shares of a column sum to 1; negative ones oppose it.",
  async show({ arrays, at, name, store }) {
    const { sources } = store.state;
    const contents = arrays.has(ofContent) ? arrays.axis(ofContent, "content_offset").values : [];
    const content = (offset) => (offset === 0 ? "content of a token and itself"
      : `content of tokens at offset ${offsetText(offset)}`);
    const options = [["", "positions"], ...contents.map((offset) => [String(offset), content(offset)])];
    const names = ["query", "key"].map((side) => `${sources === "" ? "position" : "content"}_${side}`);
    const of = sources === "" ? at : { content_offset: Number(sources), ...at };
    const [query, key] = await arrays.slices("score_sources", names, of);
    const rows = query && key ? sourceRows(query.axes[0].values, query.values, key.values) : [];
    const columns = [{ header: "source", cells: rows.map((row) => row.name) },
      { header: "through queries", cells: rows.map((row) => shareCell(row.query, "query")) },
      { header: "through keys", cells: rows.map((row) => shareCell(row.key, "key")) }];
    return [
      element("div", { class: "controls" },
        choice("Scores of", options, sources, (value) => store.change({ sources: value }))),
      rows.length ? scrolled(`Sources of ${name}`, textTable(columns, "shares"))
        : words("The result has no sources of this head."),
    ];
  },
};
