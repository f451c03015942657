// What is shown, in one place: the address holds it, views listen to it. What is only pointed at stands beside it.

import { formatAddress, parseAddress } from "./address.js";

export class Store {
  constructor(hash, put) {
    this.state = parseAddress(hash);
    this.marked = { offset: null, query: null, key: null, head: null };
    this.put = put;
    this.listeners = new Set();
    this.markers = new Set();
  }

  // Tells of changes of what is shown, with what it was.
  listen(listener) {
    this.listeners.add(listener);
  }

  // Tells of what is pointed at. Gives a function that ends it.
  listenToMarks(listener) {
    this.markers.add(listener);
    return () => this.markers.delete(listener);
  }

  // @param step  whether `back` should come back to what was before
  change(changes, step = false) {
    const before = this.state;
    this.state = { ...before, ...changes };
    if (formatAddress(before) === formatAddress(this.state)) return;
    this.put(formatAddress(this.state), step);
    for (const listener of this.listeners) listener(this.state, before);
  }

  // The address was changed from outside.
  follow(hash) {
    const before = this.state;
    this.state = parseAddress(hash);
    if (formatAddress(before) === formatAddress(this.state)) return;
    for (const listener of this.listeners) listener(this.state, before);
  }

  // The offset that is pointed at, or that was marked for good; null: none.
  offset() {
    if (this.marked.offset !== null) return this.marked.offset;
    return this.state.offset === "" || Number.isNaN(Number(this.state.offset)) ? null : Number(this.state.offset);
  }

  mark(marks) {
    const next = { offset: null, query: null, key: null, head: null, ...marks };
    if (Object.keys(next).every((name) => next[name] === this.marked[name])) return;
    this.marked = next;
    for (const marker of this.markers) marker(next);
  }
}
