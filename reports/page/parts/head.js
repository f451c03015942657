// One head: its sentence, and its views.

import { button, element, words } from "./elements.js";
import { headName, headSpan, numberText, offsetText, valueText } from "./format.js";
import { drawParts } from "./plots.js";
import { views } from "./views.js";

export class HeadSection {
  constructor(page, arrays, store) {
    Object.assign(this, { page, arrays, store, frames: [], order: page.heads.map((_, place) => place) });
    this.title = document.getElementById("head-title");
    this.nav = document.getElementById("head-nav");
    this.box = document.getElementById("views");
    store.listenToMarks(() => this.frames.forEach((frame) => frame.mark?.()));
    for (const view of views) {
      const needed = !view.needs || view.needs.some((name) => arrays.has(name));
      if (needed && !view.hasNothing?.(page)) this.addFrame(view);
    }
  }

  addFrame(view) {
    const body = element("div");
    const link = element("a", { title: "the address of this view", "aria-label": `address of ${view.title}` },
      "#");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.store.change({ head: this.current(), view: view.id }, true);
      this.arrive();
    });
    const id = `view-${view.id}-title`;
    const header = element("header", {}, element("h3", { id, tabIndex: -1 }, view.title), link);
    const said = words(typeof view.words === "function" ? view.words(this.page, this.arrays) : view.words);
    const properties = { class: "view", id: `view-${view.id}`, "aria-labelledby": id };
    const section = element("section", properties, header, said, body);
    this.frames.push({ view, body, link, section, mark: null, turn: 0 });
    this.box.append(section);
  }

  // The head in the address, or else the first in the table.
  current() {
    const { result, heads, named, placeOf } = this.page;
    const asked = this.store.state.head;
    if (asked && placeOf(asked) >= 0) return heads[placeOf(asked)];
    return heads[named.get(result.table[0]?.cells[0]) ?? 0];
  }

  // What is wrong with the head in the address; "" if nothing is.
  complaint() {
    const { head } = this.store.state;
    return head && this.page.placeOf(head) < 0
      ? `There is no ${headName(head.layer, head.head)}: heads are ${headSpan(this.page)}.` : "";
  }

  // Draws those views of the head for which `isWanted` holds.
  async draw(isWanted) {
    const { page, arrays, store } = this;
    const { layer, head, name } = this.current();
    const place = page.named.get(name);
    this.title.textContent = name;
    const wrong = document.getElementById("wrong-address");
    wrong.textContent = this.complaint();
    wrong.hidden = wrong.textContent === "";
    document.getElementById("head-sentence").textContent = this.sentence(name, place);
    document.getElementById("head-facts").textContent = this.facts(place).join(", ");
    this.drawNav(place);
    const context = { page, arrays, store, name, place, at: { layer, head }, width: this.box.clientWidth };
    for (const frame of this.frames) frame.link.href = `#/${name}/${frame.view.id}`;
    const wanted = this.frames.filter(isWanted);
    const turns = wanted.map((frame) => ++frame.turn);
    for (const [i, frame] of wanted.entries()) {
      const parts = await frame.view.show({ ...context, width: frame.body.clientWidth || context.width });
      if (turns[i] !== frame.turn) continue;
      frame.mark = drawParts(frame.body, parts, context);
    }
    this.box.dataset.head = name;
  }

  // @param changed  parts of the address that changed while the head stayed; null: draw everything
  redraw(changed) {
    const follows = ({ view }) => (view.follows ?? []).some((name) => changed.includes(name));
    return this.draw((frame) => changed === null || follows(frame));
  }

  sentence(name, place) {
    const why = this.page.result.sentences[place];
    if (why) return `${why}.`;
    const { measures } = this.page;
    const changed = measures.value("changed", place);
    if (changed !== null) return `${name} ${changed ? "changed" : "did not change"} beyond an interval.`;
    const [offset, weight] = ["offset", "weight"].map((one) => measures.value(one, place));
    const where = offset === 0 ? "itself" : `offset ${offsetText(offset)}`;
    if (offset !== null) return `${name} looks at ${where}, with a mean weight of ${numberText(weight)}.`;
    const status = measures.word("measured_offset/status:all", place);
    return status ? `${name} has no preferred offset (${status}).` : "";
  }

  // Numbers beside the sentence, if the result has them.
  facts(place) {
    const { measures } = this.page;
    const isKnown = (name) => measures.value(name, place) !== null;
    const text = (name) => `${name} ${valueText(measures.get(name), measures.value(name, place))}`;
    return ["weight", "entropy", "kind"].filter(isKnown).map(text);
  }

  // Goes to another head in the order of the table, from either end to the other.
  step(by) {
    const count = this.order.length;
    const here = this.order.indexOf(this.page.placeOf(this.current()));
    const next = here < 0 ? 0 : (here + by + count) % count;
    this.stepped = count > 0;
    if (count) this.store.change({ head: this.page.heads[this.order[next]], view: "" }, true);
  }

  drawNav(place) {
    const parts = [button("\u2190 previous", "previous head (key p)", () => this.step(-1)),
      button("next \u2192", "next head (key n)", () => this.step(1))];
    const rank = this.order.indexOf(place);
    if (rank >= 0)
      parts.push(element("span", {}, `${rank + 1} of ${this.order.length} in the table's order`));
    const focused = this.nav.contains(document.activeElement)
      && document.activeElement.getAttribute("aria-label");
    this.nav.replaceChildren(...parts);
    if (focused) this.nav.querySelector(`[aria-label="${focused}"]`)?.focus();
  }

  // Goes to the head or view in the address. A step to the next head stays at the view that is being read.
  arrive() {
    const stepped = this.stepped;
    this.stepped = false;
    if (stepped) return;
    const frame = this.frames.find(({ view }) => view.id === this.store.state.view);
    const section = document.getElementById("head");
    const { top, bottom } = section.getBoundingClientRect();
    const isAway = top > 0.7 * innerHeight || bottom < 0.3 * innerHeight;
    if (frame || isAway) (frame ? frame.section : section).scrollIntoView({ block: "start" });
    (frame ? frame.section.querySelector("h3") : this.title).focus({ preventScroll: true });
  }
}
