// The numbers and words that are known of each head, by plain names.

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
  by_own_token: "head_account/part:own token",
  by_context: "head_account/part:context",
  loss_change: "head_effect/loss:",
  state_change: "head_effect/state:",
  copying: "head_writes/copying:",
  entropy: "head_types/entropy:",
  kind: "head_types/kind:",
  changed: "comparison/changed:",
  changed_at: "comparison/profile_offset:",
  predicted_weight: "word_atlas/predicted_weight:",
  predicted: "word_atlas/predicted_offset:",
};
export class Measures {
  // @param list  result.measures: { name, part, long_name, unit, kind, values, meanings, undefined }
  constructor(list) {
    this.all = new Map(list.map((measure) => [`${measure.name}:${measure.part}`, measure]));
  }

  // A measure by its plain name, or as "group/quantity:part"; undefined if the result does not have it.
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

  // A number or a word; null if undefined; undefined if there is no such measure.
  found(name, place) {
    const measure = this.get(name);
    return measure?.kind === "flag" ? this.word(name, place) || null : measure && this.value(name, place);
  }

  // The names on offer: plain ones whose measures tell heads apart, or else the first measure of the result.
  first() {
    const plain = Object.keys(plainNames).filter((name) => this.get(name) && tellsApart(this.get(name)));
    return plain.length ? plain : [...this.all.keys()].slice(0, 1);
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
