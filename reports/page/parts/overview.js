// Everything that shows all heads: grid and table, their colour and their filter.

import { element } from "./elements.js";
import { completions, filterTerms, passes } from "./filter.js";
import { headSpan, parseHead } from "./format.js";
import { HeadGrid } from "./grid.js";
import { measureLabel } from "./measures.js";
import { HeadTable, headColumns, sortedRows } from "./table.js";

const byId = (id) => document.getElementById(id);
// "looks_at" of "looks at", "x_chance" of "x chance".
const plainHeader = ({ header }) => header.split(",")[0].toLowerCase().replaceAll(" ", "_");

// The number that a cell consists of or begins with before a comma, "47 %, -30"; else its text, "2 back".
export function cellValue(cell) {
  return /^[+-]?[\d.]+( %)?(,|$)/.test(cell) ? parseFloat(cell) : cell;
}

// A filter that the page understands.
function filterExample(measures) {
  const known = ["part=match", "bits>2", "offset=-1", "strength>0.1", "changed=yes", "predicted=-1",
    "predicted_weight>0.1", "weight>0.1"];
  return known.filter((term) => measures.get(/^\w+/.exec(term)[0])).slice(0, 2).join(" ");
}

export class Overview {
  constructor(page, store) {
    Object.assign(this, { page, store, order: [] });
    this.grid = new HeadGrid(byId("grid"), byId("legend"), page, store);
    this.table = new HeadTable(byId("table"), page, store);
    this.select = byId("measure");
    this.filter = byId("filter");
    this.filter.placeholder = filterExample(page.measures);
    this.select.addEventListener("change", () => {
      const { value } = this.select;
      if (value === "more") this.fillMeasures(true);
      else store.change({ color: value === page.measures.first()[0] ? "" : value });
    });
    store.listenToMarks(() => this.frame());
    this.filter.addEventListener("input", () => store.change({ filter: this.filter.value }));
    this.filter.addEventListener("keydown", (event) => event.key === "Enter" && this.open());
  }

  // Opens the head that the filter names, else the first that it shows.
  open() {
    const { page, store, order } = this;
    const named = parseHead(this.filter.value.trim().toUpperCase());
    const place = named ? page.placeOf(named) : order[0] ?? -1;
    if (place < 0) return;
    const { layer, head } = page.heads[place];
    store.change({ head: { layer, head }, view: "", filter: named ? "" : this.filter.value }, true);
  }

  // Why no head passes the filter.
  complaint(terms, cellsOf) {
    const { page } = this;
    const count = page.heads.length;
    const places = [...Array(count).keys()];
    const said = terms.map(({ name, sign, value, word }) => {
      const typed = word?.toUpperCase() ?? "";
      const head = parseHead(typed);
      if (head && page.placeOf(head) < 0) return `there is no ${typed}: heads are ${headSpan(page)}`;
      const stands = (row) => passes([{ word }], () => undefined, cellsOf(row));
      if (word && !places.some(stands)) return `\u201c${word}\u201d stands in no row of the table`;
      const meanings = (name && page.measures.get(name)?.meanings) ?? [];
      const isOne = completions(`${name}=${value}`, [], () => meanings).length > 0;
      return sign === "=" && meanings.length && !isOne ? `${name} is one of ${meanings.join(", ")}` : "";
    });
    return said.filter(Boolean).join("; ") || "no head meets all of this";
  }

  measure() {
    const { measures } = this.page;
    return measures.get(this.store.state.color) ? this.store.state.color : measures.first()[0];
  }

  // Offers the first measures; all of them, by the analysis that found them, once "more" is chosen.
  fillMeasures(all) {
    const { measures } = this.page;
    const first = measures.first();
    const rest = measures.more();
    const chosen = this.measure();
    const option = (name) => element("option", { value: name, selected: name === chosen },
      measureLabel(measures, name));
    const groups = new Map();
    for (const name of all ? rest : []) {
      const label = name.split("/")[0].replaceAll("_", " ");
      if (!groups.has(label)) groups.set(label, element("optgroup", { label }));
      groups.get(label).append(option(name));
    }
    const shown = all || first.includes(chosen) ? first : [...first, chosen];
    const more = all || !rest.length ? [] : [element("option", { value: "more" }, "more \u2026")];
    this.select.replaceChildren(...shown.map(option), ...groups.values(), ...more);
    if (all) this.select.focus();
  }

  // Names that a filter knows: measures by their plain name, and columns of the table by their header.
  names(columns) {
    const plain = this.page.measures.first().filter((name) => !name.includes("/"));
    return [...new Set([...plain, "layer", ...columns.map(plainHeader).filter(Boolean)])];
  }

  // What a filter compares: a number, a word, null where it is undefined; undefined if there is no such name.
  valueOf(name, columns, row) {
    const { measures, heads, named } = this.page;
    const place = named.get(columns[0].cells[row]);
    if (name === "layer" || name === "head") return heads[place]?.[name];
    const measure = measures.get(name);
    if (measure?.kind === "flag") return measures.word(name, place) || null;
    if (measure) return measure.values[place] ?? null;
    const cell = columns.find((column) => plainHeader(column) === name)?.cells[row].replaceAll("\u2212", "-");
    if (!cell) return cell === undefined ? undefined : null;
    return cellValue(cell);
  }

  draw() {
    this.fillMeasures(false);
    this.grid.draw(this.measure());
    this.drawRows();
  }

  // Fills the table by filter and order, and fades in the drawings what the filter leaves out.
  drawRows() {
    const { page, store } = this;
    const { color, filter, sort } = store.state;
    const columns = headColumns(page, color);
    if (this.filter.value !== filter) this.filter.value = filter;
    const wordsOf = (name) => page.measures.get(name)?.meanings ?? [];
    const options = completions(filter, this.names(columns), wordsOf);
    byId("completions").replaceChildren(...options.map((value) => element("option", { value })));
    const terms = filterTerms(filter);
    const cellsOf = (row) => {
      const place = page.named.get(columns[0].cells[row]) ?? -1;
      const verdicts = ["part", "profile", "kind"].map((name) => page.measures.word(name, place));
      return [...columns.map(({ cells }) => cells[row]), ...verdicts];
    };
    const isShown = (row) => passes(terms, (name) => this.valueOf(name, columns, row), cellsOf(row));
    const rows = sortedRows(columns, sort).filter(isShown);
    this.table.draw(columns, rows);
    this.order = rows.map((row) => page.named.get(columns[0].cells[row]))
      .filter((place) => place !== undefined);
    const all = columns[0].cells.length;
    const shown = rows.length === all ? null : new Set(this.order);
    this.grid.filter(shown);
    const unknown = terms.filter(({ name }) => name && this.valueOf(name, columns, 0) === undefined)
      .map(({ name }) => name);
    const note = unknown.length
      ? `; unknown: ${unknown.join(", ")} (names: ${this.names(columns).join(", ")})`
      : rows.length ? "" : `: ${this.complaint(terms, cellsOf)}`;
    byId("filtered").textContent = `${shown ? `${rows.length} of ${all}` : all} heads${note}`;
    this.frame();
  }

  // Shows which head is chosen and which is pointed at.
  frame() {
    const { state, marked } = this.store;
    const chosen = state.head ? this.page.placeOf(state.head) : -1;
    const pointed = this.page.named.get(marked.head) ?? -1;
    for (const part of [this.grid, this.table]) part.frame(chosen, pointed);
  }
}
