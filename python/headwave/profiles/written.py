"""Files that appear whole or not at all, and the digest at the end of a file of profiles."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from typing import Iterator

from ..errors import FormatError

# As the program's own files end (data/files/digest.h): HDF5 ignores bytes after its own end, and cuts them off when it changes the file.
_MARK = b"headwave sha256 "
_SEAL_BYTES = len(_MARK) + 64 + 1


@contextlib.contextmanager
def replaced(path: str) -> Iterator[str]:
    """A new file beside `path` to write to, which takes its name in the end; it is removed if an exception is raised.

    Raises:
        OSError: it cannot be made, or cannot take the name
    """
    while True:
        made = f"{path}.{secrets.token_hex(6)}.unfinished"
        try:
            os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))   # follows no link, and takes no file that is there
            break
        except FileExistsError:
            continue
    try:
        yield made
        os.replace(made, path)
    except BaseException:
        os.remove(made)
        raise


def seal(path: str) -> None:
    """Appends the digest of a file's bytes."""
    with open(path, "r+b") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0, os.SEEK_END)
        file.write(_MARK + digest.encode() + b"\n")


def require_seal(path: str) -> None:
    """Refuses a file that does not have the bytes that its digest is of. A file without one passes.

    Raises:
        FormatError: it holds other bytes; OSError: it cannot be read
    """
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _SEAL_BYTES))
        end = file.read()
        if size < _SEAL_BYTES or not end.startswith(_MARK) or not end.endswith(b"\n"):
            return
        digest, left = hashlib.sha256(), size - _SEAL_BYTES
        file.seek(0)
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    if end != _MARK + digest.hexdigest().encode() + b"\n":
        raise FormatError(f"{path}: is not what was written: the digest at its end is that of other bytes; put a sound copy in its place, or "
                          "remove it and make it again")
