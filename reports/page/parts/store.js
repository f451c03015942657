// What is shown, which the address holds, and what is pointed at; views listen to both.

import { formatAddress, parseAddress } from "./address.js";

const nothingMarked = { offset: null, query: null, key: null, head: null };

export class Store {
  // @param put  writes an address; told whether `back` should lead to the one before
  constructor(hash, put) {
    this.state = parseAddress(hash);
    this.marked = nothingMarked;
    this.put = put;
    this.listeners = new Set();
    this.markers = new Set();
  }

  // Calls the listener when what is shown changes, with what was shown before.
  listen(listener) {
    this.listeners.add(listener);
  }

  listenToMarks(listener) {
    this.markers.add(listener);
  }

  change(changes, step = false) {
    this.replace({ ...this.state, ...changes }, (address) => this.put(address, step));
  }

  // The address was changed from outside.
  follow(hash) {
    this.replace(parseAddress(hash), () => {});
  }

  replace(state, write) {
    const before = this.state;
    this.state = state;
    if (formatAddress(before) === formatAddress(state)) return;
    write(formatAddress(state));
    for (const listener of this.listeners) listener(state, before);
  }

  mark(marks) {
    const next = { ...nothingMarked, ...marks };
    if (Object.keys(next).every((name) => next[name] === this.marked[name])) return;
    this.marked = next;
    for (const marker of this.markers) marker(next);
  }
}
