"""Writes files that appear whole or not at all, among them HDF5 files by h5py."""

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
    """Gives a temporary name for a new file. At the end the file gets the name `path`. If an exception is raised, the file is removed.

    Raises:
        IoError: the file cannot be created, or `path` exists and may not be overwritten
    """
    new = _core.NewFile(path, overwrite)
    try:
        yield str(new.temporary)
        new.commit()
    finally:
        new.abandon()


class NewHdf5:
    """A new HDF5 file (`file`, of h5py) with a temporary name until finish() or abandon(). Only write() may fill the file.

    Raises:
        IoError: as replaced(); FormatError: h5py is not installed
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        h5py = h5py_module()
        self._path, self._new = path, _core.NewFile(path, overwrite)
        self._disk = _Disk(self._new.temporary, "r+")
        self._thread = concurrent.futures.ThreadPoolExecutor(1)   # Ctrl-C, raised in the main thread, cannot interrupt the HDF5 library here
        self.file = self._thread.submit(h5py.File, self._disk, "w").result()
        # Nobody need call abandon(), but a file that is still open when Python ends would write through objects that are gone.
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
        """Does work that writes to the file.

        Raises:
            IoError: the disk reported an error
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
    """Removes a file that does not have its final name yet."""
    disk.failed = disk.failed or OSError("abandoned")   # nothing more is written
    with contextlib.suppress(Exception):
        try:
            thread.submit(file.close).result()
        except RuntimeError:   # Python is ending, and starts no more work
            file.close()
    thread.shutdown()
    disk.close()
    new.abandon()


class _Disk(io.FileIO):
    """A file that hides write errors from the HDF5 library, which crashes when it closes a file that it could not write. Keeps the first error."""

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
