#include "headwave/data/planted_directory.h"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "headwave/data/replaced_file.h"
#include "headwave/data/safetensors_file.h"

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

void add(std::vector<NamedTensor>& tensors, const std::string& name, const LayerNorm& norm) {
  tensors.push_back(tensor(name + ".weight", norm.scale));
  tensors.push_back(tensor(name + ".bias", norm.shift));
}

/// Every tensor under the name that transformers' BertModel gives it.
std::vector<NamedTensor> bert_tensors(const Model& model) {
  std::vector<NamedTensor> tensors{tensor("embeddings.word_embeddings.weight", model.words),
                                   tensor("embeddings.position_embeddings.weight", model.positions),
                                   tensor("embeddings.token_type_embeddings.weight", model.token_types)};
  add(tensors, "embeddings.LayerNorm", model.embedding_norm);
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    const Block& block = model.blocks[layer];
    const std::string at = fmt::format("encoder.layer.{}.", layer);
    add(tensors, at + "attention.self.query", block.query);
    add(tensors, at + "attention.self.key", block.key);
    add(tensors, at + "attention.self.value", block.value);
    add(tensors, at + "attention.output.dense", block.output);
    add(tensors, at + "attention.output.LayerNorm", block.attention_norm);
    add(tensors, at + "intermediate.dense", block.widen);
    add(tensors, at + "output.dense", block.narrow);
    add(tensors, at + "output.LayerNorm", block.feed_forward_norm);
  }
  return tensors;
}

ordered_json bert_config(const Model& model) {
  const ModelSpec& spec = model.spec;
  return {{"architectures", {"BertModel"}},
          {"model_type", "bert"},
          {"hidden_size", spec.d_model},
          {"num_hidden_layers", spec.layers},
          {"num_attention_heads", spec.heads},
          {"intermediate_size", spec.d_feed_forward},
          {"hidden_act", "gelu"},
          {"vocab_size", spec.vocabulary},
          {"max_position_embeddings", spec.positions},
          {"type_vocab_size", model.token_types.rows()},
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

void write_text(const std::filesystem::path& path, const std::string& text) {
  ReplacedFile file(path);
  std::ofstream stream(file.temporary(), std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw IoError(fmt::format("{}: cannot write the file; is the disk full?", path.string()));
  file.commit();
}

}  // namespace

void write_planted_directory(const PlantedModel& planted, const Source& documents,
                             const std::filesystem::path& folder) {
  const ModelSpec& spec = planted.model.spec;
  if (spec.heads * spec.d_head != spec.d_model)
    throw ShapeError(
        fmt::format("write_planted_directory: {} heads of width {} do not fill d_model {}, as BERT's layout demands",
                    spec.heads, spec.d_head, spec.d_model));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", folder.string(), error.message()));
  std::string words;
  for (const std::string& word : planted.vocabulary) words += word + "\n";
  write_text(folder / "vocab.txt", words);
  write_text(
      folder / "tokenizer_config.json",
      ordered_json{{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", true}, {"model_max_length", spec.positions}}
              .dump(2) +
          "\n");
  write_text(folder / "truth.json", truth_of(planted).dump(2) + "\n");
  write_text(folder / "ids.json", ids_of(documents).dump() + "\n");
  write_text(folder / "config.json", bert_config(planted.model).dump(2) + "\n");
  write_safetensors(folder / "model.safetensors", bert_tensors(planted.model), {{"format", "pt"}});
}

}  // namespace headwave
