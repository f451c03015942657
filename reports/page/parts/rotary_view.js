// Rotary models: the phase of each pair of channels, and what all pairs score together.

import { numberText, offsetText, percentText } from "./format.js";
import { offsetLines } from "./lines.js";

// What each pair does in a head, the fastest pair first.
// @param frequency  radians per token
export function rotaryPairs(frequency, real, imaginary) {
  const size = frequency.map((_, i) => Math.hypot(real[i], imaginary[i]));
  const all = size.reduce((sum, one) => sum + one, 0) || 1;
  return frequency.map((turn, i) => ({
    period: (2 * Math.PI) / turn,
    phase: Math.atan2(imaginary[i], real[i]),
    share: size[i] / all,
  }));
}

export const rotaryView = {
  id: "pairs",
  title: "Rotary pairs",
  more: true,
  needs: ["rotary_wave/coefficient_real"],
  words: "Each dot is a pair of channels that turn together: its period, and the phase of the mean key "
    + "against the mean query; larger dots score more. Below: what all pairs score together at each offset.",
  async show({ arrays, at, page }) {
    const names = ["coefficient_real", "coefficient_imaginary", "pair_offset", "kernel"];
    const [real, imaginary, asked, kernel] = await arrays.slices("rotary_wave", names, at);
    const frequency = await arrays.slice("rotary_wave/frequency", {});
    const pairs = rotaryPairs(Array.from(frequency.values), real.values, imaginary.values);
    const asks = pairs.map((_, i) => asked?.values[i] ?? NaN);
    const periods = pairs.map(({ period }) => period);
    const most = Math.max(...pairs.map(({ share }) => share)) || 1;
    const ask = (i) => (Number.isFinite(asks[i])
      ? `asks for offset ${offsetText(Number(asks[i].toPrecision(3)))}` : "");
    const parts = [{
      kind: "dots",
      title: "Rotary pairs",
      dots: pairs.map(({ period, phase, share }, i) => ({
        x: period,
        y: phase,
        size: 2 + 6 * Math.sqrt(share / most),
        color: "var(--accent)",
        name: `pair ${i}`,
        more: [ask(i), `${percentText(share)} of what the pairs can score`],
        marks: Number.isFinite(asks[i]) ? { offset: Math.round(asks[i]) } : {},
      })),
      x: { title: "period (tokens)", kind: "log",
        domain: [Math.min(...periods) / 1.3, 1.3 * Math.max(...periods)] },
      y: { title: "phase (rad)", kind: "linear", domain: [-Math.PI, Math.PI],
        text: (value) => numberText(value, 3) },
    }];
    if (!kernel) return parts;
    const offsets = kernel.axes[0].values.filter((offset) => !(page.causal && offset > 0));
    const series = [{ name: "score", values: Array.from(kernel.values.slice(0, offsets.length)) }];
    return [...parts, offsetLines(offsets, { title: "Rotary wave", series, yTitle: "score", height: 190 })];
  },
};
