// Larger arrays of the result, packed with zlib in base64 and unpacked when a view asks for them.

export async function unpacked(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers are float32, all first bytes first, then all second ones; texts are JSON.
export function entriesOf(bytes, { text }) {
  if (text) return JSON.parse(new TextDecoder().decode(bytes));
  const count = bytes.length / 4;
  const bits = new Uint32Array(count);
  for (let k = 0; k < 4; ++k)
    for (let i = 0; i < count; ++i) bits[i] |= bytes[k * count + i] << (8 * k);
  return new Float32Array(bits.buffer);
}

export class Arrays {
  // @param said  result.arrays: a description of each array
  // @param blockText  gives the packed text of a block by its number
  constructor(said, blockText) {
    this.said = said;
    this.blockText = blockText;
    this.unpacked = new Map();
  }

  has(name) {
    return name in this.said;
  }

  axis(name, axis) {
    return this.said[name].axes.find((one) => one.name === axis);
  }

  // All entries of an array, row-major.
  async numbers(name) {
    if (!this.unpacked.has(name)) {
      const said = this.said[name];
      this.unpacked.set(name, unpacked(this.blockText(said.block)).then((bytes) => entriesOf(bytes, said)));
    }
    return this.unpacked.get(name);
  }

  // Entries at coordinates of the first axes, { layer: 3, head: 7 }, over the other axes; null if missing.
  async slice(name, at) {
    if (!this.has(name)) return null;
    const { axes } = this.said[name];
    const given = axes.findIndex((axis) => !(axis.name in at));
    const free = given < 0 ? [] : axes.slice(given);
    let place = 0;
    for (const axis of axes.slice(0, axes.length - free.length)) {
      const here = axis.values.indexOf(at[axis.name]);
      if (here < 0) return null;
      place = place * axis.values.length + here;
    }
    const count = free.reduce((product, axis) => product * axis.values.length, 1);
    const entries = await this.numbers(name);
    const [first, end] = [place * count, (place + 1) * count];
    const values = Array.isArray(entries) ? entries.slice(first, end) : entries.subarray(first, end);
    return { values, axes: free };
  }

  // The same for several arrays of a group.
  slices(group, names, at) {
    return Promise.all(names.map((name) => this.slice(`${group}/${name}`, at)));
  }
}
