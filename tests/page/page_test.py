"""page_test.py HEADWAVE SOURCE_DIR: the page of a result in headless Chromium, as a reader has it: one file in an empty folder.

Skips, by name, where Chromium or its driver is not there. Times are printed; they fail only far beyond what is promised, since
machines are busy.
"""

import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from browser import Browser, missing

headwave, source = sys.argv[1], pathlib.Path(sys.argv[2])
views = ["evidence", "profile", "map", "strongest", "sources"]
failures = []


def check(true, sentence):
    if not true:
        failures.append(sentence)
        print("FAILED:", sentence)


def run(*arguments, ends_with=(0,)):
    done = subprocess.run([headwave, "-q", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in ends_with:
        sys.exit(f"headwave {arguments[0]} exited with {done.returncode}: {done.stderr}")
    return done.stdout


def rows(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def number(text):
    """The first number in a text of the page."""
    return float(re.search(r"[-−]?\d[\d.]*(e[-−]?\d+)?", text).group().replace("−", "-"))


# In the page: where an element lies in the window, once it is scrolled there.
place = "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height];"
tip = "return document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText;"
outside = """
const found = [], width = document.documentElement.clientWidth;
for (const e of document.querySelectorAll("body *")) {
  const r = e.getBoundingClientRect();
  if (r.width && (r.right > width + 1 || r.left < -1) && !e.closest(".scroll, .skip, .spoken, .tip")) found.push(`${e.tagName} ${e.textContent.slice(0, 30)}`);
}
for (const t of document.querySelectorAll("svg text")) {
  const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
  if (r.width && (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 2 || r.bottom > s.bottom + 2)) found.push(`text ${t.textContent} in ${t.closest("section").id}`);
}
return found;"""


def opens_alone(browser, address, name):
    """Console, network, every view, both widths."""
    browser.requests()
    browser.open(address)
    drawn = browser.run("return Number(document.body.dataset.drawn);")
    print(f"{name}: drawn after {drawn} ms")
    check(drawn < 10000, f"{name}: the first view takes {drawn} ms")
    for view in views:
        if browser.run("return document.getElementById('view-' + arguments[0]) !== null;", view):
            browser.wait("return [...document.querySelectorAll(`#view-${arguments[0]} :is(svg, canvas, dd, td, li)`)].some((one) => one.getBoundingClientRect().height > 10);", view)
    for width in (1280, 400):
        browser.size(width, 900)
        browser.open(address)
        browser.wait("return document.body.dataset.drawn;")
        check(not (found := browser.run(outside)), f"{name}, {width} pixels: outside its box: {found}")
    browser.size(1280, 900)
    check(not (found := browser.complaints()), f"{name}: the console says {found}")
    far = [one for one in browser.requests() if not one.startswith((address.split("#")[0], "data:", "about:"))]
    check(not far, f"{name}: asks for {far}")


def profile_in(tables):
    """Of L0H1, by offset."""
    return {row["offset"]: float(row["mean_weight"]) for row in rows(tables / "offset_trace.pairs.layer.head.offset.csv")
            if (row["pairs"], row["layer"], row["head"]) == ("all", "0", "1")}


def shows_both_profiles(browser, address, first, second):
    """Of a comparison: what stands in both results, under the pointer."""
    browser.open(address + "#/L0H1/profile?span=64")
    left, top, width, height = browser.run(place, "#view-profile .drawing svg")
    reach = 64  # of the page; the figure's numbers end before
    for offset in (-16, -3, 0, 16):
        browser.point(left + 52 + (width - 52 - 14) * (offset + reach) / (2 * reach), top + height / 2)
        said = browser.run(tip).split("\n")
        shown = [line for line in said if line.startswith(("first", "second"))]
        near = len(shown) == 2 and all(abs(number(line) - profile[str(offset)]) <= 5e-4 * profile[str(offset)] for line, profile in zip(shown, (first, second)))
        check(near, f"comparison: at {offset} stands {said}, not {first[str(offset)]} and {second[str(offset)]}")


def window_begins(tables):
    """The first token of the attention maps' window."""
    return int(rows(tables / "attention_map.map_head.query.key.csv")[0]["query"])


def shows_stored_values(browser, address, tables):
    """Under the pointer stands what the result file holds, as `headwave export` writes it."""
    weights = [row for row in rows(tables / "attention_map.map_head.query.key.csv") if row["map_head"] == "L0H1"]
    first = window_begins(tables)
    browser.open(address + "#/L0H1/map")
    left, top, width, height = browser.run(place, "#view-map canvas")
    for row in weights[:: len(weights) // 6]:
        query, key = int(row["query"]), int(row["key"])
        browser.point(left + width * (key - first + 0.5) / 64, top + height * (query - first + 0.5) / 64)
        said = browser.run(tip)
        check(f"query {query} " in said and f"key {key} " in said, f"map: at query {query}, key {key} stands {said!r}")
        check(abs(number(said) - float(row["weight"])) <= 5e-4 * float(row["weight"]) + 1e-9, f"map: {said!r} is not {row['weight']}")
    profile = profile_in(tables)
    browser.open(address + "#/L0H1/profile?span=16")
    left, top, width, height = browser.run(place, "#view-profile .drawing svg")
    for offset in (-16, -3, 0, 7):
        browser.point(left + 52 + (width - 52 - 14) * (offset + 16) / 32, top + height / 2)
        said = browser.run(tip).split("\n")
        check(said[0].endswith(f" {offset:+d}".replace("-", "−") if offset else " 0"), f"profile: at {offset} stands {said}")
        check(abs(number(said[1]) - profile[str(offset)]) <= 5e-4 * profile[str(offset)], f"profile: {said} is not {profile[str(offset)]}")


def shows_strongest_pairs(browser, address, result):
    """Weights, positions and texts are those of the result file."""
    run("export", result, "--only", "strongest_pairs", "--csv", result / "pairs")
    of_head = lambda file: [row for row in rows(result / "pairs" / file) if (row["layer"], row["head"]) == ("0", "1")]
    pairs, tokens = of_head("strongest_pairs.layer.head.pair.csv"), of_head("strongest_pairs.layer.head.pair.around.csv")
    around = len(tokens) // len(pairs)
    for width in (1280, 400):
        browser.size(width, 900)
        browser.open(address + "#/L0H1/strongest")
        items = browser.run("""return [...document.querySelectorAll("#view-strongest li")].map((one) => [one.querySelector(".weight").textContent,
          one.querySelector(".words").textContent, [...one.querySelector(".excerpt").childNodes].map((part) => (/at-query/.test(part.className) ? "[" : "")
          + (/at-key/.test(part.className) ? "(" : "") + part.textContent + (/at-key/.test(part.className) ? ")" : "") + (/at-query/.test(part.className) ? "]" : "")).join("").trim(),
          Math.max(...[...one.querySelectorAll(".excerpt")].map((line) => line.getBoundingClientRect().height))]);""")
        check(len(items) == len(pairs) == 10, f"strongest pairs: {len(items)} on the page, {len(pairs)} in the result")
        for k, (pair, (shown, where, excerpt, height)) in enumerate(zip(pairs, items)):
            offset = int(pair["key"]) - int(pair["query"])
            signed = f"{offset:+d}".replace("-", "−") if offset else "0"
            check(abs(float(pair["weight"]) - number(shown)) < 1e-3, f"strongest pairs: {shown} is not {pair['weight']}")
            check(where.endswith(f"offset {signed}, document {pair['document']}"), f"strongest pairs: {where!r} is not {offset}, {pair['document']}")
            near = tokens[k * around:(k + 1) * around]
            for side in ("query_token", "key_token"):
                word = near[around // 2][side]
                check(word in excerpt, f"strongest pairs: {excerpt!r} lacks {word!r}")
            check(height < 60, f"strongest pairs at {width} pixels: a text of {height} pixels")
    browser.size(1280, 900)


def says_the_same_offsets(browser, address, result):
    """The overview and the filter go by the offsets of the terminal's table."""
    lines = subprocess.run([headwave, "inspect", result, "--all"], capture_output=True, text=True, check=True).stdout.splitlines()
    looks = {line.split()[0]: line[6:] for line in lines if re.match(r"L\d+H\d+ ", line)}
    browser.open(address)
    typed = """const filter = document.getElementById("filter"); filter.value = arguments[0]; filter.dispatchEvent(new Event("input"));
      return [...document.querySelectorAll("#table tbody tr")].map((row) => row.dataset.head);"""
    for words, filters in (("1 back", ("1_back",)), ("6 ahead", ("6_ahead",)), ("no preferred offset", ("no_preferred",))):
        named = [name for name, text in looks.items() if text.startswith(words)]
        for one in filters:
            check(named and browser.run(typed, one) == named, f"{one} shows {browser.run(typed, one)}, the table {named}")
    browser.run(typed, "")


def says_kinds(browser, address):
    browser.open(address)
    typed = """const filter = document.getElementById("filter"); filter.value = arguments[0]; filter.dispatchEvent(new Event("input"));
      return [...document.querySelectorAll("#table tbody tr")].map((row) => row.dataset.head);"""
    previous = browser.run(typed, "previous")
    check(previous, "previous shows no head")
    browser.run(typed, "")
    browser.open(f"{address}#/{previous[0]}")
    facts = browser.run("return document.getElementById('head-facts').textContent;")
    check("kind previous" in facts, f"beside a previous-token head stands {facts!r}")


def says_what_was_found(browser, address):
    """The title is the finding, and the first head is the table's first."""
    browser.open(address)
    title, heading, story, head, first = browser.run("""return [document.title, document.querySelector("h1").textContent, document.getElementById("story").textContent,
      document.getElementById("head-title").textContent, document.querySelector("#table tbody tr").dataset.head];""")
    check(title == heading and re.search(r"\d+ of 32 heads look at a preferred offset", title), f"the title is {title!r}, the heading {heading!r}")
    check("look at a preferred offset" not in story, f"the paragraph says again what the title says: {story!r}")
    check(head == first, f"the page opens at {head}, the table begins with {first}")
    left, right = browser.run("""const cells = [...document.querySelectorAll("#table thead th")], kind = cells.find((one) => /^kind/.test(one.textContent));
      return [kind.getBoundingClientRect().right, document.getElementById("table").getBoundingClientRect().right];""")
    check(left <= right, f"the column `kind` ends at {left}, the table at {right}")


def finds_heads(browser, address):
    """Enter opens the head that is found; what is not there is named, in the field and in the address."""
    typed = """const filter = document.getElementById("filter"); filter.focus(); filter.value = arguments[0]; filter.dispatchEvent(new Event("input"));
      return [document.getElementById("filtered").textContent, ...[...document.querySelectorAll("#table tbody tr")].map((row) => row.dataset.head)];"""
    title = "return document.getElementById('head-title').textContent;"
    browser.open(address)
    for typing in ("L2H5", "l2h6", "6_ahead"):
        first = browser.run(typed, typing)[1]
        browser.type("Enter")
        browser.wait("return document.getElementById('head-title').textContent === arguments[0];", first)
        check(typing.startswith("6") or browser.run(title) == typing.upper(), f"Enter after {typing} opens {browser.run(title)}")
    found = browser.run(typed, "nonsense")
    check(found[0].startswith("0 of 32 heads") and len(found) == 1, f"nonsense in the field gives {found}")
    verdicts = browser.run("return JSON.parse(document.getElementById('result').textContent).measures.find((one) => one.name === 'head_account/verdict');")
    for word in ("mixed", "positional"):
        count = verdicts["values"].count(verdicts["meanings"].index(word))
        found = browser.run(typed, word)
        check(len(found) - 1 >= count, f"{word} finds {found}, of {count} heads")
    browser.run(typed, "")
    browser.open(f"{address}#/L9H9")
    told = browser.run("const one = document.getElementById('wrong-address'); return one.hidden ? '' : one.textContent;")
    check(told.startswith("There is no L9H9: heads are L0H0 to L3H7."), f"#/L9H9 says {told!r}")
    browser.open(f"{address}#/l1h1")
    check(browser.run(title) == "L1H1" and browser.run("return document.getElementById('wrong-address').hidden;"), "#/l1h1 is not L1H1")


def keeps_the_tip_wide(browser, address):
    browser.size(400, 900)
    browser.open(address + "#/L0H1/profile")
    left, top, width, height = browser.run(place, "#view-profile .drawing svg")
    for away in (16, 24):
        browser.point(left + width - away, top + height / 2)
    found = browser.run("const { width, right } = document.getElementById('tip').getBoundingClientRect(); return [width, right];")
    check(found[0] > 120 and found[1] <= 400, f"near the edge the words beside the pointer are {found[0]} pixels wide, to {found[1]}")
    browser.size(1280, 900)


def links_what_is_marked(browser, address):
    browser.open(address + "#/L0H1/profile?span=16")
    left, top, width, height = browser.run(place, "#view-profile .drawing svg")
    browser.point(left + 52 + (width - 66) * 15 / 32, top + height / 2)
    marked = browser.run("""return [document.querySelector("#view-profile g[visibility=hidden]") === null,
      document.querySelector("#view-map path.marker[d^=M]") !== null];""")
    check(all(marked), f"offset −1 is marked in profile and map: {marked}")
    took = browser.run("""const svg = document.querySelector("#view-profile .drawing svg"), at = svg.getBoundingClientRect(), begin = performance.now();
      for (let i = 0; i < 50; ++i) svg.dispatchEvent(new PointerEvent("pointermove", { clientX: at.left + 60 + 10 * i, clientY: at.top + 50 }));
      return (performance.now() - begin) / 50;""")
    print(f"a move of the pointer takes {took:.1f} ms")
    check(took < 500, f"a move of the pointer takes {took} ms")


def keeps_addresses(browser, address):
    browser.open(address + "#/L1H3/map?color=kind&sort=-2&filter=l1&at=document")
    said = browser.run("""return [document.getElementById("head-title").textContent, document.getElementById("measure").value, document.getElementById("filter").value,
      [...document.querySelectorAll("#table tbody th")].every((cell) => cell.textContent.startsWith("L1")),
      document.querySelector("#table tr.chosen").dataset.head, document.querySelector("#view-map canvas").width, document.activeElement.id];""")
    check(said == ["L1H3", "kind", "l1", True, "L1H3", 64, "view-map-title"], f"a link leads to {said}")
    browser.open(address + "#/L1H3")
    took = browser.run_async("""const begin = performance.now(), done = arguments[0];
      const next = document.querySelector("#head-nav button[title*=next]"), before = document.getElementById("head-title").textContent;
      next.focus(); next.click();
      const look = () => (document.getElementById("views").dataset.head !== before ? done(performance.now() - begin) : setTimeout(look, 1)); look();""")
    print(f"all views of the next head are there after {took:.0f} ms")
    check(took < 5000, f"the next head takes {took} ms")
    check("next" in browser.run("return document.activeElement.title;"), "who goes to the next head stays at the button")
    browser.run("history.back();")
    browser.wait("return document.getElementById('head-title').textContent === 'L1H3';")
    check(browser.run("return document.querySelector('tr.chosen').dataset.head;") == "L1H3", "`back` leads back to the head before")


def filters_and_stays_in_view(browser, address):
    browser.open(address)
    typed = """const filter = document.getElementById("filter"); filter.value = arguments[0]; filter.dispatchEvent(new Event("input"));
      return [".cell", ".cell.filtered", "#table tbody tr"].map((one) => document.querySelectorAll(one).length);"""
    cells, faded, rows = browser.run(typed, "back")
    check(0 < rows < cells == rows + faded, f"a filter keeps {rows} rows of {cells}, and fades {faded} cells")
    of_layer = browser.run(typed, "layer=1 head>=0")[2]
    check(of_layer == 8, f"layer=1 keeps {of_layer} heads of 8")
    browser.run(typed, "")
    browser.run("window.scrollTo({top: 1200, behavior: 'instant'});")
    top = browser.run("return document.getElementById('overview').getBoundingClientRect().top;")
    check(abs(top) < 2, f"the overview stands at {top} while a head is read")


def serves_keys(browser, address, tables):
    right, down, enter = "ArrowRight", "ArrowDown", "Enter"
    browser.open(address + "#")
    browser.run("document.getElementById('grid').focus();")
    browser.type(right, right, down, enter)
    browser.wait("return document.getElementById('views').dataset.head === 'L1H1' && document.activeElement.id === 'head-title';")
    rank = "return Number(document.querySelector('#head-nav span').textContent.split(' ')[0]);"
    before = browser.run(rank)
    browser.type("n")
    browser.wait("return document.getElementById('views').dataset.head !== 'L1H1';")
    check(browser.run(rank) == before % 32 + 1, "n leads to the next head of the table")
    browser.run("document.querySelector('#view-map .drawing').focus();")
    browser.type(right, right, down)
    second = window_begins(tables) + 1
    check(f"query {second} " in browser.run(tip) and f"key {second} " in browser.run(tip), f"arrows go through the cells of the map: {browser.run(tip)!r}")
    browser.wait(f"return document.getElementById('spoken').textContent.includes('query {second} ');")
    browser.run("document.querySelector('#view-map button[title=\"whole document\"]').click();")
    browser.wait("return location.hash.includes('at=document');")
    bare = browser.run("""return [...document.querySelectorAll("svg, button, select, input, [role=region], .drawing")].filter((e) =>
      !e.getAttribute("aria-label") && !e.getAttribute("aria-hidden") && !e.textContent.trim() && !e.labels?.length).map((e) => e.outerHTML.slice(0, 80));""")
    check(not bare, f"without a name for those who do not see: {bare}")


def shows_hostile_text(browser, page, address):
    """Whatever stands in tokens, titles and columns is text."""
    hostile = ["<script>document.title = 'run'</script>", "<img src=x onerror=\"document.title='run'\">", "\"'&{}_^`", "x" * 10000, "\\u202eevil", "</script><b>"]
    head, json_text, rest = re.split(r'(?<=id="result">)(.*?)(?=</script>)', page.read_text(), maxsplit=1, flags=re.S)
    result = json.loads(json_text)
    for name, tokens in result["tokens"].items():
        if "token" in name:
            result["tokens"][name] = [hostile[i % len(hostile)] for i in range(len(tokens))]
    result["story"] += " " + hostile[0]
    result["table"][1]["cells"][0] = hostile[1]
    result["provenance"][0] = [hostile[1], hostile[3]]
    bad = page.with_name("hostile.html")
    bad.write_text(head + json.dumps(result).replace("<", "\\u003c") + rest)
    for width in (1280, 400):
        browser.size(width, 900)
        browser.open(bad.as_uri() + "#/L0H1/map")
        check(browser.run("return document.title;") != "run", "hostile text is run")
        check(browser.run("return document.querySelectorAll('img, b, #story *').length;") == 0, "hostile text becomes elements")
        check(not (found := browser.run(outside)), f"hostile text at {width} pixels: outside its box: {found}")
    browser.size(1280, 900)
    check(hostile[0] in browser.run("return document.getElementById('story').textContent;"), "hostile text is shown")
    check(not (found := browser.complaints()), f"hostile text: the console says {found}")
    bad.unlink()


def says_what_is_too_old(browser, address):
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream;")
    browser.open(address)
    check("browser of 2023" in browser.run("return document.getElementById('trouble').textContent;"), "an old browser is told")
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", **script)


def main(work):
    run("demo", "--everything", "--documents", 3, "--out", work / "demo", "--no-figures")
    run("export", work / "demo", "--only", "offset_trace,attention_map", "--max-rows", 10**6, "--csv", work / "tables")
    alone = work / "alone"
    alone.mkdir()
    run("report", work / "demo", "--out", alone / "page.html")
    run("demo", "--documents", 3, "--seed", 2, "--out", work / "other", "--no-figures")
    run("export", work / "other", "--only", "offset_trace", "--csv", work / "other-tables")
    run("compare", work / "demo", work / "other", "--out", work / "changes", ends_with=(0, 3))
    shutil.copy(work / "changes/report.html", alone / "comparison.html")
    run("demo", "--documents", 8, "--only", "head_types", "--out", work / "kinds", "--no-figures")
    run("report", work / "kinds", "--out", alone / "kinds.html")
    subprocess.run([sys.executable, source / "tests/page/wide_model.py", work / "wide"], check=True)
    run("run", "--everything", "--model", work / "wide", "--random-tokens", 170, "--documents", 2, "--draws", 3, "--atlas-draws", 3, "--resamples", 3, "--no-figures", "--out", work / "wide-run")
    run("report", work / "wide-run", "--out", alone / "wide.html")
    bytes_ = (alone / "wide.html").stat().st_size
    print(f"12 x 12 heads x 510 tokens: {bytes_ / 1e6:.1f} MB")
    check(bytes_ < 10e6, f"the page of 12 x 12 heads x 510 tokens has {bytes_} bytes")
    address = (alone / "page.html").as_uri()
    with Browser() as browser:
        browser.size(1280, 900)
        opens_alone(browser, address, "demo")
        opens_alone(browser, (alone / "wide.html").as_uri(), "12 x 12 x 510")
        opens_alone(browser, (alone / "comparison.html").as_uri(), "a comparison")
        says_the_same_offsets(browser, address, work / "demo")
        says_what_was_found(browser, address)
        says_kinds(browser, (alone / "kinds.html").as_uri())
        finds_heads(browser, address)
        shows_both_profiles(browser, (alone / "comparison.html").as_uri(), profile_in(work / "tables"), profile_in(work / "other-tables"))
        shows_stored_values(browser, address, work / "tables")
        shows_strongest_pairs(browser, address, work / "demo")
        keeps_the_tip_wide(browser, address)
        links_what_is_marked(browser, address)
        keeps_addresses(browser, address)
        filters_and_stays_in_view(browser, address)
        serves_keys(browser, address, work / "tables")
        shows_hostile_text(browser, alone / "page.html", address)
        says_what_is_too_old(browser, address)
    check(sorted(file.name for file in alone.iterdir()) == ["comparison.html", "kinds.html", "page.html", "wide.html"], "nothing is written beside the page")


if gone := missing():
    print(f"skipped: {' and '.join(gone)} not there (Debian: chromium)")
    sys.exit(0)
folder = pathlib.Path(tempfile.mkdtemp())
try:
    main(folder)
finally:
    shutil.rmtree(folder)
print("page: as it should be" if not failures else f"page: {len(failures)} failures")
sys.exit(1 if failures else 0)
