// Modules of the page that draw nothing: node --test tests/page
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { formatAddress, parseAddress } from "../../reports/page/parts/address.js";
import { Arrays, entriesOf } from "../../reports/page/parts/arrays.js";
import { scale, ticks, ticksOf } from "../../reports/page/parts/axes.js";
import { amountColor, measureColors } from "../../reports/page/parts/colors.js";
import { evidenceRows } from "../../reports/page/parts/evidence_view.js";
import { filterTerms, passes } from "../../reports/page/parts/filter.js";
import { numberText, offsetText, parseHead, percentText, valueText } from "../../reports/page/parts/format.js";
import { cellsOf, colorTop, mapOf } from "../../reports/page/parts/map_data.js";
import { cellWords } from "../../reports/page/parts/map_view.js";
import { measureLabel, Measures } from "../../reports/page/parts/measures.js";
import { nextPlace } from "../../reports/page/parts/pointing.js";
import { sourceRows } from "../../reports/page/parts/sources_view.js";
import { excerpt, pairsOf } from "../../reports/page/parts/strongest_view.js";
import { Store } from "../../reports/page/parts/store.js";
import { sortedRows } from "../../reports/page/parts/table.js";

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
  assert.equal(percentText(0.123), "12\u00a0%");
  assert.equal(percentText(1e-6), "< 0.01\u00a0%");
  assert.equal(valueText({ kind: "flag", meanings: ["a", "b"] }, 1), "b");
  assert.equal(valueText({ kind: "number", unit: "nat" }, 2), "2\u00a0nat");
  assert.deepEqual(parseHead("L7H11"), { layer: 7, head: 11 });
  for (const none of ["L07H1", "l1h1", "L1", "", "L1H1x"]) assert.equal(parseHead(none), null);
});

test("addresses: what is written is read again, and what is silent is as it was", () => {
  const state = { ...parseAddress("#/L7H8/map"), color: "head_account/part:position", filter: "a b&c=d#\"<", span: "64", at: "document" };
  assert.deepEqual(parseAddress(formatAddress(state)), state);
  assert.equal(formatAddress(parseAddress("#/L7H8/map")), "#/L7H8/map");
  assert.equal(formatAddress(parseAddress("")), "#/");
  assert.equal(parseAddress("#/nonsense/<b>").head, null);
  assert.deepEqual(parseAddress("#/l7h8").head, { layer: 7, head: 8 });
  assert.equal(parseAddress("#/L1H1/<b>").view, "");
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
  store.mark({ offset: 5 });
  assert.equal(store.marked.offset, 5);
});

const packed = (bytes) => deflateSync(Buffer.from(bytes)).toString("base64");

test("arrays: numbers to the bit, and texts", async () => {
  const values = Float32Array.from([0.1, -2.5, 3e-9, 7]);
  const flat = new Uint8Array(values.buffer);
  const planes = Uint8Array.from({ length: 16 }, (_, i) => flat[4 * (i % 4) + Math.floor(i / 4)]);
  assert.deepEqual(entriesOf(planes, { text: false }), values);
  assert.deepEqual(entriesOf(new TextEncoder().encode('["a"]'), { text: true }), ["a"]);

  const axis = (name, ...list) => ({ name, values: list });
  const said = { "a/b": { axes: [axis("layer", 4, 5), axis("head", 0), axis("offset", -1, 0)], text: false, block: 0 } };
  const arrays = new Arrays(said, () => packed(planes));
  assert.deepEqual(Array.from((await arrays.slice("a/b", { layer: 5, head: 0 })).values), [values[2], values[3]]);
  assert.equal(await arrays.slice("a/b", { layer: 6, head: 0 }), null);
  assert.equal(await arrays.slice("a/none", {}), null);
});

test("tables: numbers sort as numbers, what says nothing stands last either way", () => {
  const columns = [{ cells: ["L0H0", "L0H1", "L0H2", "L0H3"] }, { cells: ["-3", "undefined (flat)", "+1", "\u2013"] }];
  assert.deepEqual(sortedRows(columns, "1"), [0, 2, 1, 3]);
  assert.deepEqual(sortedRows(columns, "-1"), [2, 0, 1, 3]);
  assert.deepEqual(sortedRows(columns, "9"), [0, 1, 2, 3]);
  assert.deepEqual(sortedRows([], "1"), []);
});

test("filters: words of a row, and conditions on measures", () => {
  const known = { offset: -1, weight: 0.25, why: "no preference", sink: null };
  const isFound = (filter, cells = ["L0H1", "\u22121", "positional"]) => passes(filterTerms(filter), (name) => known[name], cells);
  assert.ok(isFound("posit -1"));
  assert.ok(!isFound("-1", ["L0H1", "-10", "0.1"]));
  assert.ok(isFound("  "));
  assert.ok(!isFound("positional self"));
  assert.ok(isFound("close_to", ["close to uniform"]));
  assert.ok(!isFound("weight>=1") && !isFound("weight<=0") && !isFound("weight=0"), "no half unit is added without digits");
  assert.ok(isFound("offset=-1 weight>0.1 why=no_preference"));
  assert.ok(isFound("why=NO weight=0.3 weight<=0.25 offset!=2"));
  for (const missed of ["offset=1", "weight>0.25", "weight!=0.25", "why=positional", "why!=no", "sink>0", "why>3"]) assert.ok(!isFound(missed), missed);
  assert.ok(isFound("sink!=1"));
  assert.ok(isFound("weight>"), "a condition that is not yet typed excludes nothing");
  assert.ok(isFound("unheard=1"), "nor does an unknown name, which the page reports");
});

const measure = (name, part, values, more = {}) => ({ name, part, long_name: name, unit: "1", kind: "number", values, ...more });

test("measures: plain names, and none that is the same for all heads", () => {
  const measures = new Measures([
    measure("head_account/strength", "", [0.1, 0.2]),
    measure("head_account/part", "position", [0.5, null]),
    measure("looks/offset", "", [-1, 1], { kind: "offset" }),
    measure("measured_offset/weight", "all", [0.3, 0.4]),
    measure("measured_offset/weight", "without_sink", [0.3, 0.4]),
    measure("other/same", "", [1, 1]),
    measure("other/own", "", [1, 2]),
    measure("other/own_lower", "", [0, 2]),
    measure("other/text", "", ["a", "b"], { kind: "text" }),
  ]);
  assert.deepEqual(measures.first(), ["strength", "offset", "weight", "by_position"]);
  assert.equal(measures.value("by_position", 0), 0.5);
  assert.equal(measures.word("other/text:", 1), "b");
  assert.equal(measureLabel(measures, "measured_offset/weight:without_sink"), "measured offset: weight (without sink)");
});

test("colours: amounts from the paper on, signs two ways, words apart, noise below zero is no sign", () => {
  assert.deepEqual(amountColor(0, "amount"), [246, 245, 241]);
  const signed = measureColors(measure("a", "", [-4, 4, null], { kind: "offset" }));
  assert.equal(signed.color(null), null);
  assert.notDeepEqual(signed.color(-4), signed.color(4));
  assert.equal(signed.kind, "signed");
  assert.equal(measureColors(measure("a", "", [-0.01, 1])).kind, "amount");
  const words = measureColors({ kind: "flag", meanings: ["other", "previous", "next"], values: [0, 1, 2] });
  assert.notDeepEqual(words.color(1), words.color(2));
});

test("axes: places and back again, round ticks", () => {
  const x = scale([1, 100], [10, 20]);
  assert.deepEqual([x(1), x(100)], [10, 20]);
  assert.ok(Math.abs(x.invert(x(7)) - 7) < 1e-9);
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
  assert.deepEqual(ticksOf(scale([0, 100], [0, 200]), 60), [0, 50, 100]);
});

test("keys: go through places and rows of a grid, and stop at the ends", () => {
  assert.equal(nextPlace("ArrowRight", null, 6, 3), 0);
  assert.equal(nextPlace("ArrowRight", 5, 6, 3), 5);
  assert.equal(nextPlace("ArrowDown", 1, 6, 3), 4);
  assert.equal(nextPlace("ArrowUp", 1, 6, 3), 1);
  assert.equal(nextPlace("ArrowDown", 1, 6, 0), null);
  assert.equal(nextPlace("End", 1, 6, 0), 5);
  assert.equal(nextPlace("x", 1, 6, 3), null);
});

test("evidence: what the result lacks has no row", () => {
  const page = (list, term) => ({ measures: new Measures(list), provenance: new Map(term ? [["position_term", term]] : []) });
  assert.deepEqual(evidenceRows(page([]), 0), []);
  const list = [
    measure("head_account/strength", "", [0.9]),
    measure("head_account/position_strength", "", [0.8]),
    measure("account_evidence/moved", "", [0.84]),
    measure("account_evidence/moved_lower", "", [0.8]),
    measure("account_evidence/moved_upper", "", [0.9]),
    measure("account_evidence/weight", "", [0.68]),
    measure("account_evidence/weight_without", "", [0.01]),
    measure("account_evidence/weight_placebo", "", [0.6]),
    measure("account_evidence/removed_source", "", ["positions"], { kind: "text" }),
  ];
  const rows = evidenceRows(page(list, "rotary"), 0);
  assert.deepEqual(rows.map(({ happened }) => happened), [
    "strength 0.9 \u2192 0.8",
    "84\u00a0% of its offset profile followed (interval 80\u00a0% to 90\u00a0%)",
    "largest weight 0.68 \u2192 0.01; random directions: 0.6",
  ]);
  assert.match(rows[1].done, /turned/);
  const none = [measure("head_account/verdict", "", [0], { kind: "flag", meanings: ["no preference"] }), measure("head_account/part", "position", [0.9])];
  assert.equal(evidenceRows(page([...list, ...none]), 0)[0].happened, "strength 0.9 \u2192 0.8", "chance explains all of it");
  assert.match(rows[2].done, /\u201cpositions\u201d/);
});

test("evidence: a p-value stands beside the strength that it tests, not beside the measured one", () => {
  const list = [
    measure("head_account/strength", "", [0.352]),
    measure("head_account/position_strength", "", [0.033]),
    measure("head_account/null_strength", "", [0.0358]),
    measure("head_account/p_value", "", [0.66]),
  ];
  const { before, after, happened } = evidenceRows({ measures: new Measures(list), provenance: new Map() }, 0)[1];
  assert.deepEqual([before, after], [0.033, 0.0358]);
  assert.equal(happened, "strength of positions alone 0.033 \u2192 0.0358; chance gives 0.033 or more with p = 0.66");
});

test("evidence: what happens without the head stands beside a random change as large, the loss before the state", () => {
  const of = (what, numbers) => ["", "_lower", "_upper", "_placebo"].map((end, i) => measure(`head_effect/${what}${end}`, "", [numbers[i]]));
  const rows = (list) => evidenceRows({ measures: new Measures(list), provenance: new Map() }, 0).map(({ happened }) => happened);
  const state = of("state", [0.1, 0.09, 0.11, 0.02]);
  assert.deepEqual(rows(state), ["the final state changed by 10 % (interval 9 to 11); by a random change as large: 2 %"]);
  assert.deepEqual(rows([...of("loss", [-0.03, -0.05, -0.01, 0.01]), ...state]),
    ["the loss changed by \u22120.03 nats (interval \u22120.05 to \u22120.01); by a random change as large: 0.01 nats"]);
});

test("sources: small ones stand together, and undefined ones nowhere", () => {
  const rows = sourceRows(["words", "positions", "a", "b", "later"], [0.9, 0.08, 0.01, 0.01, NaN], [0.1, 0.9, -0.01, 0.01, NaN]);
  assert.deepEqual(rows.map(({ name }) => name), ["words", "positions", "all smaller sources"]);
  assert.ok(Math.abs(rows[2].query - 0.02) < 1e-12 && Math.abs(rows[2].key) < 1e-12);
});

// Twelve tokens, a window of four, tiles of three; token 0 is special.
async function smallMap() {
  const axis = (name, ...list) => ({ name, values: list });
  const weights = Float32Array.from({ length: 16 }, (_, i) => (i % 4 === 0 ? 0.9 : i / 40));
  const planes = (numbers) => {
    const flat = new Uint8Array(numbers.buffer);
    return Uint8Array.from({ length: 64 }, (_, i) => flat[4 * (i % 16) + Math.floor(i / 16)]);
  };
  const tile = Float32Array.from({ length: 16 }, (_, i) => i / 16);
  const tiles = { axes: [axis("map_head", "L0H0"), axis("query_tile", 0, 3, 6, 9), axis("key_tile", 0, 3, 6, 9)], block: 1, notes: {} };
  const said = {
    "attention_map/weight": { axes: [axis("map_head", "L0H0"), axis("query", 0, 1, 2, 3), axis("key", 0, 1, 2, 3)], block: 0, notes: { document: "one" } },
    "attention_map/largest": tiles,
  };
  const special = [1, ...Array(11).fill(0)];
  const texts = (letter) => Array.from({ length: 12 }, (_, i) => `${letter}${i}`);
  const tokens = { token: ["[CLS]", "a", "b", "c"], document_token: texts("t"), document_key_token: texts("k"), document_special: special, document_key_special: special };
  const arrays = new Arrays(said, (block) => packed(planes(block === 0 ? weights : tile)));
  return mapOf({ arrays, name: "L0H0", page: { result: { tokens } } });
}

test("maps: exact in the window, tiles beyond, and special tokens do not set the colours", async () => {
  const map = await smallMap();
  assert.deepEqual(map.whole, { query: [0, 12], key: [0, 12] });
  const cells = cellsOf(map, false);
  assert.ok(cells.exact && cells.rows === 4 && cells.columns === 4);
  assert.equal(cells.at(1, 0), Math.fround(0.9));
  assert.equal(colorTop(map, cells), Math.fround(15 / 40));
  assert.deepEqual(cellWords(map, cells, 1, 2), ["weight 0.15", "query 1 \u201ct1\u201d", "key 2 \u201ck2\u201d", "offset +1"]);
  const pooled = cellsOf(map, true);
  assert.ok(!pooled.exact);
  assert.deepEqual([pooled.first, pooled.rows, pooled.columns], [{ query: 0, key: 0 }, 4, 4]);
  assert.equal(pooled.at(1, 2), 6 / 16);
  assert.match(cellWords(map, pooled, 3, 1).join(), /largest weight .* 3 × 3 tokens,query 9–11/);
});

test("strongest pairs: a head's own, the largest first, and fewer where it has fewer", async () => {
  const axes = [{ name: "layer", values: [0] }, { name: "head", values: [0, 1] }, { name: "pair", values: [0, 1] }];
  const exact = (numbers) => {
    const flat = new Uint8Array(Float32Array.from(numbers).buffer);
    return packed(Uint8Array.from({ length: flat.length }, (_, i) => flat[4 * (i % numbers.length) + Math.floor(i / numbers.length)]));
  };
  const text = (texts) => packed(new TextEncoder().encode(JSON.stringify(texts)));
  const around = { name: "around", values: [-1, 0, 1] };
  const blocks = [exact([0.9, 0.8, 0.5, NaN]), exact([3, 1, 2, -1]), exact([7, 6, 5, -1]), exact([6, 6, 1, -1]),
    text([..."abcdefxy\u00e9", "", "", ""]), text([..."ABCDEFXYZ", "", "", ""])];
  const names = ["weight", "document", "query", "key", "query_token", "key_token"];
  const said = Object.fromEntries(names.map((name, k) => [`strongest_pairs/${name}`,
    { axes: k < 4 ? axes : [...axes, around], text: k >= 4, block: k }]));
  const pairs = (head) => pairsOf({ arrays: new Arrays(said, (block) => blocks[block]), at: { layer: 0, head } });
  assert.deepEqual(await pairs(1), [{ weight: 0.5, document: 2, query: { at: 5, tokens: ["x", "y", "\u00e9"] }, key: { at: 1, tokens: ["X", "Y", "Z"] } }]);
  assert.deepEqual((await pairs(0)).map(({ document, query }) => [document, query.tokens.join("")]), [[3, "abc"], [1, "def"]]);
});

test("strongest pairs: the text around both stands once, with a gap where tokens are missing", () => {
  const texts = (...places) => excerpt(places).map((part) => (part ? `${part.position}${part.text}` : "gap"));
  const query = { at: 5, tokens: ["d", "e", "f"] };
  assert.deepEqual(texts(query, { at: 4, tokens: ["c", "d", "e"] }), ["3c", "4d", "5e", "6f"]);
  assert.deepEqual(texts(query, { at: 2, tokens: ["", "b", "c"] }), ["2b", "3c", "4d", "5e", "6f"]);
  assert.deepEqual(texts(query, { at: 9, tokens: ["h", "i", ""] }), ["4d", "5e", "6f", "gap", "8h", "9i"]);
});

test("modules share one scope once they are put together: no name twice, imports on one line", () => {
  const names = new Map();
  for (const file of readdirSync(parts).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(new URL(file, parts), "utf8");
    for (const [, name] of text.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)) {
      assert.equal(names.get(name), undefined, `${name} is in ${names.get(name)} and ${file}`);
      names.set(name, file);
    }
    assert.doesNotMatch(text, /^import [^\n]*[^;\n]$/m);
    assert.doesNotMatch(text, /^export (default|\{)/m);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/, `${file}: text is to stay text`);
    assert.doesNotMatch(text, /<\/script|<!--|\)headwave"/);
    for (const line of text.split("\n")) assert.ok(line.length <= 110, `${file}: a line of ${line.length} columns: ${line}`);
  }
});
