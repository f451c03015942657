// The words beside the pointer, and what is said to those who do not see it.

let spokenLater = 0;

function place(tip, x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(6, x + 14), innerWidth - width - 6);
  const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}

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
  place(tip, x, y);
}

export function hideTip() {
  document.getElementById("tip").hidden = true;
}

// Said once the keys rest, so that a screen reader is not buried.
export function say(text) {
  clearTimeout(spokenLater);
  spokenLater = setTimeout(() => {
    document.getElementById("spoken").textContent = text;
  }, 150);
}
