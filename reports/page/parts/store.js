// The state of the page, which the address holds, and what is pointed at. Views listen to both.

import { formatAddress, parseAddress } from "./address.js";

const nothingMarked = { offset: null, query: null, key: null, head: null };

export class Store {
  // @param put  writes an address; its second argument: whether `back` should lead to the address before
  constructor(hash, put) {
    this.state = parseAddress(hash);
    this.marked = nothingMarked;
    this.put = put;
    this.listeners = new Set();
    this.markers = new Set();
  }

  // Calls the listener when the state changes, with the new state and the one before.
  listen(listener) {
    this.listeners.add(listener);
  }

  listenToMarks(listener) {
    this.markers.add(listener);
  }

  change(changes, step = false) {
    this.replace({ ...this.state, ...changes }, (address) => this.put(address, step));
  }

  // Takes over an address that was changed from outside.
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
