// The page: reads what it was given, draws the grid, the table and a head, and keeps the address.

import { Arrays } from "./arrays.js";
import { element, textTable } from "./elements.js";
import { measureName } from "./format.js";
import { HeadGrid } from "./grid.js";
import { HeadSection } from "./head_section.js";
import { Store } from "./store.js";
import { HeadTable } from "./table.js";

const measureKey = (measure) => `${measure.name}:${measure.part}`;
const firstMeasures = ["measured_offset/offset:all", "measured_offset/weight:all", "word_atlas/predicted_offset:", "position_atlas/predicted_offset:", "position_atlas/estimate:", "change/profile:"];

function trouble(text) {
  const box = document.getElementById("trouble");
  box.textContent = text;
  box.hidden = false;
}

function readPage() {
  const result = JSON.parse(document.getElementById("result").textContent);
  return { result, measures: new Map(result.measures.map((measure) => [measureKey(measure), measure])), provenance: new Map(result.provenance) };
}

// Measures by the analysis that found them.
function fillMeasures(select, { measures }, chosen) {
  const groups = new Map();
  for (const [key, measure] of measures) {
    const group = measure.name.split("/")[0];
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group.replaceAll("_", " ") }));
    groups.get(group).append(element("option", { value: key, selected: key === chosen }, measureName(measure).replace(/^[^:]*: /, "")));
  }
  select.replaceChildren(...groups.values());
}

function sizeTable(result) {
  const column = (header, cells) => ({ header, cells });
  return textTable(["array", "axes", "unit", "meaning"].map((header, k) => column(header, result.fields.map((field) => field[k]))));
}

function drawMore(box, { result }) {
  const part = (title, content, open = false) => box.append(element("details", { open }, element("summary", {}, title), element("div", { class: "scroll wrap", tabIndex: 0, role: "region", "aria-label": title }, content)));
  if (result.agreement.length) part("How many heads each prediction meets", textTable(result.agreement), true);
  if (result.re_aimed.length) part("Where attention lands when a head's keys are re-aimed by u tokens", textTable(result.re_aimed), true);
  if (result.provenance.length) part("Provenance", textTable([{ header: "what", cells: result.provenance.map((row) => row[0]) }, { header: "is", cells: result.provenance.map((row) => row[1]) }]));
  if (result.fields.length) part("All arrays of the result file", sizeTable(result));
  if (result.left_out.length) box.append(element("p", { class: "words" }, `For want of room the page leaves out ${result.left_out.join(", ")}.`));
}

function start() {
  const page = readPage();
  const { result } = page;
  document.getElementById("story").textContent = result.story.join(" ");
  drawMore(document.getElementById("more"), page);
  if (!result.heads.length) {
    for (const id of ["heads", "head"]) document.getElementById(id).hidden = true;
    return;
  }
  const arrays = new Arrays(result.arrays, (block) => document.getElementById(`block-${block}`).textContent);
  const put = (address, step) => history[step ? "pushState" : "replaceState"](null, "", address);
  const store = new Store(location.hash, put);
  const select = document.getElementById("measure");
  const filter = document.getElementById("filter");
  const grid = new HeadGrid(document.getElementById("grid"), document.getElementById("legend"), document.getElementById("measure-words"), page, store);
  const table = new HeadTable(document.getElementById("table"), document.getElementById("filtered"), page, store, (shown) => grid.filter(shown));
  const usual = firstMeasures.find((key) => page.measures.has(key)) ?? page.measures.keys().next().value;
  const measure = () => page.measures.get(store.state.color) ?? page.measures.get(usual);
  const drawHeads = () => {
    select.value = measureKey(measure());
    if (filter.value !== store.state.filter) filter.value = store.state.filter;
    grid.draw(measure());
    table.draw(page.measures.has(store.state.color) ? measure() : null);
  };
  fillMeasures(select, page, measureKey(measure()));
  select.addEventListener("change", () => store.change({ color: select.value === usual ? "" : select.value }));
  filter.addEventListener("input", () => store.change({ filter: filter.value }));
  drawHeads();

  if (typeof DecompressionStream === "undefined") {
    document.getElementById("head").hidden = true;
    trouble("This browser cannot unpack the page's arrays (it has no DecompressionStream), so there are no views of single heads. Browsers of 2023 and later can: Chromium 80, Firefox 113, Safari 16.4.");
    return;
  }
  const section = new HeadSection(page, arrays, store);
  const failed = (error) => trouble(`A part of the page cannot be drawn: ${error.message}`);
  store.listen((state, before) => {
    const changed = Object.keys(state).filter((key) => key !== "head" && state[key] !== before[key]);
    const other = JSON.stringify(state.head) !== JSON.stringify(before.head);
    if (changed.some((key) => ["color", "sort", "filter"].includes(key))) drawHeads();
    else {
      grid.frame();
      table.choose();
    }
    section.redraw(other ? null : changed).then(() => (other || changed.includes("view")) && state.head && section.arrive(), failed);
  });
  addEventListener("popstate", () => store.follow(location.hash));
  addEventListener("hashchange", () => store.follow(location.hash));
  const redrawAll = () => {
    drawHeads();
    section.redraw(null).catch(failed);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  let width = document.body.clientWidth;
  let later = 0;
  addEventListener("resize", () => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    clearTimeout(later);
    later = setTimeout(redrawAll, 120);
  });
  section.redraw(null).then(() => {
    if (store.state.head) section.arrive();
    document.body.dataset.drawn = Math.round(performance.now());
  }, failed);
}

try {
  start();
} catch (error) {
  trouble(`This page cannot be drawn: ${error.message}`);
}
