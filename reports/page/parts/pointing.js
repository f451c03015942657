// Lets the pointer and the arrow keys go through the places of a drawing, and says what is there.

import { hideTip, say, showTip } from "./tip.js";

// The place to which a key leads; null if it leads nowhere.
export function nextPlace(key, here, count, columns) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!step || (here === null && count > 0)) return step ? 0 : null;
  const next = here + step;
  return next >= 0 && next < count ? next : here;
}

// @param box   takes the focus; the drawing lies at its upper left corner
// @param node  the drawing
// @param what  { count, columns (of a grid), begin() the place where keys begin,
//                at(x, y) -> place or null, where(place) -> [x, y], words(place) -> lines, marks(place) ->
//                marks, show(place or null), click(place) }
export function pointing(box, node, what, store) {
  let here = null;
  const point = (i, event) => {
    here = i;
    store.mark(what.marks?.(i) ?? {});
    what.show?.(i);
    const lines = what.words(i);
    if (event) return showTip(lines, event.clientX, event.clientY);
    const corner = box.getBoundingClientRect();
    const [x, y] = what.where(i);
    showTip(lines, corner.left + x, corner.top + y);
    return say(lines.join(", "));
  };
  const leave = () => {
    hideTip();
    store.mark({});
    what.show?.(null);
  };
  const placeAt = (event) => {
    const corner = node.getBoundingClientRect();
    return what.at(event.clientX - corner.left, event.clientY - corner.top);
  };
  const move = (event) => {
    const i = placeAt(event);
    if (i === null) leave();
    else point(i, event);
  };
  node.addEventListener("pointermove", move);
  node.addEventListener("pointerdown", (event) => event.pointerType !== "mouse" && move(event));
  node.addEventListener("pointerleave", leave);
  if (what.click) {
    node.addEventListener("click", (event) => {
      const i = placeAt(event);
      if (i !== null) what.click(i);
    });
  }
  box.tabIndex = 0;
  box.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") leave();
    if ((event.key === "Enter" || event.key === " ") && what.click && here !== null) {
      event.preventDefault();
      what.click(here);
    }
    const next = nextPlace(event.key, here ?? what.begin?.() ?? null, what.count, what.columns ?? 0);
    if (next === null) return;
    event.preventDefault();
    point(next, null);
  };
  box.onblur = leave;
}
