"""Packs a wheel: pack.py --work DIR --machine NAME --tag TAG --program FILE --module FILE --stub FILE --out DIR.

The metadata are those of pyproject.toml. To them come the licences of all that is linked into the program and the extension module: their
texts in the wheel, their SPDX names in its metadata.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import stat
import sysconfig
import tempfile
import zipfile

import scikit_build_core.build

ROOT = pathlib.Path(__file__).resolve().parents[1]


def header_comment(text):
    """The comment that a header begins with."""
    return text[text.index("/**"):text.index("*/") + 2] + "\n"


def boost_licence(text):
    """The licence itself, of the 2 MB in which Debian lists whose every file of Boost is."""
    begin = text.index("Boost Software License - Version 1.0")
    licence = text[begin:text.index("\n\n", begin)]
    return re.sub(r"^ \.?", "", licence, flags=re.M) + "\n"


def licences(work, machine):
    """Rows of name, SPDX expression, files, and what is kept of a file."""
    site = pathlib.Path(sysconfig.get_path("purelib"))
    docs = work / machine / "root" / "usr" / "share" / "doc"
    common = pathlib.Path("/usr/share/common-licenses")
    # Linked into the program. Its source is its notice; before glibc 2.34 aarch64's lacks the permission that x86-64's has.
    start = site / "ziglang" / "lib" / "libc" / "glibc" / "sysdeps" / machine / "start-2.33.S"
    permission = " WITH GCC-exception-2.0-note" if "unlimited" in start.read_text() else ""

    def source(name, file):
        return [next((work / "sources" / name).glob(f"*/{file}"))]

    def debian(name):
        return [next(docs.glob(name)) / "copyright"]

    return [
        ("headwave", "MIT", [ROOT / "LICENSE"], None),
        ("Eigen", "MPL-2.0", [*debian("libeigen3-dev"), common / "MPL-2.0"], None),
        ("Boost.Math", "BSL-1.0", debian("libboost*-dev"), boost_licence),
        ("CLI11", "BSD-3-Clause", debian("libcli11-dev"), None),
        ("nlohmann-json", "MIT", debian("nlohmann-json3-dev"), None),
        ("toml++", "MIT", debian("libtomlplusplus-dev"), None),
        ("fmt", "MIT", source("fmtlib", "LICENSE*"), None),
        ("HDF5", "LicenseRef-HDF5", source("hdf5", "COPYING"), None),
        ("ICU", "Unicode-3.0", source("icu", "LICENSE"), None),
        ("Oniguruma", "BSD-2-Clause", source("libonig", "COPYING"), None),
        ("OpenSSL", "Apache-2.0", source("openssl", "LICENSE.txt"), None),
        ("zlib", "Zlib", source("zlib", "LICENSE"), None),
        ("nanobind", "BSD-3-Clause", [next(site.glob("nanobind-*.dist-info")) / "licenses" / "LICENSE"], None),
        ("robin-map", "MIT", [site / "nanobind" / "ext" / "robin_map" / "include" / "tsl" / "robin_map.h"], header_comment),
        ("libc++", "Apache-2.0 WITH LLVM-exception", [site / "ziglang" / "lib" / "libcxx" / "LICENSE.TXT"], None),
        ("zig", "MIT", [site / "ziglang" / "LICENSE"], None),
        ("glibc-startup", "LGPL-2.1-or-later" + permission, [start, common / "LGPL-2.1"], None),
    ]


def metadata(rows):
    """METADATA of pyproject.toml, whose licence becomes that of the whole wheel."""
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / scikit_build_core.build.prepare_metadata_for_build_wheel(folder)
        text = (made / "METADATA").read_text()
    headers, body = text.split("\n\n", 1) if "\n\n" in text else (text, "")
    headers = re.sub(r"^(License|License-File|License-Expression|Metadata-Version):.*\n?([ \t].*\n?)*", "", headers, flags=re.M)
    expressions = list(dict.fromkeys(spdx for _, spdx, _, _ in rows))
    added = ["Metadata-Version: 2.4", headers.strip(), "License-Expression: " + " AND ".join(expressions)]
    added += [f"License-File: {name}.txt" for name, _, _, _ in rows]
    return "\n".join(added) + "\n\n" + body


def main():
    parser = argparse.ArgumentParser()
    for name in ("work", "program", "module", "stub", "out"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--tag", required=True)
    given = parser.parse_args()

    rows = licences(given.work, given.machine)
    described = metadata(rows)
    version = re.search(r"^Version: (.*)$", described, flags=re.M)[1]
    info, data = f"headwave-{version}.dist-info", f"headwave-{version}.data"
    out = given.out / f"headwave-{version}-{given.tag}.whl"

    files = [(f"headwave/{path.relative_to(ROOT / 'python' / 'headwave')}", path.read_bytes())
             for path in sorted((ROOT / "python" / "headwave").rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files += [(f"headwave/{given.module.name}", given.module.read_bytes()), ("headwave/_core.pyi", given.stub.read_bytes()),
              (f"{data}/scripts/headwave", given.program.read_bytes())]
    for name, _, sources, kept in rows:
        text = "\n\n".join(source.read_text() for source in sources)
        files.append((f"{info}/licenses/{name}.txt", (kept(text) if kept else text).encode()))
    interpreter, abi, platform = given.tag.split("-")
    tags = "".join(f"Tag: {interpreter}-{abi}-{one}\n" for one in platform.split("."))
    files += [(f"{info}/METADATA", described.encode()),
              (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: headwave packaging\nRoot-Is-Purelib: false\n{tags}".encode())]
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip('=')},{len(content)}\n"
                     for name, content in files) + f"{info}/RECORD,,\n"

    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, content in [*files, (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # of the same files the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if "/scripts/" in name or name.endswith(".so") else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16  # pip asks whether it is a file before it makes it executable
            wheel.writestr(entry, content)

    for name, spdx, _, _ in rows:
        print(f"  {name:14} {spdx}")
    print(out)


main()
