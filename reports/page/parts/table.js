// The table of heads: sorted by any column.

import { element } from "./elements.js";
import { compareKeys, parseHead, sortKey } from "./format.js";

// Rows in the order asked for: "3" by column 3, "-3" descending, "" unsorted. Empty cells come last.
export function sortedRows(columns, sort) {
  const rows = Array.from({ length: columns[0]?.cells.length ?? 0 }, (_, i) => i);
  const found = /^(-?)(\d+)$/.exec(sort);
  const column = found && columns[Number(found[2])];
  if (!column) return rows;
  const keys = column.cells.map(sortKey);
  const turned = found[1] ? -1 : 1;
  const order = (a, b) => (a.rank !== b.rank ? a.rank - b.rank : turned * compareKeys(a, b));
  return rows.sort((a, b) => order(keys[a], keys[b]) || a - b);
}

export function headColumns({ result: { table }, heads }) {
  return table.length ? table : [{ header: "head", right: false, cells: heads.map((head) => head.name) }];
}

export class HeadTable {
  constructor(box, page, store) {
    Object.assign(this, { box, page, store });
  }

  // @param columns  of headColumns()
  // @param rows     numbers of the rows to show, in order
  draw(columns, rows) {
    const headers = columns.map((column, k) => this.header(column, k));
    const body = rows.map((i) => this.row(columns, i));
    this.box.replaceChildren(element("table", {},
      element("caption", { class: "spoken" }, "Heads; the headers sort, the first column leads to a head"),
      element("thead", {}, element("tr", {}, ...headers)), element("tbody", {}, ...body)));
  }

  header(column, k) {
    const { sort } = this.store.state;
    const direction = sort === String(k) ? "ascending" : sort === `-${k}` ? "descending" : "none";
    const arrow = { ascending: " \u2191", descending: " \u2193", none: "" }[direction];
    // Numbers are sorted from the largest, words by the alphabet.
    const [first, second] = column.right ? [`-${k}`, String(k)] : [String(k), `-${k}`];
    const next = sort === first ? second : sort === second ? "" : first;
    const button = element("button", { type: "button", onclick: () => this.store.change({ sort: next }) },
      `${column.header || "\u00a0"}${arrow}`);
    if (!column.header) button.setAttribute("aria-label", `column ${k + 1}`);
    return element("th", { scope: "col", class: column.right ? "right" : "", "aria-sort": direction },
      button);
  }

  row(columns, i) {
    const name = columns[0].cells[i];
    const head = parseHead(name);
    const link = element("a", { href: `#/${name}` }, name);
    link.addEventListener("click", (event) => {
      if (!head || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.store.change({ head, view: "" }, true);
    });
    const cells = columns.slice(1)
      .map((column) => element("td", { class: column.right ? "right" : "" }, column.cells[i]));
    const row = element("tr", { "data-head": name }, element("th", { scope: "row" }, link), ...cells);
    row.addEventListener("pointerenter", () => this.store.mark({ head: name }));
    row.addEventListener("pointerleave", () => this.store.mark({}));
    return row;
  }

  frame(...places) {
    ["chosen", "marked"].forEach((kind, i) => {
      for (const row of this.box.querySelectorAll(`tr.${kind}`)) row.classList.remove(kind);
      const head = this.page.heads[places[i]];
      if (head) this.box.querySelector(`tbody tr[data-head="${head.name}"]`)?.classList.add(kind);
    });
  }
}
