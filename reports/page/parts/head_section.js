// One head: what is known of it in words, and its views.

import { check, element } from "./elements.js";
import { headName, numberText, offsetText } from "./format.js";
import { views } from "./views.js";

export class HeadSection {
  constructor(page, arrays, store) {
    Object.assign(this, { page, arrays, store, frames: [] });
    this.title = document.getElementById("head-title");
    this.words = document.getElementById("head-words");
    this.nav = document.getElementById("head-nav");
    this.box = document.getElementById("views");
    store.listenToMarks(() => this.frames.forEach((frame) => frame.mark?.()));
    this.makeFrames();
  }

  makeFrames() {
    for (const view of views) {
      if (view.needs.length && !view.needs.some((name) => this.arrays.has(name))) continue;
      if (view.hasNothing?.(this.page)) continue;
      const body = element("div");
      const link = element("a", { title: "the address of this view", "aria-label": `address of ${view.title}` }, "#");
      const heading = element("h3", { id: `view-${view.id}-title`, tabIndex: -1 }, view.title);
      const section = element("section", { class: `view${view.wide ? " wide" : ""}`, id: `view-${view.id}`, "aria-labelledby": `view-${view.id}-title` }, element("header", {}, heading, link), element("p", { class: "words" }, typeof view.words === "function" ? view.words(this.page, this.arrays) : view.words), body);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.store.change({ view: view.id }, true);
        this.arrive();
      });
      this.frames.push({ view, body, link, section, mark: null, drawn: 0 });
      this.box.append(section);
    }
  }

  // The head of the address, else the one that changed most or looks most strongly at an offset, else the first.
  current() {
    const { layers, heads } = this.page.result;
    const asked = this.store.state.head;
    if (asked && layers.includes(asked.layer) && heads.includes(asked.head)) return asked;
    const offsets = this.page.measures.get("measured_offset/offset:all")?.values ?? [];
    const weights = this.page.measures.get("measured_offset/weight:all")?.values ?? [];
    const changed = this.page.measures.get("comparison/rank:")?.values.indexOf(0) ?? -1;
    const place = changed >= 0 ? changed : offsets.reduce((best, offset, i) => (offset !== null && (best < 0 || weights[i] > weights[best]) ? i : best), -1);
    return { layer: layers[Math.floor(Math.max(0, place) / heads.length)], head: heads[Math.max(0, place) % heads.length] };
  }

  async draw(only = () => true) {
    const { layer, head } = this.current();
    const { layers, heads } = this.page.result;
    const name = headName(layer, head);
    const place = layers.indexOf(layer) * heads.length + heads.indexOf(head);
    this.title.textContent = name;
    this.words.textContent = this.sentence(place);
    this.drawNav();
    const context = { page: this.page, arrays: this.arrays, store: this.store, layer, head, name, place, at: { layer, head } };
    for (const frame of this.frames) {
      frame.link.href = `#/${name}/${frame.view.id}`;
      if (!only(frame.view)) continue;
      const turn = ++frame.drawn;
      const mark = await frame.view.draw(frame.body, context);
      if (turn === frame.drawn) frame.mark = mark;
    }
    this.box.dataset.head = name;
  }

  // What other heads' views need not be drawn again for: a new width, a choice that one view follows.
  redraw(changed) {
    return this.draw((view) => changed === null || (view.follows ?? []).some((name) => changed.includes(name)));
  }

  sentence(place) {
    const value = (name) => this.page.measures.get(name)?.values[place] ?? null;
    const word = (name) => {
      const measure = this.page.measures.get(name);
      const flag = measure?.values[place] ?? null;
      return flag === null ? "" : measure.meanings[flag];
    };
    const said = [];
    const offset = value("measured_offset/offset:all");
    if (offset !== null) said.push(`Looks at offset ${offsetText(offset)}, with a mean weight of ${numberText(value("measured_offset/weight:all"))}.`);
    else if (this.page.measures.has("measured_offset/offset:all")) said.push(`No preferred offset (${word("measured_offset/status:all")}).`);
    const changed = word("comparison/changed:");
    if (changed) said.push(changed === "yes" ? "Changed beyond an interval." : "No change beyond an interval.");
    const changedAt = value("comparison/profile_offset:");
    if (changedAt !== null) said.push(`In standard errors its profile changed most at offset ${offsetText(changedAt)}, by ${numberText(value("change/profile:"))}.`);
    const why = this.page.result.sentences[place];
    if (why) said.push(`${why}.`);
    const sink = value("head_types/sink_first:");
    if (sink !== null) said.push(`${numberText(100 * sink, 2)}\u00a0% of its attention goes to the first token.`);
    const entropy = value("head_types/entropy:");
    if (entropy !== null) said.push(`Mean entropy of a query: ${numberText(entropy)}\u00a0nat.`);
    return said.join(" ");
  }

  drawNav() {
    const { dim, offset } = this.store.state;
    const change = (word) => (on) => this.store.change({ dim: ["special", "first"].filter((one) => (one === word ? on : dim.includes(one))).join(" ") });
    const parts = [];
    const hasMaps = this.arrays.has("attention_map/weight");
    const hasSpecial = Object.entries(this.page.result.tokens).some(([name, flags]) => name.endsWith("special") && flags.includes(1));
    if (hasMaps && hasSpecial) parts.push(check("dim special tokens", dim.includes("special"), change("special")));
    if (hasMaps) parts.push(check("dim the first token (sink)", dim.includes("first"), change("first")));
    if (offset !== "") parts.push(element("button", { type: "button", onclick: () => this.store.change({ offset: "" }) }, `offset ${offsetText(Number(offset))} stays marked: clear`));
    this.nav.replaceChildren(...parts);
  }

  // Goes to the head, or to the view that the address names.
  arrive() {
    const frame = this.frames.find(({ view }) => view.id === this.store.state.view);
    const target = frame ? frame.section : document.getElementById("head");
    target.scrollIntoView({ block: "start" });
    (frame ? frame.section.querySelector("h3") : this.title).focus({ preventScroll: true });
  }
}
