// The page: reads the result, draws the overview, the table and a head, and keeps the address.

import { Arrays } from "./arrays.js";
import { element, scrolled, textTable, words } from "./elements.js";
import { headName } from "./format.js";
import { smallProfiles } from "./grid.js";
import { HeadSection } from "./head.js";
import { Measures } from "./measures.js";
import { Overview } from "./overview.js";
import { Store } from "./store.js";

const part = (id) => document.getElementById(id);
function trouble(text) {
  part("trouble").textContent = text;
  part("trouble").hidden = false;
}

// The result, with heads in layer order and their places in that order.
function readPage() {
  const result = JSON.parse(part("result").textContent);
  const ofLayer = (layer) => result.heads.map((head) => ({ layer, head, name: headName(layer, head) }));
  const heads = result.layers.flatMap(ofLayer);
  const named = new Map(heads.map(({ name }, place) => [name, place]));
  const placeOf = ({ layer, head }) => named.get(headName(layer, head)) ?? -1;
  const provenance = new Map(result.provenance);
  const causal = provenance.get("attention") === "causal";
  return { result, heads, named, placeOf, provenance, causal, measures: new Measures(result.measures) };
}

// Writes what is known of the run besides its heads.
function drawRun(box, { result }) {
  const add = (title, columns, open = false) => {
    if (!columns.length || !columns[0].cells.length) return;
    box.append(element("details", { open }, element("summary", {}, title),
      scrolled(title, textTable(columns))));
  };
  const columnsOf = (headers, rows) =>
    headers.map((header, k) => ({ header, cells: rows.map((row) => row[k]) }));
  add("Provenance", columnsOf(["what", "is"], result.provenance));
  add("All arrays of the result file", columnsOf(["array", "axes", "unit", "meaning"], result.fields));
  const left = result.left_out.join(", ");
  if (left) box.append(words(`To stay below 10 MB the page leaves out ${left}.`));
}

const failed = (error) => trouble(`A part of the page cannot be drawn: ${error.message}`);

// Calls `draw` after the width of the page changed.
function drawAnew(draw) {
  let [width, later] = [document.body.clientWidth, 0];
  addEventListener("resize", () => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    clearTimeout(later);
    later = setTimeout(draw, 120);
  });
}

function followAddress(store) {
  for (const event of ["popstate", "hashchange"]) addEventListener(event, () => store.follow(location.hash));
}

// Draws again whatever depends on the address or on the width.
function keepUp(page, store, overview, section) {
  const drawAll = () => {
    overview.draw();
    section.order = overview.order;
    return section.redraw(null).catch(failed);
  };
  store.listen((state, before) => {
    const changed = Object.keys(state).filter((key) => key !== "head" && state[key] !== before[key]);
    const other = JSON.stringify(state.head) !== JSON.stringify(before.head);
    if (changed.includes("color")) overview.draw();
    else if (changed.some((key) => ["sort", "filter"].includes(key))) overview.drawRows();
    else overview.frame();
    section.order = overview.order;
    const arrive = () => (other || changed.includes("view")) && state.head && section.arrive();
    section.redraw(other ? null : changed).then(arrive, failed);
  });
  followAddress(store);
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey
      || event.altKey;
    const by = { n: 1, p: -1 }[event.key];
    if (by && !typing) section.step(by);
  });
  drawAnew(drawAll);
  return drawAll();
}

// Marks the page as drawn, for programs that read it, such as tests.
function markDrawn() {
  document.body.dataset.drawn = Math.round(performance.now());
}

async function start() {
  const page = readPage();
  part("story").textContent = page.result.story;
  part("table-words").textContent = page.result.table_words;
  drawRun(part("run"), page);
  const put = (address, step) => history[step ? "pushState" : "replaceState"](null, "", address);
  const store = new Store(location.hash, put);
  const arrays = new Arrays(page.result.arrays, (block) => part(`block-${block}`).textContent);
  if (!page.heads.length) {
    for (const id of ["overview", "head", "heads"]) part(id).hidden = true;
    return markDrawn();
  }
  const overview = new Overview(page, store);
  overview.grid.small = await smallProfiles({ arrays, page });
  const section = new HeadSection(page, arrays, store);
  await keepUp(page, store, overview, section);
  if (store.state.head) section.arrive();
  markDrawn();
}

start().catch(({ message }) =>
  trouble(`This page cannot be drawn: ${message}. It needs a browser of 2023 or later.`));
