"""check_model: headwave's attention beside transformers', from one directory."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import headwave
from conftest import MODELS

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("family", ["bert-mlm", "qwen3-window", "gemma3-multimodal", "phi3-longrope"])
def test_a_checkpoint_that_is_read_rightly_agrees(family):
    checked = headwave.check_model(MODELS / family, tokens=15)
    assert checked.apart.shape == (2, 4)
    assert checked.apart.max() < 1e-5
    assert checked.alike and "agrees with transformers" in str(checked)


def test_a_checkpoint_that_is_not_is_told(tmp_path, monkeypatch):
    shutil.copytree(MODELS / "llama", tmp_path / "llama")
    config = json.loads((tmp_path / "llama" / "config.json").read_text())
    theirs = transformers.AutoModel.from_pretrained(tmp_path / "llama", attn_implementation="eager")
    config["rope_parameters"]["rope_theta"] *= 2
    (tmp_path / "llama" / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", lambda *_, **__: theirs)
    checked = headwave.check_model(tmp_path / "llama")
    assert not checked.alike
    layer, head = np.unravel_index(np.argmax(checked.apart), checked.apart.shape)
    assert "DIFFERS" in str(checked) and f"L{layer}H{head}" in str(checked)


def test_an_encoder_decoder_is_refused_by_name():
    with pytest.raises(headwave.FormatError, match="is an encoder-decoder"):
        headwave.check_model(MODELS / "bart")


def test_code_that_a_checkpoint_brings_along_is_not_run_whatever_stands_on_standard_input(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "configuration_own.OwnConfig"}}')
    (tmp_path / "configuration_own.py").write_text(f"""open({str(tmp_path / 'ran')!r}, "w").close()
from transformers import PretrainedConfig
class OwnConfig(PretrainedConfig):
    model_type = "own"
""")
    code = f"import headwave; headwave.check_model({str(tmp_path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, input="y\n")
    assert done.returncode == 1 and "only by running code of the checkpoint, which is not allowed" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_model_in_one_file_is_refused(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(headwave.IoError, match="model.gguf. is not a folder; expected a model directory"):
        headwave.check_model(tmp_path / "model.gguf")
