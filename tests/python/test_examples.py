"""The programs in examples/ give the numbers of programs that are not theirs."""

import json
import pathlib
import subprocess
import sys
import wave

import numpy as np
import pytest

import headwave
from conftest import MODELS

ROOT = pathlib.Path(__file__).parents[2]
STORIES = ROOT.parent / "shared" / "data" / "stories260K"
sys.path.insert(0, str(ROOT / "examples"))
paper = pytest.importorskip("paper")

# Of 6 documents of the planted model, by a C++ program of the same definitions.
OF_THE_PLANTED_MODEL = {
    "heads in one or two clusters": 1, "strongest frequency of the positions": 62, "highest peak of the positions": 62,
    "energy of the positions below 10 cycles": 0.09989575311066083, "contrast of the word sequence": 1.2641462424347567,
    "variance of the positions in 4 components": 0.223424297526477, "variance of the positions in 12 components": 0.6292573910738823,
    "highly correlated components": 20, "fall of the correlation with depth": 0, "periodic columns of heads with an offset": 16.666666666666668,
    "contrast of queries in layer 0": 9.71755311396582, "contrast of keys in layer 0": 9.698319225501054,
    "contrast of states in layer 0": 7.9797084117406945, "decay of the contrast of queries": 0,
    "mean layer of heads with an offset": 1.5185185185185186, "weight of L3H1 at its offset, positions only": 1.3262742202496436,
    "weight of L3H1 at its offset, words only": 0.003737153817618714, "weight of L3H1 at its offset, words shuffled": 0.999999991928047,
}


@pytest.fixture(scope="module")
def planted(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    program("demo", "--documents", 6, "--write-model", folder / "model")
    words = (folder / "model" / "vocab.txt").read_text().split()[5:]
    (folder / "text.txt").write_text(" ".join(np.random.default_rng(1).choice(words, 600)))
    return folder


def test_the_papers_rows_are_those_of_the_planted_model(planted):
    pytest.importorskip("xarray")   # the example chooses by coordinates
    ids = json.loads((planted / "model" / "ids.json").read_text())
    result = headwave.run(planted / "model", ids=ids, everything=True)
    rows = paper.measured(result, False) | dict(paper.carried(planted / "model", result, False, ids=ids))
    assert rows == pytest.approx(OF_THE_PLANTED_MODEL, rel=1e-6, abs=1e-8)


def test_the_papers_heads_are_read_where_they_are():
    heads, lags = np.zeros((12, 12)), np.zeros((12, 12, 61))
    offset, phase = heads.copy(), heads.copy()
    offset[7, 8], offset[1, 2], phase[0, 0], phase[1, 2] = -1, 1, -2.5, 1.1
    lags[0, 0, 28], lags[7, 8, 29] = 1, 1
    columns, frequency = np.zeros((1, 1, 8, 61)), np.zeros((1, 1, 8))
    columns[0, 0, 4, 27], columns[0, 0, 5, 28], frequency[0, 0, 4:6] = 1, 1, (50, 51)
    rows = paper.measured({"measured_offset/offset": offset[None], "periodic_columns/peak_frequency": frequency, "phase_delay/estimate": phase,
                           "cross_covariance/correlation": columns, "cross_covariance/weighted": lags}, True)
    published = paper.PUBLISHED["roberta"]
    assert set(rows) <= set(published) and rows["lag of column 5 of L0H0"] == -3 and rows["lag of column 6 of L0H0"] == -2
    assert all(published[name][1] <= value <= published[name][2] for name, value in rows.items())


def test_a_spectrum_stands_out_in_the_published_band_alone():
    flat = np.ones(257)
    assert paper.contrast(flat) == 1
    flat[[30, 50]] = 9, 4
    assert paper.contrast(flat) == 4
    assert np.isnan(paper.contrast(np.ones(5)))      # 40 to 60 cycles per 512 tokens are less than one per 8


def test_swaps_are_scored_as_by_hand():
    torch, scores = pytest.importorskip("torch"), pytest.importorskip("published_scores")
    before = torch.tensor([[[0.6, 0.2, 0.1, 0.1]] * 4])
    a, b, free = torch.tensor([0]), torch.tensor([1]), torch.tensor([3])
    for after, expected in (([0.6, 0.2, 0.1, 0.1], (1, 0.6)), ([0.2, 0.6, 0.1, 0.1], (0.6, 1))):
        found = scores.swap_scores(before, torch.tensor([[after] * 4]), a, b, free)
        assert found[:, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_published_scores_are_those_of_a_program_in_numpy(name):
    transformers, scores = pytest.importorskip("transformers"), pytest.importorskip("published_scores")
    if name == "bert":      # whose keys hold their places: every score is in range, and the vectors' are what they are by definition
        model = transformers.AutoModel.from_pretrained(MODELS / "bert-mlm", attn_implementation="eager").eval()
        ids = np.random.default_rng(1).integers(3, 40, (4, 24)).tolist()
        found = scores.published_scores(model, ids)
        assert all(0 <= found[of].min() and found[of].max() <= 1 for of in ("positional", "symbolic", "rank_one key", "resultant query"))
        return
    if not STORIES.exists():
        pytest.skip("shared data is not there")
    golden = json.loads((ROOT / "tests" / "golden" / "published_scores.json").read_text())
    model = transformers.AutoModelForCausalLM.from_pretrained(STORIES, attn_implementation="eager").eval()
    found = scores.published_scores(model, golden["ids"])
    for ours, theirs in (("rank_one", "rank_one_share"), ("resultant", "resultant_length"), ("massive", "massive_ratio")):
        for side in ("query", "key"):
            expected = np.array([[head[theirs] for head in layer] for layer in golden[side]])
            assert np.abs(found[f"{ours} {side}"] - expected).max() < 1e-5
    for of in ("positional", "symbolic"):     # other keys change places there: two seeds of the numpy program differ by 0.045 at most
        assert np.abs(found[of] - golden[f"{of}_score"]).max() < 0.07


@pytest.mark.parametrize("name, said", [("paper", "strongest frequency of the positions"), ("published_scores", "positional")])
def test_both_run_as_programs(planted, name, said):
    pytest.importorskip("transformers")
    done = subprocess.run([sys.executable, ROOT / "examples" / f"{name}.py", planted / "model", planted / "text.txt", "3", "64"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout and "L0H0" in done.stdout or "weight of" in done.stdout


def test_rows_of_several_models_are_joined_and_divided_by_layer(planted):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("matplotlib")
    rows, figure, documents = planted / "rows.csv", planted / "parts.png", planted / "ids.json"
    ids = np.random.default_rng(1).integers(3, 40, (15, 24)).tolist()
    documents.write_text(json.dumps(ids))
    headwave.run(MODELS / "llama", ids=ids).save(planted / "first.h5", overwrite=True)
    for command in (["head_rows", rows, "12", MODELS / "bert-mlm", documents, planted / "first.h5", "-"], ["plot_head_rows", rows, figure]):
        done = subprocess.run([sys.executable, ROOT / "examples" / f"{command[0]}.py", *command[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert pandas.read_csv(rows).groupby("model")["documents"].first().to_dict() == {"bert-mlm": 12, "llama": 15}
    assert figure.stat().st_size > 10_000 and "bert-mlm" in done.stdout and "[" in done.stdout


def test_rows_are_those_of_a_text_file(planted):
    pandas = pytest.importorskip("pandas")
    rows, model, text = planted / "text.csv", planted / "model", planted / "text.txt"
    done = subprocess.run([sys.executable, ROOT / "examples" / "head_rows.py", rows, "3", model, text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = headwave.run(model, text=text, documents=3, length=128).to_dataframe()
    assert pandas.read_csv(rows)["offset"].tolist() == pytest.approx(expected["offset"].tolist(), nan_ok=True)
    assert set(expected["documents"]) == {3}


def test_parts_of_a_layer_are_sums_over_its_heads():
    pandas, plot = pytest.importorskip("pandas"), pytest.importorskip("plot_head_rows")
    rows = pandas.DataFrame({"model": "m", "attention": "self", "layer": [0, 0, 0], "documents": 9, "bits": [1, 3, np.nan]})
    for part, of in zip(plot.PARTS, ([0, 1], [1, 0], [0, 1], [0, 1])):
        for end, by in (("", 0), ("_low", -0.1), ("_high", 0.1)):
            rows[part + end] = [*(np.array(of) + by), np.nan]
    one = plot.parts_by_layer(rows).iloc[0]
    assert (one["heads"], one["documents"], one["bits"]) == (2, 9, 2)
    assert [one[part] for part in plot.PARTS] == [0.25] * 4 and one["word_high"] == pytest.approx(0.3)


def test_an_encoder_of_speech_is_watched_on_clips(tmp_path):
    """A small Whisper without training hears tones of 31 seconds at 8 kHz; one clip of 16 kHz is read as it is."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5.0")
    pytest.importorskip("h5py")
    import watch_speech

    torch.manual_seed(1)
    transformers.WhisperModel(transformers.WhisperConfig(
        d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        vocab_size=32, pad_token_id=0, bos_token_id=0, eos_token_id=0, decoder_start_token_id=0)).save_pretrained(tmp_path / "model")
    transformers.WhisperFeatureExtractor().save_pretrained(tmp_path / "model")

    def clip(name, rate, seconds, tone):
        sound = (2**14 * np.sin(2 * np.pi * tone * np.arange(rate * seconds) / rate)).astype(np.int16)
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", ""))
            file.writeframes(sound.tobytes())
        return str(tmp_path / name)

    slow, fast = (watch_speech.samples(clip(f"{rate}.wav", rate, 1, 500)) for rate in (8000, 16000))
    np.testing.assert_allclose(slow, fast, atol=1e-3)
    np.testing.assert_allclose(fast, np.sin(2 * np.pi * 500 * np.arange(16000) / 16000) / 2, atol=1e-4)
    watch_speech.main(tmp_path / "model", tmp_path / "heard.h5", [clip(f"{tone}.wav", 8000, 31, tone) for tone in (300, 700)])
    stack = headwave.open(tmp_path / "heard.h5")["self"]
    assert (stack.documents, stack.heads, stack.rows.sum()) == (2, 2, 2 * 1500)
    result = headwave.run(profiles=tmp_path / "heard.h5")
    assert result["measured_offset"].offset.sizes["head"] == 2
