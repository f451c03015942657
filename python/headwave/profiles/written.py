"""Files that appear whole or not at all, and the digest at the end of a file of profiles (data/files/digest.h)."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import Iterator

from .. import _core


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
    with open(path, "ab") as file:
        file.write(_core.seal_of_file(path).encode())
