// A checkpoint says the same in whatever form it comes: other numbers, several files, other words before its names.

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <list>
#include <map>

#include <fmt/format.h>

#include "../../core/model/model_pass.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "tensor_in.h"
#include "test_files.h"

using namespace headwave;

namespace {

/// One golden of every block that came after the first families.
const std::vector<std::string>& newer_families() {
  static const std::vector<std::string> names{
      "gpt-neox",  "gptj",    "gpt-neo",     "openai-gpt",  "opt",        "qwen2-window", "qwen3",      "gemma",
      "gemma2",    "gemma3",  "phi3",        "olmo2",       "granite",    "smollm3",      "modernbert", "electra",
      "albert",    "deberta", "deberta-p2c", "deberta-v2",  "deberta-v3", "nomic-bert",   "mixtral",    "qwen2-moe",
      "qwen3-moe", "olmoe",   "gpt-oss",     "deepseek-v2", "deepseek-v3"};
  return names;
}

std::string config_of(const std::string& name) {
  return text_of_file(family(name) / "config.json");
}

/// A golden's tensors in memory, rounded to another type and told as that or as float32.
class Form {
 public:
  explicit Form(const std::string& name) : file_(family(name) / "model.safetensors") {}

  template <class Number>
  [[nodiscard]] std::shared_ptr<const Checkpoint> of(const char* dtype, bool told_as_float = false) {
    std::vector<TensorInMemory> tensors;
    for (const TensorInfo& info : file_.tensors()) {
      const auto* floats = reinterpret_cast<const float*>(file_.bytes(info).data());
      std::vector<std::byte>& bytes = bytes_.emplace_back();
      for (Index i = 0; i < info.size(); ++i) {
        const auto number = static_cast<Number>(floats[i]);
        told_as_float ? append(bytes, static_cast<float>(number)) : append(bytes, number);
      }
      tensors.push_back({info.name, told_as_float ? "F32" : dtype, info.shape, bytes});
    }
    return std::make_shared<const Checkpoint>("a form", tensors, nullptr);
  }

  /// The same tensors under other names.
  [[nodiscard]] std::shared_ptr<const Checkpoint> renamed(const std::function<std::string(const std::string&)>& name) {
    std::vector<TensorInMemory> tensors;
    for (const TensorInfo& info : file_.tensors())
      tensors.push_back({name(info.name), "F32", info.shape, file_.bytes(info)});
    return std::make_shared<const Checkpoint>("a form", tensors, nullptr);
  }

  [[nodiscard]] const SafetensorsFile& file() const { return file_; }

 private:
  template <class Number>
  static void append(std::vector<std::byte>& bytes, const Number& number) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof number);
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }

  SafetensorsFile file_;
  std::list<std::vector<std::byte>> bytes_;
};

/// Final states.
Matrix32 said_by(const Model& model) {
  Document document;
  document.ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  return model_pass(model, document, {}, {.final_states = true});
}

}  // namespace

TEST_CASE("checkpoints of doubles say what those of floats say, and halves what their rounded floats do") {
  for (const std::string& name : newer_families()) {
    CAPTURE(name);
    const std::string config = config_of(name);
    Form form(name);
    CHECK(said_by(open_model(config, form.of<double>("F64"))) == said_by(open_model(family(name))));
    CHECK(said_by(open_model(config, form.of<Eigen::bfloat16>("BF16"))) ==
          said_by(open_model(config, form.of<Eigen::bfloat16>("BF16", true))));
    CHECK(said_by(open_model(config, form.of<Eigen::half>("F16"))) ==
          said_by(open_model(config, form.of<Eigen::half>("F16", true))));
  }
}

TEST_CASE("checkpoints in shards say what those of one file say") {
  for (const std::string& name : newer_families()) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const Form form(name);
    std::filesystem::copy_file(family(name) / "config.json", folder / "config.json");
    std::ofstream index(folder / "model.safetensors.index.json");
    index << R"({"weight_map": {)";
    std::array<std::vector<NamedTensor>, 2> shards;
    for (std::size_t i = 0; i < form.file().tensors().size(); ++i) {
      const TensorInfo& info = form.file().tensors()[i];
      shards[i % 2].push_back({info.name, info.shape, reinterpret_cast<const float*>(form.file().bytes(info).data())});
      index << (i == 0 ? "" : ", ") << '"' << info.name << R"(": "part-)" << i % 2 << R"(.safetensors")";
    }
    index << "}}";
    index.close();
    write_safetensors(folder / "part-0.safetensors", shards[0]);
    write_safetensors(folder / "part-1.safetensors", shards[1]);
    CHECK(said_by(open_model(folder.path())) == said_by(open_model(family(name))));
  }
}

TEST_CASE("experts in one tensor say what experts in tensors of their own say") {
  // Suffix of an expert's tensors, and of the tensor of all: where gate and widen are one, the gate stands first.
  using Fused = std::vector<std::pair<std::vector<std::string>, std::string>>;
  const Fused of_mixtral{{{"w1.weight", "w3.weight"}, "gate_up_proj"}, {{"w2.weight"}, "down_proj"}};
  const Fused of_others{{{"gate_proj.weight", "up_proj.weight"}, "gate_up_proj"}, {{"down_proj.weight"}, "down_proj"}};
  for (const std::string name : {"mixtral", "qwen2-moe", "qwen3-moe", "olmoe", "deepseek-v2", "deepseek-v3"}) {
    CAPTURE(name);
    const SafetensorsFile file(family(name) / "model.safetensors");
    std::list<std::vector<std::byte>> kept;
    std::vector<TensorInMemory> tensors;
    for (const TensorInfo& info : file.tensors()) {
      std::string renamed = info.name;
      if (const auto at = renamed.find("block_sparse_moe"); at != std::string::npos) renamed.replace(at, 16, "mlp");
      if (info.name.find(".experts.") == std::string::npos)
        tensors.push_back({renamed, "F32", info.shape, file.bytes(info)});
    }
    int fused = 0;
    for (int layer = 0; layer < 3; ++layer)
      for (const auto& [parts, whole] : name == "mixtral" ? of_mixtral : of_others) {
        const std::string block = name == "mixtral" ? "block_sparse_moe" : "mlp";
        std::vector<std::byte> bytes;
        std::vector<Index> shape{0, 0, 0};
        for (;; ++shape[0]) {
          const TensorInfo* part = nullptr;
          shape[1] = 0;
          for (const std::string& suffix : parts) {
            part = tensor_in(file, fmt::format("model.layers.{}.{}.experts.{}.{}", layer, block, shape[0], suffix));
            if (part == nullptr) break;
            const auto there = file.bytes(*part);
            bytes.insert(bytes.end(), there.begin(), there.end());
            shape[1] += part->shape[0];
            shape[2] = part->shape[1];
          }
          if (part == nullptr) break;
        }
        if (shape[0] == 0) continue;
        shape[1] = static_cast<Index>(bytes.size() / sizeof(float)) / shape[0] / shape[2];
        tensors.push_back({fmt::format("model.layers.{}.mlp.experts.{}", layer, whole), "F32", shape,
                           kept.emplace_back(std::move(bytes))});
        ++fused;
      }
    CHECK(fused > 0);
    CHECK(said_by(open_model(config_of(name), std::make_shared<const Checkpoint>("a form", tensors, nullptr))) ==
          said_by(open_model(family(name))));
  }
}

TEST_CASE("checkpoints whose names begin otherwise say the same") {
  const std::vector<std::string> of_llama{"", "language_model.model.", "model.language_model."};
  const std::map<std::string, std::pair<std::string, std::vector<std::string>>> beginnings{
      {"gpt-neox", {"gpt_neox.", {""}}},
      {"gptj", {"transformer.", {""}}},
      {"gpt-neo", {"transformer.", {""}}},
      {"openai-gpt", {"transformer.", {""}}},
      {"opt", {"model.decoder.", {"decoder.", ""}}},
      {"modernbert", {"model.", {""}}},
      {"electra", {"electra.", {"", "model."}}},
      {"albert", {"albert.", {""}}},
      {"deberta", {"deberta.", {""}}},
      {"deberta-v3", {"deberta.", {""}}},
      {"nomic-bert", {"nomic_bert.", {"", "bert."}}},
      {"qwen3", {"model.", of_llama}},
      {"gemma", {"model.", of_llama}},
      {"gemma3", {"model.", of_llama}},
      {"phi3", {"model.", of_llama}},
      {"olmo2", {"model.", of_llama}},
      {"granite", {"model.", of_llama}},
      {"smollm3", {"model.", of_llama}}};
  for (const auto& [name, names] : beginnings) {
    const auto& [own, others] = names;
    Form form(name);
    for (const std::string& other : others) {
      CAPTURE(name, other);
      const auto renamed = form.renamed([&, own = own](const std::string& tensor) {
        return tensor.starts_with(own) ? other + tensor.substr(own.size()) : tensor;
      });
      CHECK(said_by(open_model(config_of(name), renamed)) == said_by(open_model(family(name))));
    }
  }
}

TEST_CASE("NomicBERT under the names that its tensors have while transformers runs says the same") {
  const SafetensorsFile file(family("nomic-bert") / "model.safetensors");
  const std::vector<std::pair<std::string, std::string>> renamings{
      {"encoder.layers", "layers"},          {"emb_ln", "embeddings.LayerNorm"}, {"attn.out_proj", "self_attn.o_proj"},
      {"mlp.fc11", "mlp.up_proj"},           {"mlp.fc12", "mlp.gate_proj"},      {"mlp.fc2", "mlp.down_proj"},
      {"norm1", "post_attention_layernorm"}, {"norm2", "post_mlp_layernorm"}};
  std::vector<TensorInMemory> tensors;
  for (const TensorInfo& info : file.tensors()) {
    std::string name = info.name;
    for (const auto& [from, to] : renamings)
      if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
    const std::string fused = "attn.Wqkv";
    const auto at = name.find(fused);
    if (at == std::string::npos) {
      tensors.push_back({name, "F32", info.shape, file.bytes(info)});
      continue;
    }
    const std::size_t third = file.bytes(info).size() / 3;
    for (std::size_t part = 0; part < 3; ++part) {
      std::string one = name;
      one.replace(at, fused.size(), std::array{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}[part]);
      tensors.push_back(
          {one, "F32", {info.shape[0] / 3, info.shape[1]}, file.bytes(info).subspan(part * third, third)});
    }
  }
  const auto checkpoint = std::make_shared<const Checkpoint>("a form", tensors, nullptr);
  CHECK(said_by(open_model(config_of("nomic-bert"), checkpoint)) == said_by(open_model(family("nomic-bert"))));
}
