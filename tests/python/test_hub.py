"""Models by their name on the hub, in a cache as huggingface_hub lays it out: blobs, links to them, and refs."""

import pytest

import headwave
from conftest import MODELS
from test_jobs import same


@pytest.fixture()
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    model = tmp_path / "models--somebody--tiny-bert"
    for folder in ("blobs", "refs", "snapshots/0123", "snapshots/old"):
        (model / folder).mkdir(parents=True)
    for number, file in enumerate(sorted((MODELS / "bert-mlm").iterdir())):
        if file.is_file():
            (model / "blobs" / str(number)).write_bytes(file.read_bytes())
            (model / "snapshots" / "0123" / file.name).symlink_to(f"../../blobs/{number}")
    (model / "refs" / "main").write_text("0123")
    return tmp_path


def test_a_model_is_found_in_the_local_cache(cache, ids):
    found = headwave.run("somebody/tiny-bert", ids=ids, only=["measured_offset"])
    there = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    same(found, there)


def test_a_name_that_is_not_in_the_cache_says_how_to_get_it(cache, ids):
    with pytest.raises(headwave.IoError, match=r"huggingface_hub.snapshot_download\('nobody/nothing'\)"):
        headwave.run("nobody/nothing", ids=ids)
    with pytest.raises(headwave.IoError, match="huggingface_hub"):
        headwave.atlas("nothing")


def test_the_text_may_be_the_second_argument(tmp_path, program):
    program("demo", "--write-model", tmp_path / "planted")
    text = "the cat sat on the mat and looked at the moon " * 20
    given = {"length": 16, "special_tokens": False, "only": ["measured_offset"], "allow_unknown": True}
    same(headwave.run(tmp_path / "planted", text, **given), headwave.run(tmp_path / "planted", text=text, **given))
