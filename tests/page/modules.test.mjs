// Modules of the page that draw nothing: node --test tests/page
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { formatAddress, parseAddress, parseRegion } from "../../reports/page/parts/address.js";
import { Arrays, numbersOf } from "../../reports/page/parts/arrays.js";
import { binOf, binText, binTicks, reachOf } from "../../reports/page/parts/bands_view.js";
import { amountColor, measureColors } from "../../reports/page/parts/colors.js";
import { numberText, offsetText, parseHead, shortWords, valueText } from "../../reports/page/parts/format.js";
import { lineTokens, linesOf } from "../../reports/page/parts/lines_view.js";
import { cellsOf, colorTop, mapOf } from "../../reports/page/parts/map_data.js";
import { cellWords, zoomed } from "../../reports/page/parts/map_drawing.js";
import { ridge } from "../../reports/page/parts/phases_view.js";
import { predictionRows } from "../../reports/page/parts/predictions_view.js";
import { Store } from "../../reports/page/parts/store.js";
import { isFound, sortedRows } from "../../reports/page/parts/table.js";

const parts = new URL("../../reports/page/parts/", import.meta.url);

test("numbers: digits, a real minus, and a dash for what is undefined", () => {
  assert.equal(numberText(0.123456), "0.123");
  assert.equal(numberText(-0.5), "\u22120.5");
  assert.equal(numberText(0), "0");
  assert.equal(numberText(1.5e-7), "1.5e\u22127");
  assert.equal(numberText(NaN), "\u2013");
  assert.equal(offsetText(-1023), "\u22121023");
  assert.equal(offsetText(3), "+3");
  assert.equal(offsetText(-1.4142), "\u22121.41");
  assert.equal(valueText({ kind: "flag", meanings: ["a", "b"] }, 1), "b");
  assert.equal(valueText({ kind: "number", unit: "nat" }, 2), "2\u00a0nat");
  assert.deepEqual(parseHead("L7H11"), { layer: 7, head: 11 });
  for (const none of ["L07H1", "l1h1", "L1", "", "L1H1x"]) assert.equal(parseHead(none), null);
});

test("bins of offsets: what lies in which, how they are called, and which are written below", () => {
  const bins = [{ first: -7, last: -5 }, { first: -4, last: -3 }, ...[-2, -1, 0, 1, 2].map((t) => ({ first: t, last: t })), { first: 3, last: 4 }];
  assert.equal(binOf(bins, -6), 0);
  assert.equal(binOf(bins, 0), 4);
  assert.equal(binOf(bins, 5), -1);
  assert.equal(binText(bins[1]), "\u22124 to \u22123");
  assert.equal(binText(bins[5]), "+1");
  assert.deepEqual(reachOf(bins), { begin: 2, end: 7, reach: 2 });
  assert.deepEqual(binTicks(bins), [4, 0, 7]);
});

test("words are told apart by few letters", () => {
  assert.deepEqual(shortWords(["offset", "self", "flat"]), ["o", "s", "f"]);
  assert.deepEqual(shortWords(["other", "previous", "positional"]), ["ot", "pr", "po"]);
  assert.deepEqual(shortWords(["positional", "mixed", "no preference"]), ["p", "m", "np"]);
});

test("addresses: what is written is read again, and what is silent is as it was", () => {
  const state = { ...parseAddress("#/L7H8/map"), color: "head_account/part:position", filter: "a b&c=d#\"<", dim: "special first", offset: "-1", at: "0:30,4:64" };
  assert.deepEqual(parseAddress(formatAddress(state)), state);
  assert.equal(formatAddress(parseAddress("#/L7H8/map")), "#/L7H8/map");
  assert.equal(formatAddress(parseAddress("")), "#/");
  assert.equal(parseAddress("#/nonsense/<b>").head, null);
  assert.equal(parseAddress("#/L1H1/<b>").view, "");
  assert.equal(parseRegion("3:3,0:4"), null);
  assert.deepEqual(parseRegion("3:4,0:4"), { query: [3, 4], key: [0, 4] });
});

test("the store: views are told once of a change, and `back` may come back", () => {
  const put = [];
  const store = new Store("#/L1H2", (address, step) => put.push([address, step]));
  const seen = [];
  store.listen((state, before) => seen.push([before.head.head, state.head.head]));
  store.change({ head: { layer: 1, head: 3 } }, true);
  store.change({ head: { layer: 1, head: 3 } }, true);
  store.follow("#/L1H2");
  assert.deepEqual(put, [["#/L1H3", true]]);
  assert.deepEqual(seen, [[2, 3], [3, 2]]);
  store.change({ offset: "-2" });
  assert.equal(store.offset(), -2);
  store.mark({ offset: 5 });
  assert.equal(store.offset(), 5);
});

const packed = (bytes) => deflateSync(Buffer.from(bytes)).toString("base64");

test("arrays: exact numbers to the bit, scaled ones to their step, NaN among them", async () => {
  const values = Float32Array.from([0.1, -2.5, 3e-9, 7]);
  const flat = new Uint8Array(values.buffer);
  const planes = Uint8Array.from({ length: 16 }, (_, i) => flat[4 * (i % 4) + Math.floor(i / 4)]);
  assert.deepEqual(numbersOf(planes, { store: "exact" }), values);
  const even = new Uint8Array(Int16Array.from([32767, -16384, -32768, 100]).buffer);
  const read = numbersOf(even, { store: "even", slice: 2, scales: [2, 10] });
  assert.equal(read[0], 2);
  assert.ok(Math.abs(read[1] + 1) < 1e-4 && Number.isNaN(read[2]) && Math.abs(read[3] - 0.0305) < 1e-3);
  assert.equal(numbersOf(Uint8Array.of(255, 51), { store: "root", slice: 2, scales: [0.5] })[0], 0.5);
  assert.ok(Math.abs(numbersOf(Uint8Array.of(255, 51), { store: "root", slice: 2, scales: [0.5] })[1] - 0.02) < 1e-6);

  const axis = (name, ...list) => ({ name, values: list });
  const said = { "a/b": { axes: [axis("layer", 4, 5), axis("head", 0), axis("offset", -1, 0)], store: "exact", block: 0 } };
  const arrays = new Arrays(said, () => packed(planes));
  assert.deepEqual(Array.from((await arrays.slice("a/b", { layer: 5, head: 0 })).values), [values[2], values[3]]);
  assert.equal(await arrays.slice("a/b", { layer: 6, head: 0 }), null);
  assert.equal(await arrays.slice("a/none", {}), null);
});

test("tables: numbers sort as numbers, what says nothing stands last either way, words filter", () => {
  const columns = [{ cells: ["L0H0", "L0H1", "L0H2", "L0H3"] }, { cells: ["-3", "undefined (flat)", "+1", "\u2013"] }];
  assert.deepEqual(sortedRows(columns, "1"), [0, 2, 1, 3]);
  assert.deepEqual(sortedRows(columns, "-1"), [2, 0, 1, 3]);
  assert.deepEqual(sortedRows(columns, "9"), [0, 1, 2, 3]);
  assert.deepEqual(sortedRows([], "1"), []);
  assert.ok(isFound(["L0H1", "-1", "positional"], "posit -1"));
  assert.ok(isFound(["L0H1", "\u22121"], "-1"));
  assert.ok(!isFound(["L0H1", "-10", "0.1"], "-1"));
  assert.ok(isFound(["anything"], "  "));
});

// Twelve tokens, a window of four, tiles of three; token 0 is special.
async function smallMap() {
  const axis = (name, ...list) => ({ name, values: list });
  const weights = Float32Array.from({ length: 16 }, (_, i) => (i % 4 === 0 ? 0.9 : i / 40));
  const flat = new Uint8Array(weights.buffer);
  const planes = Uint8Array.from({ length: 64 }, (_, i) => flat[4 * (i % 16) + Math.floor(i / 16)]);
  const tile = Uint8Array.from({ length: 16 }, (_, i) => 16 * i);
  const tiles = (k) => ({ axes: [axis("map_head", "L0H0"), axis("query_tile", 0, 3, 6, 9), axis("key_tile", 0, 3, 6, 9)], store: "root", slice: 16, scales: [1], block: k, notes: {} });
  const said = {
    "attention_map/weight": { axes: [axis("map_head", "L0H0"), axis("query", 0, 1, 2, 3), axis("key", 0, 1, 2, 3)], store: "exact", block: 0, notes: { document: "one" } },
    "attention_map/largest": tiles(1),
    "attention_map/mean": tiles(1),
  };
  const tokens = { token: ["[CLS]", "a", "b", "c"], document_token: Array.from({ length: 12 }, (_, i) => `t${i}`), document_key_token: Array.from({ length: 12 }, (_, i) => `k${i}`), document_special: [1, ...Array(11).fill(0)], document_key_special: [1, ...Array(11).fill(0)] };
  const arrays = new Arrays(said, (block) => packed(block === 0 ? planes : tile));
  return mapOf({ arrays, name: "L0H0", page: { result: { tokens } } });
}

test("maps: exact in the window, tiles beyond, and special tokens do not set the colours", async () => {
  const map = await smallMap();
  assert.deepEqual(map.whole, { query: [0, 12], key: [0, 12] });
  const cells = cellsOf(map, { query: [1, 3], key: [0, 4] }, "");
  assert.ok(cells.exact && cells.rows === 2 && cells.columns === 4);
  assert.equal(cells.at(0, 0), Math.fround(0.9));
  assert.equal(colorTop(map, cells, ""), Math.fround(11 / 40));
  assert.deepEqual(cellWords(map, cells, 0, 2), ["weight 0.15", "query 1 \u201ct1\u201d", "key 2 \u201ck2\u201d", "offset +1"]);
  const pooled = cellsOf(map, { query: [2, 12], key: [4, 8] }, "");
  assert.ok(!pooled.exact);
  assert.deepEqual([pooled.first, pooled.rows, pooled.columns], [{ query: 0, key: 3 }, 4, 2]);
  assert.ok(Math.abs(pooled.at(0, 0) - (16 / 255) ** 2) < 1e-6);
  assert.match(cellWords(map, pooled, 3, 1).join(), /about .* 3 × 3 tokens,query 9–11/);
});

test("maps: zooming keeps the place pointed at, and stays within the document", async () => {
  const map = await smallMap();
  assert.deepEqual(zoomed(map.window, map.whole, 4, null), { query: [0, 12], key: [0, 12] });
  assert.deepEqual(zoomed({ query: [0, 12], key: [0, 12] }, map.whole, 0.5, { query: 12, key: 0 }), { query: [6, 12], key: [0, 6] });
  const near = zoomed({ query: [0, 4], key: [0, 4] }, map.whole, 0.1, null);
  assert.equal(near.query[1] - near.query[0], 4);
});

test("lines: those of the region, above the least weight", async () => {
  const map = await smallMap();
  const tokens = lineTokens(map, "2:12,1:12");
  assert.deepEqual(tokens, { query: [2, 4], key: [1, 4] });
  const lines = linesOf(map, tokens);
  assert.equal(lines.length, 6);
  assert.deepEqual([lines[0].query, lines[0].key, lines[0].weight], [2, 1, Math.fround(9 / 40)]);
  assert.deepEqual(lineTokens(map, "6:9,6:9"), { query: [0, 4], key: [0, 4] });
});

test("the ridge of an offset: -2 pi f t / T, wrapped into (-pi, pi]", () => {
  const [length, frequencies] = [16, [0, 1, 2, 3, 4, 5, 6]];
  for (const offset of [-3, -1, 2, 5]) {
    const pieces = ridge(offset, length, frequencies);
    assert.equal(pieces[0][0][0], 0);
    assert.equal(pieces.at(-1)[1][0], 6);
    for (const [[f, phase], [g, other]] of pieces) {
      for (const [at, angle] of [[f, phase], [g, other]]) {
        assert.ok(Math.abs(angle) <= Math.PI + 1e-9);
        const turns = (angle + (2 * Math.PI * at * offset) / length) / (2 * Math.PI);
        assert.ok(Math.abs(turns - Math.round(turns)) < 1e-9);
      }
      assert.ok((other - phase) * offset < 0);
    }
  }
  assert.deepEqual(ridge(0, 16, frequencies), [[[0, 0], [6, 0]]]);
});

test("predictions: rows of which the result knows nothing are left out", () => {
  const measures = new Map([
    ["measured_offset/offset:all", { values: [-1, null] }],
    ["measured_offset/status:all", { values: [0, 2], meanings: ["offset", "self", "flat"] }],
    ["offset_agreement/predicted:phases", { values: [-1.2, null] }],
    ["phase_delay/lower:", { values: [-1.3, null] }],
    ["phase_delay/upper:", { values: [-1.1, null] }],
    ["offset_agreement/predicted:weights", { values: [null, null] }],
  ]);
  assert.deepEqual(predictionRows(measures, 0), [
    { label: "measured", offset: -1, low: null, high: null, word: "offset" },
    { label: "by phases", offset: -1.2, low: -1.3, high: -1.1, word: "" },
  ]);
  assert.equal(predictionRows(measures, 1)[0].word, "flat");
});

test("colours: amounts from the paper on, signs two ways, words apart", () => {
  assert.deepEqual(amountColor(0, "amount", false), [246, 245, 241]);
  const signed = measureColors({ kind: "offset", unit: "token", values: [-4, 4, null] }, false);
  assert.equal(signed.color(null), null);
  assert.notDeepEqual(signed.color(-4), signed.color(4));
  assert.equal(signed.kind, "signed");
  const words = measureColors({ kind: "flag", meanings: ["other", "previous", "next"], values: [0, 1, 2] });
  assert.notDeepEqual(words.color(1), words.color(2));
});

test("modules share one scope once they are put together: no name twice, imports on one line", () => {
  const names = new Map();
  for (const file of readdirSync(parts).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(new URL(file, parts), "utf8");
    assert.ok(text.split("\n").length <= 251, `${file} is longer than 250 lines`);
    for (const [, name] of text.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)) {
      assert.equal(names.get(name), undefined, `${name} is in ${names.get(name)} and ${file}`);
      names.set(name, file);
    }
    assert.doesNotMatch(text, /^import [^\n]*[^;\n]$/m);
    assert.doesNotMatch(text, /^export (default|\{)/m);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/, `${file}: text is to stay text`);
    assert.doesNotMatch(text, /<\/script|<!--|\)headwave"/);
  }
});
