// The words beside the pointer, and those for screen readers.

let spokenLater = 0;

// @param lines  texts, the first in bold
export function showTip(lines, x, y) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...lines.filter(Boolean).map((line, i) => {
    const row = document.createElement("div");
    row.textContent = line;
    if (i === 0) row.className = "first";
    return row;
  }));
  tip.hidden = false;
  tip.style.left = "0"; // near the right edge it would be measured too narrow
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(Math.max(6, x + 14), innerWidth - width - 6))}px`;
  tip.style.top = `${Math.max(6, y + 18 + height > innerHeight ? y - height - 12 : y + 18)}px`;
}

export function hideTip() {
  document.getElementById("tip").hidden = true;
}

// Speaks once the keys rest, so that a screen reader can follow.
export function say(text) {
  clearTimeout(spokenLater);
  spokenLater = setTimeout(() => {
    document.getElementById("spoken").textContent = text;
  }, 150);
}
