"""Models and texts that the tests share."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "golden" / "families"


def program_file():
    """The program with which numbers are compared: of the build, else the one that the wheel brought beside this Python."""
    return os.environ.get("HEADWAVE_PROGRAM") or shutil.which("headwave", path=pathlib.Path(sys.executable).parent) or shutil.which("headwave")


@pytest.fixture(scope="session")
def program():
    path = program_file()
    if not path or not os.path.exists(path):
        pytest.skip("there is no program to compare with; name it: HEADWAVE_PROGRAM=build/release/headwave")

    def run(*arguments, returns=(0,)):
        done = subprocess.run([path, "-q", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode in returns, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def ids():
    """Three documents that every model of the golden families can read."""
    return np.random.default_rng(1).integers(3, 40, (3, 24))


@pytest.fixture()
def ids_file(tmp_path, ids):
    file = tmp_path / "ids.json"
    file.write_text(json.dumps(ids.tolist()))
    return file
