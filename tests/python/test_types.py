"""The types that the package states: what type checkers make of a program that uses it, and that no option is missing."""

import pathlib
import subprocess
import sys

import pytest

import headwave
from conftest import MODELS
from headwave.given import JobOptions
from headwave.jobs import run


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]], ids=lambda words: words[0])
def test_type_checkers_know_what_calls_take_and_return(checker, tmp_path):
    pytest.importorskip(checker[0])
    script = pathlib.Path(__file__).with_name("typed_use.py")
    done = subprocess.run([sys.executable, "-m", *checker, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_type_checkers_know_every_option_of_a_job(ids):
    with pytest.raises(headwave.FormatError, match="there are ") as refused:
        run(str(MODELS / "gpt2"), ids=ids.tolist(), qqqqqqqqqqqqqqqq=1)
    assert set(str(refused.value).split("there are ")[1].split(", ")) == set(JobOptions.__annotations__)
