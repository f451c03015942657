// Everything that shows all heads: grid and table, with their colours and their filter.

import { element } from "./elements.js";
import { filterTerms, passes } from "./filter.js";
import { parseHead } from "./format.js";
import { HeadGrid } from "./grid.js";
import { measureLabel } from "./measures.js";
import { HeadTable, headColumns, sortedRows } from "./table.js";

const byId = (id) => document.getElementById(id);
export class Overview {
  constructor(page, store) {
    Object.assign(this, { page, store, order: [] });
    this.grid = new HeadGrid(byId("grid"), byId("legend"), page, store);
    this.table = new HeadTable(byId("table"), page, store);
    this.select = byId("measure");
    this.filter = byId("filter");
    this.select.addEventListener("change", () => {
      const { value } = this.select;
      store.change({ color: value === page.measures.first()[0] ? "" : value });
    });
    store.listenToMarks(() => this.frame());
    this.filter.addEventListener("input", () => store.change({ filter: this.filter.value }));
    this.filter.addEventListener("keydown", (event) => event.key === "Enter" && this.open());
  }

  // Opens the head that the filter names, or else the first that it shows.
  open() {
    const { page, store, order } = this;
    const named = parseHead(this.filter.value.trim().toUpperCase());
    const place = named ? page.placeOf(named) : order[0] ?? -1;
    if (place < 0) return;
    const { layer, head } = page.heads[place];
    store.change({ head: { layer, head }, view: "", filter: named ? "" : this.filter.value }, true);
  }

  measure() {
    const { measures } = this.page;
    return measures.get(this.store.state.color) ? this.store.state.color : measures.first()[0];
  }

  fillMeasures() {
    const { measures } = this.page;
    const chosen = this.measure();
    const option = (name) => element("option", { value: name, selected: name === chosen },
      measureLabel(measures, name));
    const offered = measures.first();
    this.select.replaceChildren(...(offered.includes(chosen) ? offered : [...offered, chosen]).map(option));
  }

  draw() {
    this.fillMeasures();
    this.grid.draw(this.measure());
    this.drawRows();
  }

  // Fills the table by filter and order, and fades the filtered heads in the grid.
  drawRows() {
    const { page, store } = this;
    const { filter, sort } = store.state;
    const columns = headColumns(page);
    if (this.filter.value !== filter) this.filter.value = filter;
    const terms = filterTerms(filter);
    const placeOf = (row) => page.named.get(columns[0].cells[row]) ?? -1;
    const valueOf = (name, row) =>
      page.heads[placeOf(row)]?.[name] ?? page.measures.found(name, placeOf(row));
    const cellsOf = (row) => {
      const verdicts = ["part", "profile", "kind"].map((name) => page.measures.word(name, placeOf(row)));
      return [...columns.map(({ cells }) => cells[row]), ...verdicts];
    };
    const isShown = (row) => passes(terms, (name) => valueOf(name, row), cellsOf(row));
    const rows = sortedRows(columns, sort).filter(isShown);
    this.table.draw(columns, rows);
    this.order = rows.map((row) => page.named.get(columns[0].cells[row]))
      .filter((place) => place !== undefined);
    const all = columns[0].cells.length;
    const shown = rows.length === all ? null : new Set(this.order);
    this.grid.filter(shown);
    const unknown = terms.filter(({ name }) => name && valueOf(name, 0) === undefined)
      .map(({ name }) => name);
    const note = unknown.length
      ? `; unknown: ${unknown.join(", ")} (names: layer, head, ${page.measures.first().join(", ")})` : "";
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
