// Elements, made with text as text.

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

// A table of texts: columns are { header, cells, right }.
export function textTable(columns, caption) {
  const table = element("table");
  if (caption) table.append(element("caption", { class: "spoken" }, caption));
  const row = element("tr");
  for (const column of columns) row.append(element("th", { scope: "col", class: column.right ? "right" : "" }, column.header));
  table.append(element("thead", {}, row));
  const body = element("tbody");
  const count = columns.length ? columns[0].cells.length : 0;
  for (let i = 0; i < count; ++i) {
    const line = element("tr");
    columns.forEach((column, k) => line.append(element(k === 0 ? "th" : "td", { class: column.right ? "right" : "", ...(k === 0 ? { scope: "row" } : {}) }, String(column.cells[i]))));
    body.append(line);
  }
  table.append(body);
  return table;
}

// What a drawing shows, as a table that is made when it is asked for.
export function numbersBelow(columnsOf) {
  const details = element("details", { class: "numbers" }, element("summary", {}, "Numbers"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    details.append(element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Numbers of this view" }, textTable(columnsOf())));
  });
  return details;
}

// A choice of one of a few: options are [value, text].
export function choice(label, options, value, chosen) {
  const select = element("select");
  for (const [key, text] of options) select.append(element("option", { value: key, selected: key === value }, text));
  select.addEventListener("change", () => chosen(select.value));
  return element("label", {}, label, select);
}

export function check(label, checked, chosen) {
  const box = element("input", { type: "checkbox", checked });
  box.addEventListener("change", () => chosen(box.checked));
  return element("label", {}, box, label);
}
