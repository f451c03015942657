#include "../../data/arrays/gguf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/arrays/quantised_blocks.h"
#include "../../data/files/json_file.h"
#include "../../data/listing/listing.h"
#include "../../data/models/gguf_model.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../../data/tokens/tokenizer.h"
#include "../catch.h"
#include "gguf_bytes.h"
#include "golden_tensors.h"
#include "id_hash.h"
#include "kept_pass.h"
#include "test_files.h"

using namespace headwave;

namespace {

std::filesystem::path golden(const std::string& name) {
  return repository_file("tests/golden/gguf") / name;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

GgufHeader header_of(const std::string& text) {
  return gguf_header(bytes_of(text), "m.gguf");
}

/// A file is refused by its name, with these words.
void refused(const std::string& text, const std::string& words) {
  INFO(words);
  CHECK_THROWS_AS(header_of(text), FormatError);
  CHECK_THROWS_WITH(header_of(text), ContainsSubstring("m.gguf: ") && ContainsSubstring(words));
}

/// The keys that every model has.
GgufBytes tiny_llama() {
  GgufBytes file;
  file.key("general.architecture", "llama").key("llama.block_count", 1U).key("llama.embedding_length", 4U);
  file.key("llama.feed_forward_length", 4U).key("llama.attention.head_count", 2U);
  return file;
}

}  // namespace

TEST_CASE("GGUF: a header by hand, of either version") {
  GgufBytes file;
  file.key("general.architecture", "llama").key("x.flag", true).key("x.real", 0.5F).key("x.count", 7U);
  file.key("x.large", 10, GgufBytes::raw(std::uint64_t{1} << 40U)).key("x.negative", 5, GgufBytes::raw(-3));
  file.texts("x.words", {"a", "", "b"}).numbers("x.list", {1, 2}).integers("x.ids", {3, -1});
  file.tensor("w", {2, 3}, {1, 2, 3, 4, 5, 6}).tensor("v", {1}, {7});
  for (const std::uint32_t version : {2U, 3U}) {
    const TemporaryFolder folder;
    const GgufFile read(file.write(folder.path() / "m.gguf", version));
    CHECK(read.header().version == version);
    CHECK(read.text_or("general.architecture", "") == "llama");
    CHECK(read.flag_or("x.flag", false));
    CHECK(std::get<double>(*read.find("x.real")) == 0.5);
    CHECK(read.integer_or("x.count", 0) == 7);
    CHECK(read.integer_or("x.large", 0) == std::int64_t{1} << 40);
    CHECK(read.integer_or("x.negative", 0) == -3);
    CHECK(read.integer_or("x.none", 5) == 5);
    CHECK(read.texts("x.words") == std::vector<std::string>{"a", "", "b"});
    CHECK(read.numbers("x.list") == std::vector<double>{1, 2});
    CHECK(read.integers("x.ids") == std::vector<std::int64_t>{3, -1});
    CHECK_THROWS_WITH(read.text_or("x.count", ""), ContainsSubstring("'x.count' is 7, expected a text"));
    REQUIRE(read.header().tensors.size() == 2);
    const TensorInfo& w = read.header().tensors[0];
    CHECK(w.name == "w");
    CHECK(w.dtype == "F32");
    CHECK(w.shape == std::vector<Index>{3, 2});  // the file has the fastest axis first
    float last = 0;
    std::memcpy(&last, read.bytes(w).data() + 5 * sizeof(float), sizeof last);
    CHECK(last == 6);
    CHECK(read.bytes(read.header().tensors[1]).size() == 4);
  }
}

TEST_CASE("GGUF: every broken file is refused with what was expected and found") {
  const std::string whole = tiny_llama().tensor("w", {4}, {1, 2, 3, 4}).bytes();
  CHECK_NOTHROW(header_of(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_THROWS_AS(header_of(whole.substr(0, length)), FormatError);
  refused("GGML" + whole.substr(4), "begins with 'GGUF'");
  refused("GGUF", "ends within its header: its version takes 4 bytes at byte 4, 0 follow");
  refused(whole.substr(0, whole.size() - 1), "tensor 'w': ends at byte 16 of the data, the file has 15");
  refused(tiny_llama().bytes(1), "version 1, expected 2 or 3");
  refused(tiny_llama().bytes(4), "version 4, expected 2 or 3");
  refused("GGUF" + std::string("\0\0\0\3", 4) + whole.substr(8), "big-endian");
  const auto counts = [](std::uint64_t tensors, std::uint64_t keys) {
    return "GGUF" + GgufBytes::raw(3U) + GgufBytes::raw(tensors) + GgufBytes::raw(keys);
  };
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  refused(counts(most, 0), "18446744073709551615 tensors are announced, but only 0 bytes follow");
  refused(counts(0, most), "keys are announced");
  refused(GgufBytes().key("k", 8, GgufBytes::raw(most)).bytes(), "a text takes 18446744073709551615 bytes");
  refused(GgufBytes().key("k", 9, GgufBytes::raw(4U) + GgufBytes::raw(most)).bytes(), "values of 'k' are announced");
  refused(GgufBytes().key("k", 9, GgufBytes::raw(9U) + GgufBytes::raw(std::uint64_t{1})).bytes(),
          "no list within a list");
  refused(GgufBytes().key("k", 13, "").bytes(), "a value of type 13, expected 0 to 12");
  refused(GgufBytes().key("k", 7, "\2").bytes(), "holds the switch 2, expected 0 or 1");
  refused(GgufBytes().key("k", 10, GgufBytes::raw(most)).bytes(), "expected at most 2^63 - 1");
  refused(GgufBytes().key("k", 1U).key("k", 2U).bytes(), "the key 'k' occurs twice");
  refused(GgufBytes().tensor("w", {1}, {1}).tensor("w", {1}, {1}).bytes(), "two tensors are called 'w'");
  refused(GgufBytes().listed("w", {1, 1, 1, 1, 1}, 0, 0).bytes(), "has 5 axes, expected at most 4");
  refused(GgufBytes().listed("w", {0}, 0, 0).bytes(), "at least one entry along each axis");
  refused(GgufBytes().listed("w", {std::uint64_t{1} << 40U, std::uint64_t{1} << 40U}, 0, 0).bytes(),
          "than any file can hold");
  refused(GgufBytes().listed("w", {std::uint64_t{1} << 62U}, 0, 0).bytes(), "more bytes than any file can hold");
  refused(GgufBytes().listed("w", {32}, 0, most - 31).bytes(), "more bytes than any file can hold");
  refused(GgufBytes().listed("blk.0.w", {256}, 17, 0).bytes(),
          "tensor 'blk.0.w': is stored as IQ2_XS, which is not read; expected F32");
  refused(GgufBytes().listed("w", {256}, 99, 0).bytes(), "is stored as type 99, which is not read");
  refused(GgufBytes().listed("w", {33}, 8, 0).bytes(), "rows of 33 numbers, expected a multiple of 32 in Q8_0");
  refused(GgufBytes().listed("w", {1}, 0, 16).bytes() + std::string(64, 'x'),
          "begins at byte 16 of the data, expected a multiple of 32");
  refused(GgufBytes().listed("w", {16}, 0, 32).bytes() + std::string(64, 'x'),
          "ends at byte 96 of the data, the file has 64");
  refused(GgufBytes().listed("w", {16}, 0, 0).listed("v", {1}, 0, 32).bytes() + std::string(96, 'x'),
          "tensor 'v': begins at byte 32, inside 'w'");
  for (const std::uint32_t alignment : {0U, 3U, 1U << 21U})
    refused(GgufBytes().key("general.alignment", alignment).bytes(), "expected a power of two up to 1048576");
  refused(GgufBytes().key("general.alignment", "x").bytes(), "'general.alignment' is 'x'");
  CHECK(header_of(GgufBytes().key("general.alignment", 1U).listed("w", {1}, 0, 3).bytes() + "1234567").tensors.size() ==
        1);
}

TEST_CASE("quantised numbers are those of the Python package gguf, to the bit") {
  const GgufModel model = gguf_model(golden("quantised.gguf"), true);
  const SafetensorsFile expected(golden("quantised.safetensors"));
  CHECK(expected.tensors().size() == 22);
  for (const TensorInfo& tensor : expected.tensors()) {
    INFO(tensor.name);
    const auto bytes = expected.bytes(tensor);
    const Index rows = tensor.shape[0], columns = tensor.shape[1];
    const MatrixView32 values = model.checkpoint->matrix(tensor.name, rows, columns);
    CHECK(std::memcmp(values.data(), bytes.data(), bytes.size()) == 0);
    // Row by row, as words are read.
    std::vector<float> last(static_cast<std::size_t>(columns));
    model.checkpoint->row_reader(tensor.name)(rows - 1, 1, last.data());
    CHECK(std::memcmp(last.data(), bytes.data() + bytes.size() - 4 * last.size(), 4 * last.size()) == 0);
  }
  CHECK(model.stored_as.starts_with("BF16 2, F16 2, MXFP4 2, Q4_0 2, Q4_1 2"));
  std::vector<float> short_of(31);
  CHECK_THROWS_AS(put_floats(bytes_of(std::string(34, 'x')), *quantised_type("Q8_0"), short_of), ShapeError);
  CHECK(quantised_type("F32") == nullptr);
}

TEST_CASE("a quantised tensor's NaN are counted, and a model of them refused") {
  const std::string nan_scale = std::string("\xff\x7f", 2) + std::string(32, '\1');
  const TemporaryFolder folder;
  const GgufModel model = gguf_model(
      GgufBytes().tensor("w", {32, 2}, 8, std::string(34, '\0') + nan_scale).write(folder.path() / "m.gguf"), true);
  CHECK(model.checkpoint->non_finite("w") == 32);
}

TEST_CASE("a GGUF file of each architecture attends as transformers' model before it was converted") {
  for (const char* name : {"llama", "llama-tied", "llama-biased", "llama-3", "llama-yarn", "mistral", "qwen2", "qwen3",
                           "gemma", "gemma2", "gemma3", "phi3", "olmo2", "granite", "smollm3", "gpt2", "bert"}) {
    INFO(name);
    const std::filesystem::path path = golden(std::string(name) + ".gguf");
    const SafetensorsFile expected(golden(std::string(name) + ".safetensors"));
    const ModelCheck check = model_check(path);
    CHECK(check.problems.empty());
    CHECK(check.unread.empty());
    CHECK(check.unused.empty());
    CHECK(check.map.reason.starts_with("general.architecture says '"));
    const Model model = open_model(ModelPlace(path));
    const std::string ids = golden_bytes(expected, "ids");
    Document document;
    document.ids.resize(ids.size() / sizeof(std::int32_t));
    std::memcpy(document.ids.data(), ids.data(), ids.size());
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    const Matrix32 last = model_pass(model, document, probes, {.final_states = true});
    const std::vector<Matrix32>& weights = kept.weights.begin()->second;
    const std::vector<MatrixView32> attention = golden_matrices(expected, "attentions");
    REQUIRE(weights.size() == attention.size());
    float spread = 0;
    for (std::size_t head = 0; head < weights.size(); ++head) {
      CAPTURE(head);
      CHECK((weights[head] - attention[head]).cwiseAbs().maxCoeff() <= 1e-5F);
      spread = std::max(spread, attention[head].maxCoeff() - attention[head].minCoeff());
    }
    CHECK(spread > 0.1F);
    const auto near = [](const Matrix32& came, const MatrixView32& there) {
      return (came - there).cwiseAbs().maxCoeff() <= 1e-5F * there.cwiseAbs().maxCoeff();
    };
    CHECK(near(last, golden_matrices(expected, "states").front()));
    if (expected.find("logits") != nullptr)
      CHECK(near(logits(model, last), golden_matrices(expected, "logits").front()));
    // A head's channels are those of the checkpoint before.
    if (expected.find("query") != nullptr) {
      const MatrixView32 query = golden_matrices(expected, "query").front();
      CHECK(model.stack.blocks.front().self.query.weight == query);
    }
  }
}

TEST_CASE("a map of a GGUF file names the checkpoint's tensors, and opens the file as before") {
  const TemporaryFolder folder;
  for (const char* name : {"llama-3", "gemma3", "gpt2"}) {
    INFO(name);
    const std::filesystem::path path = golden(std::string(name) + ".gguf");
    const std::string map = model_map_text(model_check(path).map);
    std::ofstream(folder / "map.toml") << map;
    const auto stack = [](const std::string& text) { return text.substr(text.find("\n[stack]")); };
    CHECK(stack(model_map_text(model_map({path, folder / "map.toml"}))) == stack(map));
    CHECK_NOTHROW(open_model({path, folder / "map.toml"}));
  }
}

TEST_CASE("what a GGUF file says of a model is asked for by its own keys, and refused by name") {
  const TemporaryFolder folder;
  const auto opened = [&](const GgufBytes& file) { return model_map(file.write(folder / "m.gguf")); };
  const auto refuse = [&](const GgufBytes& file, const std::string& words) {
    INFO(words);
    CHECK_THROWS_AS(opened(file), FormatError);
    CHECK_THROWS_WITH(opened(file), ContainsSubstring("m.gguf: ") && ContainsSubstring(words));
  };
  const auto llama = [] { return tiny_llama().tensor("token_embd.weight", {4, 6}, std::vector<float>(24)); };
  const ModelMap plain = opened(llama());
  CHECK(plain.family == "llama");
  CHECK(plain.stack.vocabulary == 6);
  CHECK(plain.stack.block.d_head == 2);
  CHECK(plain.prediction.words.weight == "model.embed_tokens.weight");  // tied: there is no output.weight
  CHECK(opened(llama().key("llama.attention.key_length", 8U)).stack.block.d_head == 8);
  CHECK(opened(llama().key("llama.attention.sliding_window", 3U)).stack.block.window == 3);
  CHECK(opened(llama().key("llama.attention.sliding_window", 3U)).family == "mistral");
  CHECK(opened(llama().integers("llama.attention.head_count_kv", {1, 1})).stack.block.kv_heads == 1);
  const RotaryOptions linear =
      opened(llama().key("llama.rope.scaling.type", "linear").key("llama.rope.scaling.factor", 4.0F))
          .stack.positions.rotary;
  CHECK(linear.scaling == RotaryScaling::linear);
  CHECK(linear.factor == 4);
  CHECK(opened(llama().key("llama.rope.scale_linear", 2.0F)).stack.positions.rotary.factor == 2);
  CHECK(opened(llama().key("llama.rope.scaling.type", "none")).stack.positions.rotary.scaling == RotaryScaling::none);
  const RotaryOptions listed = opened(llama().tensor("rope_freqs.weight", {1}, {8})).stack.positions.rotary;
  CHECK(listed.scaling == RotaryScaling::longrope);
  CHECK(listed.short_factors == std::vector<double>{8});
  // Only a file says what its weights are: a config.json beside it is of another model.
  std::ofstream(folder / "config.json") << R"({"model_type": "bert"})";
  CHECK(opened(llama()).family == "llama");

  refuse(GgufBytes().key("general.architecture", "mamba"),
         "'general.architecture' is 'mamba', which is not known; headwave reads bert, gemma, gemma2, gemma3, gpt2, "
         "granite, llama, olmo2, phi3, qwen2, qwen3, smollm3");
  refuse(GgufBytes(), "'general.architecture' is ''");
  refuse(GgufBytes().key("general.architecture", "llama"), "the key 'llama.block_count' is missing");
  refuse(tiny_llama().integers("llama.attention.head_count_kv", {1, 2}), "'attention.head_count_kv' is [1,2]");
  refuse(llama().key("llama.attention", 1U), "the key 'llama.attention.head_count' and another stand for one thing");
  refuse(llama().key("llama.expert_count", 8U), "mixtures of experts");
  refuse(llama().key("llama.attention.causal", false), "'is_causal' is 0");
  refuse(llama().key("llama.attention.value_length", 3U).key("llama.attention.key_length", 2U),
         "expected values as wide as keys");
  refuse(llama().key("llama.rope.scaling.type", "longrope"),
         "'rope.scaling.type' is 'longrope', expected none, linear or yarn");
  refuse(llama()
             .key("llama.rope.scaling.type", "yarn")
             .key("llama.rope.scaling.factor", 2.0F)
             .key("llama.rope.scaling.attn_factor", 0.5F),
         "'rope.scaling.attn_factor' is 0.5");
  refuse(llama().tensor("rope_freqs.weight", {2}, {1, 8}), "2 factors of longrope, but 1 pairs of channels turn");
  refuse(llama().tensor("blk.0.attn_sinks.weight", {2}, {1, 8}),
         "tensor 'blk.0.attn_sinks.weight' is not known of a llama");
  refuse(llama().tensor("blk.0.attn_q.weight", {1, 6}, std::vector<float>(6)),
         "tensor 'blk.0.attn_q.weight' has shape (6, 1), expected an even number of rows for each of 2 heads");
  GgufBytes phi3;
  phi3.key("general.architecture", "phi3")
      .key("phi3.block_count", 1U)
      .key("phi3.embedding_length", 4U)
      .key("phi3.attention.head_count", 2U);
  refuse(phi3.tensor("rope_factors_long.weight", {1}, {1}), "longrope");

  // Keys that are not known are listed, as settings of config.json are.
  const std::filesystem::path odd = llama().key("llama.attention.clamp_kqv", 8.0F).write(folder / "odd.gguf");
  CHECK(model_check(odd).unread == std::vector<std::string>{"llama.attention.clamp_kqv"});
  // A map opens any architecture, by the file's own names.
  const auto other =
      GgufBytes().key("general.architecture", "mine").tensor("w", {2}, {1, 2}).write(folder / "mine.gguf");
  CHECK(gguf_model(other, true).checkpoint->has("w"));
  CHECK(!gguf_model(other, true).config);
}

TEST_CASE("scores of Gemma 2 and 3 are scaled as llama.cpp does, by how many layers there are") {
  const TemporaryFolder folder;
  const auto scale = [&](const std::string& architecture, std::uint32_t layers) {
    GgufBytes file;
    file.key("general.architecture", architecture).key(architecture + ".block_count", layers);
    file.key(architecture + ".embedding_length", 36U).key(architecture + ".attention.head_count", 4U);
    file.key(architecture + ".feed_forward_length", 8U).key(architecture + ".attention.key_length", 16U);
    file.tensor("token_embd.weight", {36, 6}, std::vector<float>(216));
    return model_map(file.write(folder / "m.gguf")).stack.block.score_scale;
  };
  CHECK(scale("gemma2", 26) == Approx(1.0 / 4));
  CHECK(scale("gemma2", 46) == Approx(1.0 / 3));
  CHECK(scale("gemma3", 46) == Approx(1.0 / 4));
  CHECK(scale("gemma3", 62) == Approx(1.0 / 3));
}

TEST_CASE("Gemma 3's layers are local but for every sixth, or as the file lists them") {
  const TemporaryFolder folder;
  GgufBytes file;
  file.key("general.architecture", "gemma3").key("gemma3.block_count", 7U).key("gemma3.embedding_length", 4U);
  file.key("gemma3.feed_forward_length", 4U)
      .key("gemma3.attention.head_count", 2U)
      .key("gemma3.attention.sliding_window", 3U);
  file.key("gemma3.rope.freq_base", 5000.0F).key("gemma3.rope.freq_base_swa", 300.0F);
  file.tensor("token_embd.weight", {4, 6}, std::vector<float>(24));
  const ModelMap usual = model_map(file.write(folder / "m.gguf"));
  CHECK(usual.stack.others.layers == std::vector<Index>{0, 1, 2, 3, 4, 6});
  CHECK(usual.stack.positions.rotary.base == 5000);
  CHECK(usual.stack.others.positions.rotary.base == 300);
  GgufBytes every = file;
  every.key("gemma3.attention.sliding_window_pattern", 2U);
  CHECK(model_map(every.write(folder / "m.gguf")).stack.others.layers == std::vector<Index>{0, 2, 4, 6});
  const std::string list = GgufBytes::raw(7U) + GgufBytes::raw(std::uint64_t{7}) + std::string("\1\0\1\1\1\1\0", 7);
  CHECK(model_map(file.key("gemma3.attention.sliding_window_pattern", 9, list).write(folder / "m.gguf"))
            .stack.others.layers == std::vector<Index>{0, 2, 3, 4, 5});
}

TEST_CASE("a model that is split into GGUF files is opened by the first") {
  const TemporaryFolder folder;
  const auto part = [](std::uint16_t number, std::uint16_t count) {
    GgufBytes file = number == 0 ? tiny_llama() : GgufBytes();
    file.key("split.no", 2, GgufBytes::raw(number)).key("split.count", 2, GgufBytes::raw(count));
    return number == 0 ? file.tensor("token_embd.weight", {4, 6}, std::vector<float>(24))
                       : file.tensor("output_norm.weight", {4}, {1, 2, 3, 4});
  };
  const auto first = part(0, 2).write(folder / "m-00001-of-00002.gguf");
  CHECK_THROWS_AS(gguf_model(first), IoError);
  CHECK_THROWS_WITH(gguf_model(first), ContainsSubstring("m-00002-of-00002.gguf"));
  part(1, 2).write(folder / "m-00002-of-00002.gguf");
  const GgufModel model = gguf_model(first);
  CHECK(model.checkpoint->files().size() == 2);
  CHECK(model.checkpoint->vector("model.norm.weight", 4)[3] == 4);
  CHECK_THROWS_WITH(gguf_model(folder / "m-00002-of-00002.gguf"),
                    ContainsSubstring("expected the path of the first, NAME-00001-of-00002.gguf"));
  CHECK_THROWS_WITH(gguf_model(part(0, 2).write(folder / "renamed.gguf")),
                    ContainsSubstring("expected the path of the first"));
  part(0, 2).write(folder / "m-00002-of-00002.gguf");
  CHECK_THROWS_WITH(gguf_model(first), ContainsSubstring("does not say that it is part 2 of 2"));
}

TEST_CASE("vocabularies in GGUF files give the ids of the packages that made them") {
  const nlohmann::json expected = json_of_file(repository_file("tests/golden/trained/ids.json"));
  const auto texts = expected.at("texts").get<std::vector<std::string>>();
  for (const char* kind : {"llama3", "qwen2", "gemma"}) {
    const auto tokenizer = open_tokenizer(golden(fmt::format("vocabulary-{}.gguf", kind)));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // Runs of blanks and marks, which Gemma defines as tokens, are cut by SentencePiece, llama.cpp and
      // tokenizers each in a way of its own.
      const bool has_runs = texts[i].find("  ") != std::string::npos || texts[i].find("\u2581") != std::string::npos;
      if (kind == std::string("gemma") && has_runs) continue;
      INFO(kind << ", case " << i << ": " << expected.at("texts")[i].dump(-1, ' ', true));
      CHECK(tokenizer->encode(texts[i]) == expected.at(kind).at("cases")[i].get<std::vector<std::int32_t>>());
    }
  }
  // Llama 2's own tokenizer.json puts a mark before every part of a text; that of the golden files, of a newer
  // make, does not.
  const TemporaryFolder folder;
  nlohmann::json own = json_of_file(repository_file("tests/golden/trained/llama2/tokenizer.json"));
  own["pre_tokenizer"] = nullptr;
  own["normalizer"] = {{"type", "Sequence"},
                       {"normalizers",
                        {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                         {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
  std::ofstream(folder / "tokenizer.json") << own;
  const auto llama2 = open_tokenizer(folder.path()), in_gguf = open_tokenizer(golden("vocabulary-llama2.gguf"));
  for (const std::string& text : texts) {
    INFO(nlohmann::json(text).dump(-1, ' ', true));
    CHECK(in_gguf->encode(text) == llama2->encode(text));
  }
  CHECK(open_tokenizer(golden("vocabulary-llama3.gguf"))->special_tokens().opens >= 0);
  CHECK(open_tokenizer(golden("vocabulary-qwen2.gguf"))->special_tokens().opens == -1);
  CHECK(open_tokenizer(golden("vocabulary-llama2.gguf"))->special_tokens().opens == 1);
  CHECK(open_tokenizer(golden("vocabulary-llama2.gguf"))->special_tokens().closes == -1);
  CHECK(open_tokenizer(golden("vocabulary-llama2.gguf"))->files() == std::vector{golden("vocabulary-llama2.gguf")});
}

TEST_CASE("vocabularies in GGUF files give those ids on all of WikiText-2's test set") {
  NEEDS_SHARED("text/wikitext-2/wiki.test.raw");
  const nlohmann::json golden_ids = json_of_file(repository_file("tests/golden/trained/ids.json"));
  const std::string text = file_bytes(shared_file("text/wikitext-2/wiki.test.raw"));
  for (const char* kind : {"llama3", "qwen2"}) {
    INFO(kind);
    const LineHash hash = hashed_by_line(*open_tokenizer(golden(fmt::format("vocabulary-{}.gguf", kind))), text);
    CHECK(hash.count == golden_ids.at(kind).at("lines").at("count").get<std::size_t>());
    CHECK(hash.text == golden_ids.at(kind).at("lines").at("fnv1a").get<std::string>());
  }
}

TEST_CASE("BERT's pieces are found again in a GGUF file") {
  const TemporaryFolder folder;
  GgufBytes file;
  const std::string mark = "\u2581";
  file.key("tokenizer.ggml.model", "bert")
      .texts("tokenizer.ggml.tokens", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", mark + "run", "ning", mark + "a"});
  const auto tokenizer = open_tokenizer(file.write(folder / "m.gguf"));
  CHECK(tokenizer->encode("Running A [MASK] b") == std::vector<std::int32_t>{5, 6, 7, 4, 1});
  CHECK(tokenizer->special_tokens().opens == 2);
  CHECK(tokenizer->special_tokens().closes == 3);
  CHECK(tokenizer->piece(6) == "##ning");
}

TEST_CASE("a GGUF file's tokenizer is refused by name, with token ids as the way on") {
  const TemporaryFolder folder;
  const auto refuse = [&](const GgufBytes& file, const std::string& words) {
    INFO(words);
    const std::filesystem::path path = file.write(folder / "m.gguf");
    CHECK_THROWS_AS(open_tokenizer(path), FormatError);
    CHECK_THROWS_WITH(open_tokenizer(path), ContainsSubstring("m.gguf: ") && ContainsSubstring(words));
  };
  const auto of = [](const std::string& model) { return GgufBytes().key("tokenizer.ggml.model", model); };
  refuse(GgufBytes(), "'tokenizer.ggml.model' is missing; expected gpt2, llama or bert; give ids=FILE");
  refuse(of("rwkv"), "'tokenizer.ggml.model' is 'rwkv', which is not known");
  refuse(of("gpt2"), "holds 0 tokens");
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a"}).key("tokenizer.ggml.pre", "tekken"),
         "'tokenizer.ggml.pre' is 'tekken', which is not known; expected default, gpt-2");
  CHECK(open_tokenizer(folder / "m.gguf", TokenizerUse::names)->token_text(0) == "a");
  CHECK(has_tokenizer(folder / "m.gguf"));
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {"a b"}), "m.gguf");
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {"ab"}),
         "tokenizer.ggml.merges[0]");
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a", "\xff"}), "token 1 is not UTF-8");
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a"}).integers("tokenizer.ggml.token_type", {1, 1}),
         "has 2 numbers for 1 tokens");
  refuse(of("gpt2").texts("tokenizer.ggml.tokens", {"a"}).integers("tokenizer.ggml.token_type", {7}),
         "token 0 is of type 7, expected 1 to 6");
  refuse(of("gpt2")
             .texts("tokenizer.ggml.tokens", {"a"})
             .key("tokenizer.ggml.add_bos_token", true)
             .key("tokenizer.ggml.bos_token_id", 1U),
         "'tokenizer.ggml.bos_token_id' is 1, expected the id of one of 1 tokens");
  refuse(of("llama").texts("tokenizer.ggml.tokens", {"a"}), "'tokenizer.ggml.scores' has 0 numbers for 1 tokens");
  refuse(of("llama").texts("tokenizer.ggml.tokens", {"a", ""}).numbers("tokenizer.ggml.scores", {0, 0}),
         "token 1 is empty");
  refuse(of("bert").texts("tokenizer.ggml.tokens", {"a"}), "[UNK]");
}

TEST_CASE("inspect lists a GGUF file, and the provenance says how its weights are stored") {
  const Listing listing = listing_of(golden("llama.gguf"));
  CHECK(listing.kind == "GGUF model");
  CHECK(listing.entries.size() == 21);
  CHECK(attribute_text(listing.facts, "family") == "llama");
  CHECK(attribute_text(listing.facts, "general.architecture") == "llama");
  CHECK(listing.notes.size() == 1);  // it has no tokenizer
  const Attributes provenance = model_provenance(golden("llama.gguf"));
  CHECK(attribute_text(provenance, "weights_stored_as") == "F32 21 tensors");
  CHECK(attribute_text(provenance, "model_sha256").find("  llama.gguf") == 64);
  const TemporaryFolder folder;
  std::filesystem::copy_file(golden("llama.gguf"), folder / "m.gguf");
  CHECK_THROWS_WITH(model_map(folder.path()), ContainsSubstring("give the path of the file itself as the model"));
}
