#include "planted_directory.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../arrays/safetensors.h"
#include "../files/replaced_file.h"

namespace headwave {

namespace {

using nlohmann::ordered_json;

NamedTensor tensor(const std::string& name, const MatrixView32& matrix) {
  return {name, {matrix.rows(), matrix.cols()}, matrix.data()};
}

NamedTensor tensor(const std::string& name, const VectorView32& vector) {
  return {name, {vector.size()}, vector.data()};
}

void add(std::vector<NamedTensor>& tensors, const std::string& name, const Linear& linear) {
  tensors.push_back(tensor(name + ".weight", linear.weight));
  tensors.push_back(tensor(name + ".bias", linear.bias));
}

void add(std::vector<NamedTensor>& tensors, const std::string& name, const Norm& norm) {
  tensors.push_back(tensor(name + ".weight", norm.scale));
  tensors.push_back(tensor(name + ".bias", norm.shift));
}

/// Every tensor, with its name in transformers' BertModel.
std::vector<NamedTensor> bert_tensors(const Model& model) {
  const Embedding& embedding = model.stack.embedding;
  std::vector<NamedTensor> tensors{tensor("embeddings.word_embeddings.weight", embedding.words.in_memory()),
                                   tensor("embeddings.position_embeddings.weight", embedding.positions),
                                   tensor("embeddings.token_type_embeddings.weight", embedding.token_types)};
  add(tensors, "embeddings.LayerNorm", embedding.norm);
  for (std::size_t layer = 0; layer < model.stack.blocks.size(); ++layer) {
    const Block& block = model.stack.blocks[layer];
    const std::string at = fmt::format("encoder.layer.{}.", layer);
    add(tensors, at + "attention.self.query", block.self.query);
    add(tensors, at + "attention.self.key", block.self.key);
    add(tensors, at + "attention.self.value", block.self.value);
    add(tensors, at + "attention.output.dense", block.self.output);
    add(tensors, at + "attention.output.LayerNorm", block.self_norm);
    add(tensors, at + "intermediate.dense", block.feed_forward.widen);
    add(tensors, at + "output.dense", block.feed_forward.narrow);
    add(tensors, at + "output.LayerNorm", block.feed_forward_norm);
  }
  return tensors;
}

ordered_json bert_config(const Model& model) {
  const Embedding& embedding = model.stack.embedding;
  return {{"architectures", {"BertModel"}},
          {"model_type", "bert"},
          {"hidden_size", model.stack.d_model()},
          {"num_hidden_layers", model.stack.layers()},
          {"num_attention_heads", model.stack.block.heads},
          {"intermediate_size", model.stack.blocks.front().feed_forward.widen.d_out()},
          {"hidden_act", "gelu"},
          {"vocab_size", embedding.words.rows()},
          {"max_position_embeddings", embedding.positions.rows()},
          {"type_vocab_size", embedding.token_types.rows()},
          {"layer_norm_eps", 1e-12},
          {"pad_token_id", 0},
          {"position_embedding_type", "absolute"}};
}

ordered_json truth_of(const PlantedModel& planted) {
  ordered_json heads = ordered_json::array();
  for (std::size_t layer = 0; layer < planted.spec.heads.size(); ++layer)
    for (std::size_t head = 0; head < planted.spec.heads[layer].size(); ++head) {
      const PlantedHead& one = planted.spec.heads[layer][head];
      ordered_json entry{{"head", fmt::format("L{}H{}", layer, head)}, {"kind", name_of(one.kind)}};
      entry["offset"] = one.positional() ? ordered_json(one.offset) : ordered_json(nullptr);
      entry["amplitudes"] = one.amplitudes;
      heads.push_back(std::move(entry));
    }
  return {{"frequencies_cycles_per_T", planted.spec.frequencies}, {"T", planted.spec.length}, {"heads", heads}};
}

ordered_json ids_of(const Source& documents) {
  ordered_json ids = ordered_json::array();
  for (Index i = 0; i < documents.count(); ++i) ids.push_back(documents.document(i).ids);
  return ids;
}

}  // namespace

void write_planted_directory(const PlantedModel& planted, const Source& documents,
                             const std::filesystem::path& folder) {
  const PlantedSpec& spec = planted.spec;
  const auto heads = static_cast<Index>(spec.heads.front().size());
  if (heads * spec.d_head != spec.d_model)
    throw ShapeError(
        fmt::format("write_planted_directory: {} heads of width {} do not fill d_model {}, as BERT's layout demands",
                    heads, spec.d_head, spec.d_model));
  make_folder(folder);
  std::vector<std::unique_ptr<ReplacedFile>> files;
  const auto file = [&](const char* name) -> ReplacedFile& {
    return *files.emplace_back(std::make_unique<ReplacedFile>(folder / name));
  };
  std::string words;
  for (const std::string& word : planted.vocabulary) words += word + "\n";
  write_safetensors(file("model.safetensors"), bert_tensors(planted.model), {{"format", "pt"}});
  file("config.json").write(bert_config(planted.model).dump(2) + "\n");
  file("vocab.txt").write(words);
  file("tokenizer_config.json")
      .write(
          ordered_json{{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", true}, {"model_max_length", spec.length}}
              .dump(2) +
          "\n");
  file("ids.json").write(ids_of(documents).dump() + "\n");
  file("truth.json").write(truth_of(planted).dump(2) + "\n");
  commit_all(files);
}

}  // namespace headwave
