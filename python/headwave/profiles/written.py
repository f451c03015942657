"""Files that appear whole or not at all, those of HDF5 by h5py."""

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import weakref
from typing import Any, Callable, Iterator

from .. import _core
from ..errors import FormatError, IoError


@contextlib.contextmanager
def replaced(path: str, overwrite: bool = False) -> Iterator[str]:
    """The temporary name of a new file, which takes the name `path` in the end; it is removed if an exception is raised.

    Raises:
        IoError: it cannot be made, or cannot take the name, since another file has it and may not be overwritten
    """
    new = _core.NewFile(path, overwrite)
    try:
        yield str(new.temporary)
        new.commit()
    finally:
        new.abandon()


class NewHdf5:
    """A new HDF5 file under a temporary name: `file`, of h5py, which write() fills, until finish() or abandon().

    Raises:
        IoError: as replaced(); FormatError: h5py is not installed
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        h5py = h5py_module()
        self._path, self._new = path, _core.NewFile(path, overwrite)
        self._disk = _Disk(self._new.temporary, "r+")
        self._thread = concurrent.futures.ThreadPoolExecutor(1)   # Ctrl-C is raised in the main thread, and here it would be in the library
        self.file = self._thread.submit(h5py.File, self._disk, "w").result()
        # Nobody may call abandon(), and a file that is open when Python ends would write by what is no longer there.
        self.abandon = weakref.finalize(self, _abandon, self.file, self._disk, self._thread, self._new)

    def __enter__(self) -> "NewHdf5":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.abandon()

    def write(self, work: Callable[[], Any]) -> None:
        """Does what writes to the file.

        Raises:
            IoError: the disk refused something
        """
        try:
            self._thread.submit(work).result()
        finally:
            if self._disk.failed is not None:
                raise IoError(f"{self._path}: cannot be written: {self._disk.failed}")

    def finish(self) -> None:
        """Closes the file, appends the digest of its bytes (data/files/digest.h), and gives it its name."""
        self.write(self.file.close)
        self._new.seal()
        self._new.commit()


def _abandon(file: Any, disk: "_Disk", thread: concurrent.futures.Executor, new: Any) -> None:
    """Removes what has not got its name."""
    disk.failed = disk.failed or OSError("abandoned")   # nothing more is written
    with contextlib.suppress(Exception):
        try:
            thread.submit(file.close).result()
        except RuntimeError:   # Python ends, and begins no work
            file.close()
    thread.shutdown()
    disk.close()
    new.abandon()


class _Disk(io.FileIO):
    """A file that keeps its first error of a write to itself: the HDF5 library crashes when it closes what it could not write."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        left = memoryview(data)
        try:
            while self.failed is None and len(left):
                left = left[super().write(left) or 0:]
        except OSError as error:
            self.failed = error
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size) if self.failed is None else size or 0
        except OSError as error:
            self.failed = error
            return size or 0


def h5py_module() -> Any:
    """Raises:
        FormatError: h5py is not installed
    """
    try:
        import h5py
    except ImportError as error:
        raise FormatError("HDF5 is read and written here by h5py, which is not installed; pip install h5py") from error
    return h5py
