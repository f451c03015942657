// What is known of each head as one number or word: a few plain names first, the rest behind "more".

// Plain names, and the measures of the result that they stand for.
const plainNames = {
  part: "looks/part:",
  bits: "attention_bits/bits:",
  sink: "attention_bits/part:sink",
  position: "attention_bits/part:position",
  word: "attention_bits/part:word",
  match: "attention_bits/part:match",
  follows: "attention_bits/follow:",
  kept: "attention_bits/kept:",
  moved: "account_evidence/moved:",
  strength: "head_account/strength:",
  profile: "head_account/verdict:",
  offset: "looks/offset:",
  weight: "measured_offset/weight:all",
  distance: "page/distance:",
  by_position: "head_account/part:position",
  by_self: "head_account/part:self",
  by_context: "head_account/part:context",
  entropy: "head_types/entropy:",
  kind: "head_types/kind:",
  change: "page/change:",
  changed: "comparison/changed:",
  changed_at: "comparison/profile_offset:",
  predicted_weight: "word_atlas/predicted_weight:",
  predicted: "word_atlas/predicted_offset:",
};
// What stands beside a measure: ends of its interval, its null and its test.
const aside = /(lower|upper|threshold|chance|baseline|asked|error|p_value|q_value|null_\w+)$/;
const fewest = 2; // of plain names; with fewer, the first measures of the result stand beside them

export class Measures {
  // @param list  result.measures: { name, part, long_name, unit, kind, values, meanings, undefined }
  constructor(list) {
    this.all = new Map(list.map((measure) => [`${measure.name}:${measure.part}`, measure]));
    for (const [key, measure] of this.all) measure.key = key;
  }

  // Adds what the page computes itself.
  add(measure) {
    measure.key = `${measure.name}:${measure.part}`;
    this.all.set(measure.key, measure);
    this.lists = null;
  }

  // By its plain name, or as "group/quantity:part"; undefined if the result does not have it.
  get(name) {
    return this.all.get(plainNames[name] ?? name);
  }

  value(name, place) {
    return this.get(name)?.values[place] ?? null;
  }

  // The word of a flag, or a text; "" if undefined.
  word(name, place) {
    const measure = this.get(name);
    const value = measure?.values[place] ?? null;
    return value === null ? "" : measure.kind === "flag" ? measure.meanings[value] : String(value);
  }

  // Names that are offered first: plain ones that tell heads apart.
  first() {
    return this.offered().first;
  }

  // Keys of the others: measures that tell heads apart, and repeat none before; without intervals and nulls.
  more() {
    return this.offered().more;
  }

  offered() {
    if (this.lists) return this.lists;
    const plain = Object.keys(plainNames).filter((name) => this.get(name) && tellsApart(this.get(name)));
    const seen = new Set(plain.map((name) => JSON.stringify(this.get(name).values)));
    const more = [...this.all.values()].filter((measure) => {
      const values = JSON.stringify(measure.values);
      const isAside = measure.kind === "text" || aside.test(measure.name);
      return !isAside && tellsApart(measure) && !seen.has(values) && seen.add(values);
    }).map((measure) => measure.key);
    const first = plain.length >= fewest ? plain : [...plain, ...more.slice(0, 8)];
    this.lists = { first, more: more.filter((key) => !first.includes(key)) };
    return this.lists;
  }
}

function tellsApart({ values }) {
  return values.some((value) => value !== null && value !== values[0])
    || (values[0] !== null && values.includes(null));
}

// "measured_offset/weight:all" in words; a plain name as it is.
export function measureLabel(measures, name) {
  if (name in plainNames) return name;
  const measure = measures.get(name);
  const label = measure.name.replace("/", ": ").replaceAll("_", " ");
  return measure.part ? `${label} (${measure.part.replaceAll("_", " ")})` : label;
}

// How much of each head's attention moved to other offsets: sum |second(t) - first(t)| / 2 of its profiles.
export function changeMeasure(first, second, offsets) {
  const values = [];
  for (let head = 0; head < first.length; head += offsets.length) {
    const moved = offsets.map((_, i) => Math.abs(second[head + i] - first[head + i])).filter(Number.isFinite);
    values.push(moved.length ? moved.reduce((sum, one) => sum + one, 0) / 2 : null);
  }
  const long_name = "part of the attention that the second result gives to other offsets than the first";
  return { name: "page/change", part: "", long_name, unit: "1", kind: "number", values };
}

// Mean distance of a head's attention within the reach: sum |t| p(t) / sum p(t) of its profile p.
export function distanceMeasure(profiles, offsets) {
  const values = [];
  for (let first = 0; first < profiles.length; first += offsets.length) {
    let [far, all] = [0, 0];
    offsets.forEach((offset, i) => {
      const weight = profiles[first + i];
      if (!Number.isFinite(weight)) return;
      far += Math.abs(offset) * weight;
      all += weight;
    });
    values.push(all > 0 ? far / all : null);
  }
  const long_name = "mean distance of attention within reach, computed by this page from the profile";
  return { name: "page/distance", part: "", long_name, unit: "token", kind: "number", values };
}
