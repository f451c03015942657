// The waves of a head: its redefined queries and keys over tokens, their phases, and the delays they ask for.

import { numberText, offsetText } from "./format.js";

// Redefined queries and keys are taken before a position term, such as rotary positions, and do not see it.
const hasTerm = ({ provenance }) => provenance.has("position_term");

export const wavesView = {
  id: "waves",
  title: "Waves in queries and keys",
  more: true,
  needs: ["redefined/query", "redefined/key"],
  hasNothing: hasTerm,
  words: "The most periodic columns of redefined queries and keys over the first document. If a head looks t "
    + "tokens away, its keys run t tokens after its queries.",
  async show({ arrays, at }) {
    const [query, key] = await arrays.slices("redefined", ["query", "key"], at);
    const [waves, positions] = query.axes.map((axis) => axis.values);
    const column = (slice, wave) =>
      Array.from(slice.values.subarray(wave * positions.length, (wave + 1) * positions.length));
    return waves.map((_, wave) => ({
      kind: "lines",
      title: `Wave ${wave + 1}`,
      x: positions,
      series: [{ name: "query", values: column(query, wave) }, { name: "key", values: column(key, wave) }],
      xName: "position",
      xTitle: "position (token)",
      yTitle: `wave ${wave + 1}`,
      height: 150,
      marks: (i) => ({ query: positions[i] }),
      placeOf: ({ marked }) => (positions.includes(marked.query) ? positions.indexOf(marked.query) : null),
    }));
  },
};

// The phase of an offset at a frequency: -2 pi f t / T, within [-pi, pi].
export function offsetPhase(offset, frequency, length) {
  const phase = (-2 * Math.PI * frequency * offset) / length;
  return phase - 2 * Math.PI * Math.round(phase / (2 * Math.PI));
}

export const phasesView = {
  id: "phases",
  title: "Phases",
  more: true,
  needs: ["phase_spectrum/query", "phase_spectrum/key"],
  hasNothing: hasTerm,
  words: (_, arrays) =>
    "Amplitude of redefined queries and keys by frequency, and by the phase that the head turns them by. "
    + "If a head looks t tokens away, its energy lies on the line that appears when offset t is marked."
    + (arrays.said["phase_spectrum/query"]?.whole === false
      ? " The frequencies are those with the most energy." : ""),
  async show({ arrays, at, page }) {
    const length = Number(page.provenance.get("wave_length")) || 0;
    const slices = await arrays.slices("phase_spectrum", ["query", "key"], at);
    return slices.map((slice, i) => slice && phaseMap(["queries", "keys"][i], slice, length));
  },
};

function phaseMap(side, { axes, values }, length) {
  const [frequencies, phases] = axes.map((axis) => axis.values);
  const rows = phases.length;
  const value = (row, column) => values[column * rows + rows - 1 - row];
  // The mean over positions (frequency 0) is often larger than all waves.
  const constant = frequencies[0] === 0 && frequencies.length > 1 ? rows : 0;
  const every = Math.ceil(frequencies.length / 7);
  return {
    kind: "heat",
    title: `Phases of ${side}`,
    rows,
    columns: frequencies.length,
    value,
    what: "amplitude",
    top: values.subarray(constant).reduce((most, one) => Math.max(most, one), 0) || 1,
    height: 170,
    xTitle: "frequency (cycles/T)",
    yTitle: `${side}: phase (rad)`,
    xTicks: frequencies.map((_, i) => i).filter((i) => i % every === 0),
    yTicks: [0, Math.round(rows / 4), Math.round(rows / 2), Math.round((3 * rows) / 4), rows - 1],
    columnText: (column) => numberText(frequencies[column]),
    rowText: (row) => numberText(phases[rows - 1 - row], 2),
    words: (row, column) =>
      [`${numberText(frequencies[column])} cycles/T, ${numberText(phases[rows - 1 - row])} rad`,
      `${side}: amplitude ${numberText(value(row, column), 2)}`],
    ridge: (offset, x, y) => {
      const down = (phase) => y(((Math.PI - phase) / (2 * Math.PI)) * rows);
      const dash = (frequency, i) => `M${x(i)} ${down(offsetPhase(offset, frequency, length))}H${x(i + 1)}`;
      return length ? frequencies.map(dash).join("") : null;
    },
  };
}

export const delaysView = {
  id: "delays",
  title: "Delays by frequency",
  more: true,
  needs: ["phase_delay/by_frequency"],
  hasNothing: hasTerm,
  words: "The offset that each frequency asks for by itself; larger dots carry more of the head's energy. "
    + "Frequencies that agree make a level row.",
  async show({ arrays, at }) {
    const slices = await arrays.slices("phase_delay", ["by_frequency", "cross_real", "cross_imaginary"], at);
    return [slices[0] && delayPlot("Delays of the phases", ...slices)];
  },
};

function delayPlot(title, delay, real, imaginary) {
  const frequencies = delay.axes[0].values;
  const energy =
    frequencies.map((_, i) => (real && imaginary ? Math.hypot(real.values[i], imaginary.values[i]) : 1));
  const most = Math.max(...energy.slice(1)) || 1;
  const dots = frequencies.map((frequency, i) => {
    const [offset, size] = [delay.values[i], 1 + 4 * Math.sqrt(energy[i] / most)];
    const marks = { offset: Math.round(offset) };
    return { x: frequency, y: offset, size, color: "var(--accent)", name: title, marks };
  }).filter(({ x, y, size }) => x > 0 && Number.isFinite(y) && size > 1.2);
  // A few frequencies far off do not set the scale; their dots stand at its edge.
  const sizes = dots.map(({ y }) => Math.abs(y)).sort((a, b) => a - b);
  const reach = Math.max(4, sizes[Math.floor(0.95 * (sizes.length - 1))] ?? 4);
  return {
    kind: "dots",
    title,
    dots,
    x: { title: "frequency (cycles/T)", kind: "linear", domain: [0, frequencies[frequencies.length - 1]] },
    y: { title: `${title}: offset (tokens)`, kind: "linear", domain: [-reach, reach], text: offsetText },
    height: 220,
    offsets: "y",
  };
}
