// The table of heads: sorted by any column, filtered by words.

import { element } from "./elements.js";
import { compareKeys, measureName, parseHead, sortKey, valueText } from "./format.js";

// Rows in the order asked for: "3" by column 3, "-3" the other way round, "" as they came. Rows that say nothing stay last.
export function sortedRows(columns, sort) {
  const rows = Array.from({ length: columns[0]?.cells.length ?? 0 }, (_, i) => i);
  const found = /^(-?)(\d+)$/.exec(sort);
  const column = found && columns[Number(found[2])];
  if (!column) return rows;
  const keys = column.cells.map(sortKey);
  const turned = found[1] ? -1 : 1;
  return rows.sort((a, b) => (keys[a].rank !== keys[b].rank ? keys[a].rank - keys[b].rank : turned * compareKeys(keys[a], keys[b])) || a - b);
}

// Whether every word stands somewhere in the row; "-1" and "\u22121" are one.
export function isFound(cells, filter) {
  const plain = (text) => String(text).toLowerCase().replaceAll("\u2212", "-");
  const row = cells.map(plain);
  return plain(filter).split(/\s+/).filter(Boolean).every((word) => row.some((cell) => (/^[+-]?\d/.test(word) ? cell.split(/[\s()]+/).includes(word) || cell === word : cell.includes(word))));
}

export class HeadTable {
  // @param filtered  told which heads are shown, null: all
  constructor(box, count, page, store, filtered) {
    Object.assign(this, { box, count, page, store, filtered });
    store.listenToMarks((marked) => this.mark(marked.head));
  }

  // The result's own columns, and behind the head the measure of the grid.
  columns(measure) {
    const { layers, heads, table } = this.page.result;
    const own = table.length ? table : [{ header: "head", right: false, cells: layers.flatMap((layer) => heads.map((head) => `L${layer}H${head}`)) }];
    if (!measure) return own;
    const valueOf = (name) => {
      const at = parseHead(name);
      return at ? valueText(measure, measure.values[layers.indexOf(at.layer) * heads.length + heads.indexOf(at.head)]) : "";
    };
    return [own[0], { header: measureName(measure), right: measure.kind !== "flag", cells: own[0].cells.map(valueOf) }, ...own.slice(1)];
  }

  draw(measure) {
    const { sort, filter } = this.store.state;
    const columns = this.columns(measure);
    const rows = sortedRows(columns, sort).filter((i) => isFound(columns.map((column) => column.cells[i]), filter));
    const table = element("table", {}, element("caption", { class: "spoken" }, "Heads; the headers sort, the first column leads to a head"));
    const header = element("tr");
    columns.forEach((column, k) => header.append(this.header(column, k, sort)));
    table.append(element("thead", {}, header));
    const body = element("tbody");
    for (const i of rows) body.append(this.row(columns, i));
    table.append(body);
    this.box.replaceChildren(table);
    const all = columns[0].cells.length;
    this.count.textContent = rows.length === all ? `${all} heads` : `${rows.length} of ${all} heads`;
    this.filtered(rows.length === all ? null : new Set(rows.map((i) => columns[0].cells[i])));
    this.choose();
  }

  header(column, k, sort) {
    const turned = sort === String(k) ? "ascending" : sort === `-${k}` ? "descending" : "none";
    const button = element("button", { type: "button" }, `${column.header || "\u00a0"}${{ ascending: " \u2191", descending: " \u2193", none: "" }[turned]}`);
    if (!column.header) button.setAttribute("aria-label", `column ${k + 1}`);
    // Numbers are asked for largest first, names in their order.
    const first = column.right ? `-${k}` : String(k);
    const second = column.right ? String(k) : `-${k}`;
    button.addEventListener("click", () => this.store.change({ sort: sort === first ? second : sort === second ? "" : first }));
    return element("th", { scope: "col", class: column.right ? "right" : "", "aria-sort": turned }, button);
  }

  row(columns, i) {
    const name = columns[0].cells[i];
    const row = element("tr", { "data-head": name });
    const head = parseHead(name);
    const link = element("a", { href: `#/${name}` }, name);
    link.addEventListener("click", (event) => {
      if (!head || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.store.change({ head }, true);
    });
    row.append(element("th", { scope: "row" }, link));
    columns.slice(1).forEach((column) => row.append(element("td", { class: column.right ? "right" : "" }, column.cells[i])));
    row.addEventListener("pointerenter", () => this.store.mark({ head: name }));
    row.addEventListener("pointerleave", () => this.store.mark({}));
    return row;
  }

  choose() {
    const { head } = this.store.state;
    const name = head ? `L${head.layer}H${head.head}` : "";
    for (const row of this.box.querySelectorAll("tbody tr")) row.classList.toggle("chosen", row.dataset.head === name);
  }

  mark(name) {
    for (const row of this.box.querySelectorAll("tr.marked")) row.classList.remove("marked");
    for (const row of name ? this.box.querySelectorAll("tbody tr") : []) row.classList.toggle("marked", row.dataset.head === name);
  }
}
