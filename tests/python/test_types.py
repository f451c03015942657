"""The types that the package states: what type checkers make of a program that uses it, and that no option is missing."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import headwave


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]], ids=lambda words: words[0])
def test_type_checkers_know_what_calls_take_and_return(checker, tmp_path):
    pytest.importorskip(checker[0])
    script = pathlib.Path(__file__).with_name("typed_use.py")
    done = subprocess.run([sys.executable, "-m", *checker, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_signature_of_a_run_names_every_option():
    for function in (headwave.run, headwave.account):
        parameters = inspect.signature(function).parameters
        assert parameters["reach"].default == 64 and parameters["documents"].default is None and parameters["only"].default == []
        assert list(parameters)[:3] == ["model", "tokenizer", "text"] and "options" not in parameters
