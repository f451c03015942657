"""Checks a built site: every link leads to a file and a place in it, and a browser loads nothing from a network.

    check.py SITE
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADS = {("script", "src"), ("img", "src"), ("img", "srcset"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
         ("object", "data"), ("embed", "src"), ("link", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.names.update(of[name] for name in ("id", "name") if of.get(name))
        for name in ("href", "src", "srcset", "data"):
            if not of.get(name):
                continue
            loads = (tag, name) in LOADS and not (tag == "link" and of.get("rel") in ("canonical", "next", "prev"))
            (self.loads if loads else self.links).append(of[name])


def remote(address):
    return re.match(r"[a-z]+:|//", address) and not address.startswith(("data:", "javascript:"))


def main(site):
    files = sorted(site.rglob("*.html"))
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    found = []
    for file, page in pages.items():
        found += [f"{file}: a browser would load {address}" for address in page.loads if remote(address)]
        for address in page.links + page.loads:
            if re.match(r"[a-z]+:|//", address):
                continue
            path, _, place = address.partition("#")
            target = (file.parent / urllib.parse.unquote(path.partition("?")[0])).resolve() if path else file
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{file}: {address} leads to no file")
            # Doxygen links to some places that it does not write.
            elif place and "cpp" not in target.parts and target in pages and urllib.parse.unquote(place) not in pages[target].names:
                found.append(f"{file}: {address} leads to no place on its page")
    for file in site.rglob("*.css"):
        found += [f"{file}: a browser would load {address}" for address in
                  re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", file.read_text(encoding="utf-8"))]
    print(*found[:40], sep="\n" if found else "", end="\n" if found else "")
    print(f"site: {len(files)} pages, {len(found)} broken links or loads from a network")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
