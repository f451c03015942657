// Larger arrays of the result: packed with zlib in base64, unpacked when a view asks for them.

export async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// "exact": float32, all first bytes first, then all second ones.
function exactNumbers(bytes) {
  const count = bytes.length / 4;
  const view = new DataView(new ArrayBuffer(bytes.length));
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; ++i) {
    for (let k = 0; k < 4; ++k) view.setUint8(4 * i + k, bytes[k * count + i]);
    numbers[i] = view.getFloat32(4 * i, true);
  }
  return numbers;
}

// "even": int16 in steps of the slice's scale; "root": bytes, squared.
function scaledNumbers(bytes, said) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const numbers = new Float32Array(said.store === "even" ? bytes.length / 2 : bytes.length);
  for (let i = 0; i < numbers.length; ++i) {
    const scale = said.scales[Math.floor(i / said.slice)];
    if (said.store === "root") numbers[i] = scale * (bytes[i] / 255) ** 2;
    else {
      const step = view.getInt16(2 * i, true);
      numbers[i] = step === -32768 ? NaN : (scale * step) / 32767;
    }
  }
  return numbers;
}

export function numbersOf(bytes, said) {
  return said.store === "exact" ? exactNumbers(bytes) : scaledNumbers(bytes, said);
}

export class Arrays {
  // @param said  what result.arrays says of each array
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

  // All numbers of an array, row-major.
  async numbers(name) {
    if (!this.unpacked.has(name)) {
      const said = this.said[name];
      this.unpacked.set(name, unpacked(this.blockText(said.block)).then((bytes) => numbersOf(bytes, said)));
    }
    return this.unpacked.get(name);
  }

  // Numbers at coordinates of the first axes, { layer: 3, head: 7 }, over the other axes; null if not there.
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
    const numbers = await this.numbers(name);
    return { values: numbers.subarray(place * count, (place + 1) * count), axes: free };
  }

  // The same of several arrays of a group.
  slices(group, names, at) {
    return Promise.all(names.map((name) => this.slice(`${group}/${name}`, at)));
  }
}
