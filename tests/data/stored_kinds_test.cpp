#include <fstream>

#include "../../core/errors/error.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/named_arrays.h"
#include "../../data/sources/stored_states.h"
#include "../catch.h"
#include "../npy_file.h"
#include "test_files.h"

using namespace headwave;

// The archives come from tests/golden/make_stored_formats.py, the states from tests/golden/make_families.py.
TEST_CASE("archives that are cut short, or have a byte changed, are read or refused, never believed") {
  const TemporaryFolder folder;
  std::size_t refused = 0, tried = 0;
  for (const char* name : {"whole.npz", "by_layer.npz"}) {
    std::ifstream in(formats(name), std::ios::binary);
    const std::string sound((std::istreambuf_iterator<char>(in)), {});
    const auto attempt = [&](const std::string& bytes) {
      ++tried;
      std::ofstream(folder / name, std::ios::binary) << bytes;
      try {
        const auto arrays = open_arrays(folder / name);
        for (const std::string& array : arrays->names()) {
          if (arrays->shape(array).size() < 2 || array == "tokens")
            (void)arrays->texts(array);
          else
            (void)arrays->floats(array);
        }
      } catch (const Error&) {
        ++refused;
      }
    };
    for (std::size_t size = 0; size < sound.size(); size += 3) attempt(sound.substr(0, size));
    for (std::size_t at = 0; at < sound.size(); ++at)
      for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
        std::string changed = sound;
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
        attempt(changed);
      }
  }
  CHECK(tried > 6000);
  CHECK(refused > tried / 20);
}

TEST_CASE("raw residual states are normalised as transformers did, or refused where the norm's output is expected") {
  for (const char* family : {"gpt2", "llama", "bloom"}) {
    INFO(family);
    const auto folder = repository_file("tests/golden/families") / family;
    StoredStatesOptions options;
    options.dataset = "{document}.hidden_states";
    options.axes = array_axes("layer,token,width").value();
    options.apply_norm = true;
    const auto file = folder / "expected.safetensors";
    const StoredInput raw = stored_states(file, open_model(folder), options);
    options.apply_norm = false;
    const StoredInput unasked = stored_states(file, open_model(folder), options);
    CHECK_THROWS_WITH(unasked.source->document(0),
                      ContainsSubstring("hidden_states' document 0 does not look normalised by the norm "
                                        "before layer 0's attention") &&
                          ContainsSubstring("give apply_norm if these are raw residual states") &&
                          ContainsSubstring(std::string(family) == "llama" ? "x / scale has mean square 1 in"
                                                                           : "has mean 0 and variance 1 in"));
    options.dataset = "{document}.attention_input";
    const StoredInput direct = stored_states(file, open_model(folder), options);
    options.apply_norm = true;
    CHECK_THROWS_WITH(stored_states(file, open_model(folder), options).source->document(0),
                      ContainsSubstring("has already been normalised by the norm before"));
    REQUIRE(raw.source->count() == direct.source->count());
    for (Index d = 0; d < raw.source->count(); ++d) {
      const Document made = raw.source->document(d), expected_states = direct.source->document(d);
      // Three states are stored, of two layers: the last enters none.
      REQUIRE(made.stored.size() == 2);
      for (std::size_t l = 0; l < 2; ++l)
        CHECK((made.stored[l].states - expected_states.stored[l].states).cwiseAbs().maxCoeff() < 1e-5F);
    }
  }
}

TEST_CASE("states of a post-norm model that another layer's norm gave are refused, but for those changed on purpose") {
  const auto bert = repository_file("tests/golden/families/bert-mlm");
  StoredStatesOptions options;
  options.axes = array_axes("layer,token,width").value();
  options.dataset = "full.hidden_states";
  const Document right = stored_states(bert / "expected.safetensors", open_model(bert), options).source->document(0);
  REQUIRE(right.stored.size() == 2);

  const TemporaryFolder folder;
  const Matrix32 &first = right.stored[0].states, &second = right.stored[1].states;
  std::vector<float> swapped(second.data(), second.data() + second.size());
  swapped.insert(swapped.end(), first.data(), first.data() + first.size());
  write_npy(folder / "swapped.npy", {2, first.rows(), first.cols()}, swapped);
  options.dataset = "swapped";
  CHECK_THROWS_WITH(
      stored_states(folder / "swapped.npy", open_model(bert), options).source->document(0),
      ContainsSubstring("does not look normalised by the norm before layer 0's attention") &&
          ContainsSubstring("are they of another layer, or from before the norm?; give any_states to take "
                            "states that were changed on purpose"));
  options.any_states = true;
  const Document taken = stored_states(folder / "swapped.npy", open_model(bert), options).source->document(0);
  CHECK(taken.stored[0].states == second);
}

TEST_CASE("a norm is asked for only where there is one to put") {
  StoredStatesOptions options;
  options.apply_norm = true;
  CHECK_THROWS_WITH(stored_states(formats("whole.npz"), options),
                    ContainsSubstring("give model=DIR, or omit apply_norm"));
  options.dataset = "full.hidden_states";
  const auto bert = repository_file("tests/golden/families/bert-mlm");
  options.axes = array_axes("layer,token,width").value();
  CHECK_THROWS_WITH(stored_states(bert / "expected.safetensors", open_model(bert), options),
                    ContainsSubstring("normalises after its layers") && ContainsSubstring("omit apply_norm"));
}
