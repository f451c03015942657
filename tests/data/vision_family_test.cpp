#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../../data/sources/feature_documents.h"
#include "../npy_file.h"
#include "edited_model.h"
#include "golden_tensors.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

namespace {

/// A document of pixel values (3, height, width) that are ready.
Document image_document(const std::vector<MatrixView32>& values, const PatchGrid& grid) {
  Document document;
  for (Index n = 0; n < grid.first; ++n) document.ids.push_back(static_cast<std::int32_t>(n));
  document.signal.resize(grid.patches(), grid.numbers());
  for (Index n = 0; n < grid.patches(); ++n) {
    document.ids.push_back(static_cast<std::int32_t>(-1 - n));
    const Index top = n / grid.columns * grid.height, left = n % grid.columns * grid.width;
    for (Index c = 0; c < 3; ++c)
      document.signal.row(n).segment(c * grid.height * grid.width, grid.height * grid.width) =
          values[static_cast<std::size_t>(c)].block(top, left, grid.height, grid.width).reshaped<Eigen::RowMajor>();
  }
  return document;
}

/// Writes the two golden images of a family, as its image processor prepared them, to pixel_values.npy.
void write_golden_pixels(const std::string& name, const std::filesystem::path& folder) {
  const SafetensorsFile expected(family(name) / "expected.safetensors");
  std::vector<float> pixels;
  std::vector<Index> shape{2, 3, 0, 0};
  for (const char* at : {"first.pixel_values", "second.pixel_values"})
    for (const MatrixView32& channel : golden_matrices(expected, at)) {
      shape[2] = channel.rows(), shape[3] = channel.cols();
      pixels.insert(pixels.end(), channel.data(), channel.data() + channel.size());
    }
  write_npy(folder / "pixel_values.npy", shape, pixels);
}

double off_by_rms(const Matrix32& came, const MatrixView32& expected) {
  REQUIRE(came.rows() == expected.rows());
  REQUIRE(came.cols() == expected.cols());
  const double rms = std::sqrt(expected.cast<double>().squaredNorm() / static_cast<double>(expected.size()));
  return (came - expected).cwiseAbs().maxCoeff() / rms;
}

/// Largest differences from what transformers computed: weights; states and logits in units of their rms.
struct Apart {
  double weights = 0, states = 0, logits = 0;
};

void check_case(const Model& model, const SafetensorsFile& expected, const std::string& at, Apart& apart) {
  const Document document = image_document(golden_matrices(expected, at + "pixel_values"), model.patches);
  KeptPass kept;
  const std::array<Probe*, 1> probes{&kept};
  const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
  const std::vector<MatrixView32> attention = golden_matrices(expected, at + "attentions");
  const std::vector<Matrix32>& weights = kept.weights[AttentionKind::self];
  REQUIRE(weights.size() == attention.size());
  for (std::size_t h = 0; h < weights.size(); ++h) {
    apart.weights = std::max<double>(apart.weights, (weights[h] - attention[h]).cwiseAbs().maxCoeff());
    CHECK(attention[h].maxCoeff() - attention[h].minCoeff() > 0.1F);  // far from uniform
  }
  const std::vector<MatrixView32> inputs = golden_matrices(expected, at + "attention_input");
  const std::vector<Matrix32>& states = kept.states[AttentionKind::self];
  REQUIRE(states.size() == inputs.size());
  for (std::size_t l = 0; l < states.size(); ++l)
    apart.states = std::max(apart.states, off_by_rms(states[l], inputs[l]));
  apart.states = std::max(apart.states, off_by_rms(last, golden_matrices(expected, at + "hidden_states").back()));
  if (model.classes.empty()) return;
  const Matrix32 scores = class_scores(model, last).transpose();
  apart.logits = std::max(apart.logits, off_by_rms(scores, golden_matrices(expected, at + "logits").front()));
}

void check_vision(const std::string& name, const Model& model) {
  CAPTURE(name);
  const SafetensorsFile expected(family(name) / "expected.safetensors");
  Apart apart;
  for (const std::string at : {"first.", "second."}) check_case(model, expected, at, apart);
  CHECK(apart.weights <= 1e-5);
  CHECK(apart.states <= 1e-4);
  CHECK(apart.logits <= 1e-4);
  if (const char* log = std::getenv("HEADWAVE_FAMILIES_LOG"))
    std::ofstream(log, std::ios::app) << name << ' ' << apart.weights << ' ' << apart.states << ' ' << apart.logits
                                      << '\n';
}

}  // namespace

TEST_CASE("models of images compute what transformers computes") {
  for (const std::string name : {"vit", "vit-model", "deit"}) check_vision(name, open_model(family(name)));
}

TEST_CASE("a map says all that a model of images is") {
  for (const std::string name : {"vit", "vit-model", "deit"}) {
    const TemporaryFolder folder;
    std::ofstream(folder / "map.toml") << model_map_text(model_map(family(name)));
    check_vision(name, open_model({family(name) / "model.safetensors", folder / "map.toml"}));
  }
}

TEST_CASE("prepared images are documents of the tokens that open them and of patches, row by row") {
  const TemporaryFolder folder;
  write_golden_pixels("deit", folder.path());
  const Model deit = open_model(family("deit"));
  const std::unique_ptr<Source> images = feature_documents(folder.path(), deit, nullptr, {});
  REQUIRE(images->count() == 2);
  const Document document = images->document(1);
  CHECK(document.length() == 17);
  CHECK(images->length(1) == 17);
  CHECK(document.ids ==
        std::vector<std::int32_t>{0, 1, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15});
  CHECK(document.tokens[0] == "[CLS]");
  CHECK(document.tokens[1] == "[DIST]");
  CHECK(document.tokens[2] == "r0c0");
  CHECK(document.tokens[16] == "r2c4");
  CHECK(document.is_special(1));
  CHECK_FALSE(document.is_special(2));
  const SafetensorsFile expected(family("deit") / "expected.safetensors");
  const Document golden = image_document(golden_matrices(expected, "second.pixel_values"), deit.patches);
  CHECK((document.signal - golden.signal).cwiseAbs().maxCoeff() == 0);
  CHECK(std::get<std::string>(images->provenance().at("source")) == "images");
  CHECK(feature_documents(folder.path(), deit, nullptr, 1)->count() == 1);
}

TEST_CASE("arrays that are no images for the model are refused by name") {
  const TemporaryFolder folder;
  const Model vit = open_model(family("vit"));
  const auto refused = [&](const std::vector<Index>& shape, const std::string& why,
                           std::optional<Index> documents = {}) {
    Index count = 1;
    for (const Index size : shape) count *= size;
    write_npy(folder / "pixel_values.npy", shape, std::vector<float>(static_cast<std::size_t>(count)));
    CHECK_THROWS_WITH(feature_documents(folder.path(), vit, nullptr, documents), ContainsSubstring(why));
  };
  CHECK_THROWS_WITH(feature_documents(folder.path(), vit, nullptr, {}), ContainsSubstring("'pixel_values'"));
  refused({12, 20}, "has shape (12, 20), expected (documents, 3 channels, 12 rows, 20 columns of pixels)");
  refused({1, 3, 20, 12}, "has 3 channels of 20 x 12 pixels (height x width), the model reads 3 of 12 x 20");
  refused({1, 1, 12, 20}, "has 1 channels of 12 x 20 pixels");
  refused({1, 3, 12, 20}, "holds 1 documents, 2 were asked for; give documents=1 or fewer", 2);
  std::vector<float> pixels(3 * 12 * 20);
  pixels[7] = std::numeric_limits<float>::quiet_NaN();
  write_npy(folder / "pixel_values.npy", {3, 12, 20}, pixels);
  CHECK_THROWS_WITH(feature_documents(folder.path(), vit, nullptr, {})->document(0),
                    ContainsSubstring("document 0 holds NaN"));
}

TEST_CASE("configs of images that do not fit are refused by name") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(family("vit"), model);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    const std::string before = file_bytes(model / "config.json");
    replace_in(model / "config.json", from, to);
    CAPTURE(to);
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring(why));
    std::ofstream(model / "config.json") << before;
  };
  refused("\"patch_size\": 4", "\"patch_size\": 5", "'patch_size' does not divide 'image_size'");
  refused("\"patch_size\": 4", "\"patch_size\": 2", "has shape (15, 3, 4, 4), expected (15, 3, 2, 2)");
  refused("\"image_size\": [\n    12", "\"image_size\": [\n    16", "has shape (1, 16, 15), expected (21, 15)");
  refused("\"num_channels\": 3", "\"num_channels\": 1", "has shape (15, 3, 4, 4), expected (15, 1, 4, 4)");
  refused("\"model_type\": \"vit\"", "\"model_type\": \"deit\"",
          "there is no tensor 'embeddings.patch_embeddings.projection.weight'");
  refused("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "belongs to a layer, but a vit does not read it");
}

TEST_CASE(
    "what positions alone make of an image does not depend on its pixels, and shuffled words are shuffled patches") {
  const Model vit = open_model(family("vit"));
  const Model positions = positions_only(vit);
  const TemporaryFolder folder;
  write_golden_pixels("vit", folder.path());
  const auto source = [&] { return feature_documents(folder.path(), vit, nullptr, {}); };
  const auto last = [](const Model& model, const Document& document) {
    return model_pass(model, document, {}, {.final_states = true});
  };
  const Document first = source()->document(0), second = source()->document(1);
  CHECK((last(positions, first) - last(positions, second)).cwiseAbs().maxCoeff() == 0);
  CHECK((last(vit, first) - last(vit, second)).cwiseAbs().maxCoeff() > 0.1F);
  const Document shuffled = shuffled_words(source(), 3, 1)->document(0);
  CHECK(shuffled.ids[0] == 0);
  CHECK(shuffled.ids != first.ids);
  // Without positions the class token sees the same set of patches.
  const Model words = words_only(vit);
  CHECK((last(words, shuffled).row(0) - last(words, first).row(0)).cwiseAbs().maxCoeff() < 1e-5F);
  Document wrong = first;
  wrong.signal = wrong.signal.leftCols(5).eval();
  CHECK_THROWS_WITH(last(vit, wrong), ContainsSubstring("patches of 5 numbers, the model expects 48"));
  wrong = first;
  wrong.ids.back() = -99;
  CHECK_THROWS_WITH(last(vit, wrong), ContainsSubstring("token 15 has id -99"));
}
