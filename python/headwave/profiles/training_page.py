"""Makes the page of a training run, one HTML file that needs no network, from the rows of headwave.watch(every=, to="run.jsonl")."""

from __future__ import annotations

import json
import math
import os

from ..arguments import path as path_of
from ..errors import FormatError, IoError
from .written import replaced

_SAID = {   # titles of TrainingWatch's measures
    "largest_score": "Largest score before softmax", "window_95": "Window that holds 95 % of attention (tokens)", "entropy": "Entropy (nats)",
    "sink_first": "Attention on the first token", "induction": "Attention on the token after an earlier copy of the query's token",
    "previous": "Attention on the previous token",
}


def training_page(jsonl: str | os.PathLike, out: str | os.PathLike, *, overwrite: bool = False) -> None:
    """Writes a page that shows how the measures of every head change over a training run.

    Example:
        >>> headwave.training_page("run.jsonl", "run.html")

    Args:
        jsonl: the file that headwave.watch(model, every=100, to="run.jsonl") writes; the training run may still go on
        out: HTML file to write
        overwrite: replace `out` if it exists

    Raises:
        IoError: a file cannot be read or written, or `out` exists
        FormatError: `jsonl` has no lines, or lines of another form
    """
    jsonl, out = path_of(jsonl, "jsonl"), path_of(out, "out")
    found: dict[int, dict[tuple[str, int], list[float | None]]] = {}
    try:
        with open(jsonl, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):   # still being written
                    break
                try:
                    row = json.loads(line)
                    found.setdefault(int(row["step"]), {})[str(row["layer"]), int(row["head"])] = [_number(row[name]) for name in _SAID]
                except (ValueError, KeyError, TypeError) as error:
                    raise FormatError(f"{jsonl}: line {number} is not a row that headwave.watch(model, every=, to=) wrote: "
                                      f"{type(error).__name__} {error}") from None
    except OSError as error:
        raise IoError(f"{jsonl}: cannot be read: {error}") from error
    if not found:
        raise FormatError(f"{jsonl}: has no rows; expected a file that headwave.watch(model, every=, to=) wrote")
    heads = list(dict.fromkeys(head for rows in found.values() for head in rows))
    layers = list(dict.fromkeys(layer for layer, _ in heads))
    heads.sort(key=lambda of: (layers.index(of[0]), of[1]))
    steps, nothing = sorted(found), [None] * len(_SAID)
    values = [[[found[step].get(head, nothing)[at] for head in heads] for step in steps] for at in range(len(_SAID))]
    data = {"name": os.path.basename(jsonl), "steps": steps, "layers": layers, "heads": [[layers.index(layer), head] for layer, head in heads],
            "measures": list(_SAID.values()), "values": values}
    page = _PAGE.replace("DATA", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))
    try:
        with replaced(out, overwrite) as made, open(made, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        raise IoError(f"{out}: cannot be written: {error}") from error


def _number(value: float | None) -> float | None:
    return float(f"{value:.5g}") if value is not None and math.isfinite(value) else None


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Heads in training</title>
<style>
body { margin: 0 auto; max-width: 84rem; padding: 1.2rem; background: #fbfaf7; color: #1d1f22; font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1, h2 { font-family: Georgia, serif; font-weight: 600; line-height: 1.2; margin: 0 0 .3rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.05rem; }
p, .bar { color: #5c6268; font-size: .86rem; margin: .2rem 0; }
.controls { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; position: sticky; top: 0; background: #fbfaf7; padding: .5rem 0; z-index: 1; }
.controls input { width: 22rem; max-width: 60vw; vertical-align: middle; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); gap: 1.6rem 2.4rem; }
.maps { display: grid; grid-template-columns: 2fr 1fr; gap: .8rem; } canvas { width: 100%; cursor: crosshair; image-rendering: pixelated; }
svg { width: 100%; height: 70px; display: block; } svg text { font-size: 11px; fill: #5c6268; }
i { display: inline-block; width: 8rem; height: .6rem; margin: 0 .4rem; background: linear-gradient(to right, RAMP); }
</style></head><body>
<h1>Heads in training</h1>
<p id="about"></p>
<div class="controls"><label>Step <input id="step" type="range" min="0" value="0"> <output id="at"></output></label>
<label>Head <select id="head"></select></label></div>
<main></main>
<script>
"use strict";
const data = DATA;
const ramp = "RAMP".split(", ").map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const $ = (id) => document.getElementById(id), { steps, layers, heads } = data, most = Math.max(...heads.map((head) => head[1])) + 1;
const text = (value) => (value === null ? "undefined" : String(Number(value.toPrecision(4))));
const named = ([layer, head]) => `${layers[layer]}, head ${head}`;
const at = { step: steps.length - 1, head: 0 };
$("about").textContent = `${data.name}: ${heads.length} heads at ${steps.length} steps, ${steps[0]} to ${steps[steps.length - 1]}.
 Left: one row for each head, from the first layer down, and one column for each step. Right: the chosen step, with one row for each layer and one
 column for each head. Below: the chosen head over steps. Grey: undefined values. Click a map to choose a step and a head.`;
$("step").max = steps.length - 1;
heads.forEach((head, k) => $("head").add(new Option(named(head), k)));

function color(share) {
  const x = Math.max(0, Math.min(1, share)) * (ramp.length - 1), low = Math.min(Math.floor(x), ramp.length - 2);
  return ramp[low].map((part, k) => part + (ramp[low + 1][k] - part) * (x - low));
}

// Fills a canvas, one pixel for each value; valueAt(row, column) is null where there is none.
function paint(canvas, rows, columns, scale, valueAt) {
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column) {
      const value = valueAt(row, column);
      const shown = value === null ? [217, 215, 209] : color((value - scale.low) / (scale.high - scale.low));
      image.data.set([...shown, 255], 4 * (row * columns + column));
    }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

const place = new Map(heads.map(([layer, head], k) => [layer * most + head, k]));
const panels = data.measures.map((label, m) => {
  const values = data.values[m], section = document.createElement("section");
  const scale = { low: 0, high: 0 };
  for (const row of values)
    for (const value of row) {   // null counts as 0
      scale.low = Math.min(scale.low, value);
      scale.high = Math.max(scale.high, value);
    }
  if (scale.high === scale.low) scale.high = scale.low + 1;
  section.innerHTML = `<h2></h2><div class="maps"><canvas role="img"></canvas><canvas role="img"></canvas></div>
    <div class="bar">${text(scale.low)}<i></i>${text(scale.high)} <output></output></div><svg viewBox="0 0 600 70" preserveAspectRatio="none" role="img"></svg>`;
  section.querySelector("h2").textContent = label;
  document.querySelector("main").append(section);
  const [time, grid] = section.querySelectorAll("canvas"), said = section.querySelector("output"), line = section.querySelector("svg");
  time.setAttribute("aria-label", `${label}: every head over steps`);
  grid.setAttribute("aria-label", `${label}: layers and heads at the chosen step`);
  time.style.height = grid.style.height = `${Math.min(480, Math.max(120, 4 * heads.length))}px`;
  paint(time, heads.length, steps.length, scale, (head, step) => values[step][head]);
  const pointed = (canvas, event) => {
    const box = canvas.getBoundingClientRect();
    const part = (from, size, count) => Math.max(0, Math.min(count - 1, Math.floor((from / size) * count)));
    const row = part(event.clientY - box.top, box.height, canvas.height);
    const column = part(event.clientX - box.left, box.width, canvas.width);
    return canvas === time ? { step: column, head: row } : { step: at.step, head: place.get(row * most + column) ?? at.head };
  };
  for (const canvas of [time, grid]) {
    canvas.onmousemove = (event) => {
      const { step, head } = pointed(canvas, event);
      said.textContent = `step ${steps[step]}, ${named(heads[head])}: ${text(values[step][head])}`;
    };
    canvas.onclick = (event) => show(pointed(canvas, event));
  }
  return () => {
    const cell = (layer, head) => { const k = place.get(layer * most + head); return k === undefined ? null : values[at.step][k]; };
    paint(grid, layers.length, most, scale, cell);
    said.textContent = `step ${steps[at.step]}, ${named(heads[at.head])}: ${text(values[at.step][at.head])}`;
    const x = (step) => 4 + (592 * (steps[step] - steps[0])) / (steps[steps.length - 1] - steps[0] || 1);
    const y = (value) => 64 - (58 * (value - scale.low)) / (scale.high - scale.low);
    let path = "", open = false;
    values.forEach((row, step) => {
      const value = row[at.head];
      if (value !== null) path += `${open ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
      open = value !== null;
    });
    line.innerHTML = `<path d="M4 64H596" stroke="#d9d7d1"/><path d="M${x(at.step)} 4V64" stroke="#c4500a"/>
      <path d="${path}" fill="none" stroke="#0068a8" stroke-width="2" vector-effect="non-scaling-stroke" stroke-linecap="round"/>`;
    line.setAttribute("aria-label", `${label} of ${named(heads[at.head])} over steps`);
  };
});

function show(next) {
  Object.assign(at, next);
  $("step").value = at.step;
  $("at").textContent = steps[at.step];
  $("head").value = at.head;
  panels.forEach((panel) => panel());
}
$("step").oninput = () => show({ step: Number($("step").value) });
$("head").onchange = () => show({ head: Number($("head").value) });
show({});
</script></body></html>
""".replace("RAMP", "#f6f5f1, #d4e2ec, #9cc4dd, #5a9dc8, #1f74ac, #084d82, #06294f")
