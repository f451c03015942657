#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/images/image_file.h"
#include "../../data/images/image_preparation.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../../data/sources/image_documents.h"
#include "edited_model.h"
#include "golden_tensors.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

namespace {

const std::filesystem::path& golden_images() {
  static const std::filesystem::path folder = repository_file("tests/golden/images");
  return folder;
}

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

TEST_CASE("images become the pixel values that transformers' processors make") {
  for (const std::string name : {"vit", "vit-model", "deit"}) {
    const SafetensorsFile expected(family(name) / "expected.safetensors");
    const Model model = open_model(family(name));
    const ImagePreparation preparation = image_preparation(family(name) / "preprocessor_config.json", model.family);
    int files = 0;
    for (const TensorInfo& tensor : expected.tensors()) {
      if (!tensor.name.starts_with("images.")) continue;
      CAPTURE(name, tensor.name);
      const std::filesystem::path file = golden_images() / tensor.name.substr(7);
      const Matrix32 came =
          patch_numbers(prepared(image_file(file), preparation, file.string()), preparation, model.patches);
      const Matrix32 wanted = image_document(golden_matrices(expected, tensor.name), model.patches).signal;
      CHECK((came - wanted).cwiseAbs().maxCoeff() == 0);
      ++files;
    }
    CHECK(files == 17);
  }
}

TEST_CASE("a folder of images is a document for each, in the order of names") {
  const TemporaryFolder folder;
  for (const char* name : {"turned.jpg", "alpha.png", "wide.JPEG"})
    std::filesystem::copy_file(golden_images() / name, folder / name);
  std::ofstream(folder / "notes.txt") << "not an image";
  const Model deit = open_model(family("deit"));
  const ImagePlace place{folder.path(), family("deit") / "preprocessor_config.json", "deit"};
  const std::unique_ptr<Source> images = image_documents(place, deit.patches, {});
  REQUIRE(images->count() == 3);
  CHECK(images->document(0).name == "alpha.png");
  CHECK(images->document(2).name == "wide.JPEG");
  const Document document = images->document(1);
  CHECK(document.length() == 17);
  CHECK(images->length(1) == 17);
  CHECK(document.ids ==
        std::vector<std::int32_t>{0, 1, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15});
  CHECK(document.tokens[1] == "[DIST]");
  CHECK(document.tokens[2] == "r0c0");
  CHECK(document.tokens[16] == "r2c4");
  CHECK(document.is_special(1));
  CHECK_FALSE(document.is_special(2));
  CHECK(std::get<std::int64_t>(images->provenance().at("source_files_left_out")) == 1);
  CHECK(image_documents(place, deit.patches, 2)->count() == 2);
  const auto digest = [&] { return image_documents(place, deit.patches, {})->provenance().at("source_sha256"); };
  const Attribute before = digest();
  std::filesystem::copy_file(golden_images() / "rgb.png", folder / "alpha.png",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(digest() != before);
}

TEST_CASE("folders and images that cannot be read are refused by name, before any is looked at") {
  const TemporaryFolder folder;
  const Model vit = open_model(family("vit"));
  const ImagePlace place{folder.path(), family("vit") / "preprocessor_config.json", "vit"};
  const auto refused = [&](const ImagePlace& from, const PatchGrid& grid, const std::string& why) {
    CHECK_THROWS_WITH(image_documents(from, grid, {}), ContainsSubstring(why));
  };
  refused(place, vit.patches, "no images in 0 files");
  std::ofstream(folder / "a.png") << "a text";
  refused(place, vit.patches, "a.png: expected a PNG or JPEG image, found 'a text'");
  refused({folder / "absent", place.preprocessor, "vit"}, vit.patches, "expected a folder of PNG or JPEG images");
  refused({folder.path(), family("deit") / "config.json", "vit"}, vit.patches, "'image_mean' is missing");
  PatchGrid larger = vit.patches;
  larger.rows = 5;
  refused(place, larger, "images become 12 x 20 pixels (height x width), but the model reads 20 x 20");
  PatchGrid grey = vit.patches;
  grey.channels = 1;
  refused(place, grey, "images are read in three colours, the model reads 1 channels");
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
  const ImagePlace place{golden_images(), family("vit") / "preprocessor_config.json", "vit"};
  const TemporaryFolder folder;
  for (const char* name : {"rgb.png", "color.jpg"}) std::filesystem::copy_file(golden_images() / name, folder / name);
  const auto source = [&] { return image_documents({folder.path(), place.preprocessor, "vit"}, vit.patches, {}); };
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
