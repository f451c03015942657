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
  by_position: "head_account/part:position",
  by_self: "head_account/part:self",
  by_context: "head_account/part:context",
  entropy: "head_types/entropy:",
  kind: "head_types/kind:",
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
