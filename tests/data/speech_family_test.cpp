#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../../core/errors/error.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../../data/sources/feature_documents.h"
#include "edited_model.h"
#include "golden_tensors.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

namespace {

std::vector<std::int32_t> golden_ids(const SafetensorsFile& file, const std::string& name) {
  const std::string bytes = golden_bytes(file, name);
  std::vector<std::int32_t> ids(bytes.size() / sizeof(std::int32_t));
  std::memcpy(ids.data(), bytes.data(), bytes.size());
  return ids;
}

/// A document of features (bins, frames) and of what the decoder reads.
Document sound_document(const MatrixView32& features, std::vector<std::int32_t> target) {
  Document document;
  document.signal = features.transpose();
  for (Index n = 0; n < features.cols() / 2; ++n) document.ids.push_back(static_cast<std::int32_t>(-1 - n));
  document.target.ids = std::move(target);
  return document;
}

Document golden_document(const SafetensorsFile& expected, const std::string& at) {
  return sound_document(golden_matrices(expected, at + "input_features").front(),
                        golden_ids(expected, at + "decoder_ids"));
}

/// Largest differences from what transformers computed: weights; states and logits in units of their rms.
struct Distance {
  double weights = 0, states = 0, logits = 0;
};

double apart_by_rms(const Matrix32& came, const MatrixView32& expected) {
  REQUIRE(came.rows() == expected.rows());
  REQUIRE(came.cols() == expected.cols());
  const double rms = std::sqrt(expected.cast<double>().squaredNorm() / static_cast<double>(expected.size()));
  return (came - expected).cwiseAbs().maxCoeff() / rms;
}

void check_kind(KeptPass& kept, AttentionKind kind, const SafetensorsFile& expected, const std::string& at,
                Distance& apart) {
  CAPTURE(at);
  const std::vector<MatrixView32> attention = golden_matrices(expected, at + "_attentions");
  const std::vector<Matrix32>& weights = kept.weights[kind];
  REQUIRE(weights.size() == attention.size());
  float spread = 0;
  for (std::size_t h = 0; h < weights.size(); ++h) {
    REQUIRE(weights[h].rows() == attention[h].rows());
    REQUIRE(weights[h].cols() == attention[h].cols());
    apart.weights = std::max<double>(apart.weights, (weights[h] - attention[h]).cwiseAbs().maxCoeff());
    spread = std::max(spread, attention[h].maxCoeff() - attention[h].minCoeff());
  }
  CHECK(spread > 0.1F);  // not uniform, or agreeing would mean little
  const std::vector<MatrixView32> inputs = golden_matrices(expected, at + "_attention_input");
  REQUIRE(kept.states[kind].size() == inputs.size());
  for (std::size_t l = 0; l < inputs.size(); ++l)
    apart.states = std::max(apart.states, apart_by_rms(kept.states[kind][l], inputs[l]));
}

void check_speech(const std::string& name, const Model& model) {
  const SafetensorsFile expected(family(name) / "expected.safetensors");
  Distance apart;
  for (const std::string at : {"short.", "full."}) {
    CAPTURE(name, at);
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    const Matrix32 last = model_pass(model, golden_document(expected, at), probes, {.final_states = true});
    check_kind(kept, AttentionKind::self, expected, at + "encoder", apart);
    check_kind(kept, AttentionKind::causal, expected, at + "decoder", apart);
    check_kind(kept, AttentionKind::cross, expected, at + "cross", apart);
    apart.states =
        std::max(apart.states, apart_by_rms(last, golden_matrices(expected, at + "decoder_hidden_states").back()));
    if (expected.find(at + "logits") != nullptr)
      apart.logits =
          std::max(apart.logits, apart_by_rms(logits(model, last), golden_matrices(expected, at + "logits").front()));
  }
  CHECK(apart.weights <= 1e-5);
  CHECK(apart.states <= 1e-4);
  CHECK(apart.logits <= 1e-4);
  if (const char* log = std::getenv("HEADWAVE_FAMILIES_LOG"))
    std::ofstream(log, std::ios::app) << name << ' ' << apart.weights << ' ' << apart.states << ' ' << apart.logits
                                      << '\n';
}

/// Writes an array of float32 in version 1 of .npy.
void write_floats(const std::filesystem::path& file, const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (header.size() + 10) % 64, ' ').push_back('\n');
  std::ofstream out(file, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() % 256) << static_cast<char>(header.size() / 256)
      << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

/// Features as a function of where they stand, so that a mistake of order is seen.
std::vector<float> counted(Index count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return values;
}

constexpr Index bins = 5, frames = 26;  // of the golden model

}  // namespace

TEST_CASE("models of sound compute what transformers computes") {
  for (const std::string name : {"whisper", "whisper-model"}) check_speech(name, open_model(family(name)));
}

TEST_CASE("a map says all that a model of sound is") {
  for (const std::string name : {"whisper", "whisper-model"}) {
    const TemporaryFolder folder;
    std::ofstream(folder / "map.toml") << model_map_text(model_map(family(name)));
    check_speech(name, open_model({family(name) / "model.safetensors", folder / "map.toml"}));
  }
}

TEST_CASE("a document of sound has the encoder's positions, and as target what the decoder reads but for its padding") {
  const TemporaryFolder folder;
  write_floats(folder / "input_features.npy", "(3, 5, 26)", counted(3 * bins * frames));
  write_floats(folder / "decoder_input_ids.npy", "(3, 4)", {3, 7, 9, 11, 3, 8, -1, -100, 3, 49, 0, -1});
  const Model model = open_model(family("whisper"));
  const std::unique_ptr<Source> sounds = feature_documents(folder.path(), model, nullptr, {});
  REQUIRE(sounds->count() == 3);
  CHECK(sounds->length(1) == 13);
  const Document document = sounds->document(1);
  CHECK(document.length() == 13);
  CHECK(document.ids.front() == -1);
  CHECK(document.ids.back() == -13);
  CHECK(document.tokens[2] == "f4");
  CHECK(document.target.ids == std::vector<std::int32_t>{3, 8});
  CHECK(sounds->document(2).target.ids == std::vector<std::int32_t>{3, 49, 0});
  REQUIRE(document.signal.rows() == frames);
  REQUIRE(document.signal.cols() == bins);
  CHECK(document.signal(0, 0) == bins * frames);
  CHECK(document.signal(3, 2) == bins * frames + 2 * frames + 3);
  CHECK(std::get<std::string>(sounds->provenance().at("source")) == "sound");
  CHECK(feature_documents(folder.path(), model, nullptr, 2)->count() == 2);

  // One document may stand without the axis of documents. The files of the others are still open.
  for (const char* name : {"input_features.npy", "decoder_input_ids.npy"}) std::filesystem::remove(folder / name);
  write_floats(folder / "input_features.npy", "(5, 26)", counted(bins * frames));
  write_floats(folder / "decoder_input_ids.npy", "(3,)", {3, 7, 9});
  const std::unique_ptr<Source> one = feature_documents(folder.path(), model, nullptr, {});
  REQUIRE(one->count() == 1);
  CHECK(one->document(0).signal(3, 2) == 2 * frames + 3);
}

TEST_CASE("what is no sound for the model is refused in one line, by the name of the array") {
  const Model model = open_model(family("whisper"));
  const TemporaryFolder folder;
  const auto features = [&](const std::string& shape, std::vector<float> values) {
    write_floats(folder / "input_features.npy", shape, values);
  };
  const auto target = [&](const std::string& shape, const std::vector<float>& values) {
    write_floats(folder / "decoder_input_ids.npy", shape, values);
  };
  const auto refused = [&](const std::string& why, std::optional<Index> documents = {}) {
    CHECK_THROWS_WITH(feature_documents(folder.path(), model, nullptr, documents)->document(0), ContainsSubstring(why));
  };
  features("(1, 5, 26)", counted(bins * frames));
  refused("decoder_input_ids");
  target("(1, 2)", {3, 4});
  refused("holds 1 documents, 2 were asked for", 2);
  CHECK_NOTHROW(feature_documents(folder.path(), model, nullptr, {})->document(0));
  target("(2, 2)", {3, 4, 3, 4});
  refused("holds 2 documents, input_features 1");
  target("(1, 2)", {3, 50});
  refused("document 0, token 1 is 50, but the model knows the ids 0 to 49");
  target("(1, 2)", {-1, 4});
  refused("document 0, token 0 is -1");
  target("(1, 2)", {3, 4.5F});
  refused("token 1 is 4.5");
  target("(1, 2)", {3, std::numeric_limits<float>::quiet_NaN()});
  refused("token 1 is nan");
  target("(1, 2)", {-1, -1});
  refused("document 0 has 0 tokens; expected 1 to 9");
  target("(1, 10)", counted(10));
  refused("document 0 has 10 tokens; expected 1 to 9");
  target("(1, 2)", {3, 4});
  features("(1, 5, 24)", counted(bins * 24));
  refused("has 5 bins and 24 frames, the model reads 5 and 26");
  features("(1, 26, 5)", counted(bins * frames));
  refused("has 26 bins and 5 frames, the model reads 5 and 26");
  features("(26,)", counted(frames));
  refused("has shape (26), expected (documents, 5 bins, 26 frames)");
  std::vector<float> broken = counted(bins * frames);
  broken[7] = std::numeric_limits<float>::infinity();
  features("(1, 5, 26)", broken);
  refused("document 0 holds NaN or infinity");
  std::filesystem::remove(folder / "input_features.npy");
  refused("input_features");
}

TEST_CASE("what positions alone make of a sound does not depend on it, and shuffled words are shuffled positions") {
  const Model whisper = open_model(family("whisper"));
  const SafetensorsFile expected(family("whisper") / "expected.safetensors");
  const Document document = golden_document(expected, "full.");
  Document silent = document;
  silent.signal.setZero();
  const auto encoded = [](const Model& model, const Document& read) {
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    model_pass(model, read, probes);
    return kept.states[AttentionKind::self].back();
  };
  const Model positions = positions_only(whisper);
  CHECK((encoded(positions, document) - encoded(positions, silent)).cwiseAbs().maxCoeff() == 0);
  CHECK((encoded(whisper, document) - encoded(whisper, silent)).cwiseAbs().maxCoeff() > 0.1F);
  // Without positions the encoder's states move with what stands there.
  Document turned = document;
  std::swap(turned.ids[2], turned.ids[9]);
  const Model words = words_only(whisper);
  const Matrix32 before = encoded(words, document), after = encoded(words, turned);
  CHECK((before.row(2) - after.row(9)).cwiseAbs().maxCoeff() < 1e-4F);
  CHECK((before.row(4) - after.row(4)).cwiseAbs().maxCoeff() < 1e-4F);
  CHECK((before.row(2) - after.row(2)).cwiseAbs().maxCoeff() > 0.01F);

  Document wrong = document;
  wrong.signal = wrong.signal.leftCols(4).eval();
  CHECK_THROWS_WITH(encoded(whisper, wrong), ContainsSubstring("frames of 4 bins, the model expects 5"));
  wrong = document;
  wrong.ids.back() = -14;
  CHECK_THROWS_WITH(encoded(whisper, wrong), ContainsSubstring("token 12 has id -14"));
  wrong = document;
  wrong.target.ids.resize(10, 3);
  CHECK_THROWS_AS(encoded(whisper, wrong), ShapeError);
}

TEST_CASE("configs of sound that do not fit the checkpoint are refused by name") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(family("whisper"), model);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    const std::string before = file_bytes(model / "config.json");
    replace_in(model / "config.json", from, to);
    CAPTURE(to);
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring(why));
    std::ofstream(model / "config.json") << before;
  };
  refused("\"num_mel_bins\": 5", "\"num_mel_bins\": 6", "has shape (20, 5, 3), expected (20, 6, 3)");
  refused("\"max_source_positions\": 13", "\"max_source_positions\": 12", "has shape (13, 20), expected (12, 20)");
  refused("\"max_target_positions\": 9", "\"max_target_positions\": 10", "has shape (9, 20), expected (10, 20)");
  refused("\"encoder_layers\": 2", "\"encoder_layers\": 1", "belongs to a layer, but a whisper does not read it");
  refused("\"d_model\": 20", "\"d_model\": 16", "expected (16");
}
