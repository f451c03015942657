// Elements of the page and of drawings. A text is never read as HTML.

import { percentText } from "./format.js";

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// An element of a drawing; attributes that are null are left out.
export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function setShape(made, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null) made.removeAttribute(key);
    else made.setAttribute(key, value);
  }
}

// A table: columns are { header, cells, right }; a cell is a text, or a list of texts and elements.
export function textTable(columns, kind = "") {
  const side = (column) => (column.right ? "right" : "");
  const header = columns.map((column) => element("th", { scope: "col", class: side(column) }, column.header));
  const rows = (columns[0]?.cells ?? []).map((_, i) => element("tr", {}, ...columns.map((column, k) => {
    const cell = element(k === 0 ? "th" : "td", { class: side(column) }, ...[column.cells[i]].flat());
    if (k === 0) cell.scope = "row";
    return cell;
  })));
  return element("table", { class: kind }, element("thead", {}, element("tr", {}, ...header)),
    element("tbody", {}, ...rows));
}

export function scrolled(label, content) {
  return element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": label }, content);
}

// A choice of one among options [value, text].
export function choice(label, options, value, chosen) {
  const made = options.map(([key, text]) => element("option", { value: key, selected: key === value }, text));
  const select = element("select", {}, ...made);
  select.addEventListener("change", () => chosen(select.value));
  return element("label", {}, label, select);
}

export function button(text, label, pressed) {
  return element("button", { type: "button", onclick: pressed, "aria-label": label, title: label }, text);
}

export function words(text) {
  return element("p", { class: "words" }, text);
}

// A bar beside a text, for a share from 0 to 1.
export function textBar(share, kind) {
  const filled = element("span", { class: kind });
  filled.style.width = `${Math.round(100 * Math.max(0, Math.min(1, share || 0)))}%`;
  return element("span", { class: "track", "aria-hidden": "true" }, filled);
}

// A share as the content of a cell.
export function shareCell(share, kind) {
  return [textBar(share, kind), percentText(share)];
}
