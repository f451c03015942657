#include "../../job/run/job.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "../../analysis/attention/head_cluster.h"
#include "../../analysis/registry/registry.h"
#include "../../analysis/statistics/k_means.h"
#include "../../analysis/why/head_account.h"
#include "../../core/fields/measures.h"
#include "../../core/planted/planted.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/job_input.h"
#include "../../job/studies/comparison.h"
#include "../../job/studies/model_atlas.h"
#include "../../reports/tables/head_sentence.h"
#include "../catch.h"
#include "failing_source.h"

using namespace headwave;

namespace {

struct Planted {
  PlantedModel model = planted_model(planted_bank());
  std::unique_ptr<Source> documents;
  std::vector<std::string> only;

  /// @param analyses  the ones to do; none: all
  explicit Planted(Index count = 6, Index length = 512, std::vector<std::string> analyses = {"head_cluster"})
      : documents(planted_documents(model, count, length, 1)), only(std::move(analyses)) {}

  [[nodiscard]] Result run(Index clusters, int threads = 2) const {
    JobOptions options;
    options.everything = true;
    options[clusters_option] = clusters;
    options[sweep_option] = 3;
    options.threads = threads;
    options.only = only;
    return run_job(model.model, *documents, options);
  }
};

/// Everything that a job does, on few and short documents.
Planted all_analyses() {
  return Planted(6, 96, {});
}

/// A number for every kind that can be told apart in the window: one per offset and width, flat kinds merged.
std::vector<Index> distinguishable_kinds(const PlantedSpec& spec, Index documents) {
  std::map<std::pair<double, std::vector<double>>, Index> known;
  std::vector<Index> kinds;
  for (Index d = 0; d < documents; ++d)
    for (const auto& layer : spec.heads)
      for (const PlantedHead& head : layer)
        kinds.push_back(
            known
                .try_emplace({head.positional() ? head.offset : 0.0, head.amplitudes}, static_cast<Index>(known.size()))
                .first->second);
  return kinds;
}

std::vector<Index> labels_of(const Result& result) {
  const auto& labels = std::get<std::vector<std::int64_t>>(result.at("head_cluster/label").values);
  return {labels.begin(), labels.end()};
}

/// Entry (0, layer * heads + head) of a (pairs, layer, head) Field.
double of_all_pairs(const Field& field, std::size_t head) {
  return field.doubles()[head];
}

}  // namespace

TEST_CASE("every planted offset is found, and nothing where nothing was planted") {
  const Planted planted;
  const Result result = planted.run(7);
  const Field& offset = result.at("measured_offset/offset");
  std::size_t index = 0;
  for (const auto& layer : planted.model.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(index, name_of(head.kind));
      if (head.positional())
        CHECK(of_all_pairs(offset, index) == head.offset);
      else
        CHECK(std::isnan(of_all_pairs(offset, index)));
      ++index;
    }
}

TEST_CASE("planted heads cluster by what can be told apart in the window") {
  const Planted planted;
  const std::vector<Index> kinds = distinguishable_kinds(planted.model.spec, planted.documents->count());
  REQUIRE(std::set<Index>(kinds.begin(), kinds.end()).size() == 7);
  CHECK(adjusted_rand(labels_of(planted.run(7)), kinds) >= 0.95);
  // With one cluster fewer two kinds must share one: 8 of 32 heads flat, 4 of each other kind.
  const double fewer = adjusted_rand(labels_of(planted.run(6)), kinds);
  CHECK(fewer < 0.95);
  CHECK(fewer > 0.7);
}

TEST_CASE("every Field and every word of a head that the sources name is in the results of all analyses") {
  const Planted planted(8, 96, {});
  Result result = planted.run(6);
  const auto add = [&](std::vector<Field> fields) { append(result.fields, std::move(fields)); };
  add(Planted(1, 96, {"attention_bits"}).run(6).fields);  // too few documents: attention_bits/undefined
  const JobInput causal =
      random_input(repository_file("tests/golden/families/gpt2"), {.documents = 3, .period = 10, .repeats = 2}, false);
  JobOptions without_heads;
  without_heads.only = {"head_effect", "head_writes"};
  add(run_job(causal.model, *causal.source, without_heads).fields);
  add(describe(planted.model));
  HeadAccount account;
  account.measured = account.uniform = Matrix(0, 1);
  account.site.reach = 0;
  add(word_atlas(account));
  const JobInput rotary =
      random_input(repository_file("tests/golden/families/llama"), {.documents = 3, .period = 10, .repeats = 2}, false);
  JobOptions wave;
  wave.only = {"rotary_wave"};
  add(run_job(rotary.model, *rotary.source, wave).fields);
  Result other = planted.run(6);
  other.provenance["told"] = std::string("otherwise");
  add(comparison(other, planted.run(6)).fields);

  const std::regex field_name(R"(["'`]([a-z_]+/[a-z_0-9]+)(:[a-z]*)?["'`])");
  const std::regex said(R"re((?:Said \w+\{|word\()"(\w+)", (?:place\) === )?"([^"]+)")re");
  std::set<std::string> fields(head_sentence_fields().begin(), head_sentence_fields().end());
  std::set<std::pair<std::string, std::string>> words;
  const auto each = [](const std::string& line, const std::regex& sought, const auto& found) {
    for (std::sregex_iterator at(line.begin(), line.end(), sought), end; at != end; ++at) found(*at);
  };
  for (const char* room : {"core/fields", "analysis", "reports", "job", "cli"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(repository_file(room))) {
      std::ifstream stream(file.path());
      for (std::string line; std::getline(stream, line);) {
        each(line, field_name, [&](const std::smatch& found) { fields.insert(found[1]); });
        each(line, said, [&](const std::smatch& found) { words.emplace(found[1], found[2]); });
      }
    }
  for (const char* name :
       {"looks/part", "looks/offset", "group/quantity", "analysis/quantity", "radian/token", "org/name"})
    CHECK(fields.erase(name) == 1);  // made by the page; examples; a unit; a model
  REQUIRE(fields.size() > 100);
  for (const std::string& name : fields) {
    CAPTURE(name);
    CHECK(result.find(name) != nullptr);
  }
  REQUIRE(words.size() > 5);
  for (const KindScore& kind : kind_scores()) words.emplace("kind", kind.kind);
  for (const auto& [measure, word] : words) {
    CAPTURE(measure, word);
    CHECK(std::ranges::any_of(measures(), [&, &name = measure, &text = word](const Measure& row) {
      return row.name == name && std::ranges::count(result.at(row.field).flag_meanings, text) == 1;
    }));
  }
}

TEST_CASE("a result survives its file") {
  const Planted planted = all_analyses();
  const Result result = planted.run(6);
  const TemporaryFolder folder;
  write_result(result, folder / "results.h5");
  const Result read = read_result(folder / "results.h5");
  REQUIRE(read.fields.size() == result.fields.size());
  for (std::size_t i = 0; i < read.fields.size(); ++i) {
    CHECK(read.fields[i].name == result.fields[i].name);
    CHECK(read.fields[i].size() == result.fields[i].size());
  }
  CHECK(std::get<std::int64_t>(read.provenance.at("layers")) == 4);
}

TEST_CASE("traces of a BERT on token ids are those of its attention") {
  const auto model = repository_file("tests/golden/models/bert");
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[7, 8, 9, 10, 11, 12], [20, 21, 22, 23]]";
  PackingOptions packing;
  packing.documents = 2;
  const JobInput input = ids_input(model, folder / "ids.json", packing);
  packing.documents = 3;
  CHECK_THROWS_WITH(ids_input(model, folder / "ids.json", packing),
                    ContainsSubstring("holds 2 documents, but 3 are requested"));
  REQUIRE(input.source->count() == 2);
  JobOptions options;
  options.everything = true;
  options.reach = 4;
  options[window_option] = 3;
  const Result result = run_job(input.model, *input.source, options);
  const Field& trace = result.at("offset_trace/trace");
  CHECK(trace.axis("offset").size() == 11);
  // All of a document's attention lies on some diagonal: per head and document T rows that sum to 1.
  double sum = 0.0;
  for (std::size_t i = 0; i < 11; ++i) sum += trace.doubles()[i];
  CHECK(sum == Approx((6.0 + 4.0) / 2.0).epsilon(1e-6));
  CHECK(result.at("offset_trace/by_document").size() == 2 * 8 * 9);
}

TEST_CASE("stored embeddings give the attention that was stored beside them") {
  NEEDS_SHARED("bert-tiny-stored-embeddings/stored.h5");
  const auto file = shared_file("bert-tiny-stored-embeddings/stored.h5");
  const std::vector<double> attention = Hdf5File(file).doubles("/reference/layer_0/attention");
  const Index length = 21;
  JobOptions options;
  options.everything = true;
  options.reach = 20;
  const auto check = [&](const JobInput& input) {
    const Result result = run_job(input.model, *input.source, options);
    const std::vector<double>& trace = result.at("offset_trace/trace").doubles();
    REQUIRE(result.at("offset_trace/trace").axis("layer").size() == 1);
    double difference = 0.0;
    for (Index head = 0; head < 2; ++head)
      for (Index t = -20; t <= 20; ++t) {
        const MatrixView weights(attention.data() + head * length * length, length, length);
        difference = std::max(
            difference, std::abs(weights.diagonal(t).sum() - trace[static_cast<std::size_t>(head * 41 + t + 20)]));
      }
    // 21 float weights summed, computed from products of 128 float terms.
    CHECK(difference < 21 * 1e-6);
  };
  check(states_input(file));
  StoredStatesOptions stored;
  stored.heads = 2;
  check(states_input(shared_file("bert-tiny-stored-embeddings/npy"), stored));
  CHECK_THROWS_WITH(states_input(shared_file("bert-tiny-stored-embeddings/npy")), ContainsSubstring("head_count"));
  CHECK_THROWS_WITH(states_input(file, repository_file("tests/golden/models/bert")),
                    ContainsSubstring("states of layer 0 have width 128, but the model's have 32"));
  CHECK_THROWS_WITH(states_input(file, repository_file("tests/golden/models/bert")),
                    ContainsSubstring("width 128, but the model's have 32"));
  CHECK_THROWS_WITH(states_input(shared_file("bert-tiny-stored-embeddings/npy/hidden_states_layer_0.npy"), stored),
                    ContainsSubstring("give model"));
}

TEST_CASE("job: stored states of an encoder-decoder are its encoder's, whose attention alone is analysed") {
  const auto folder = shared_file("aren-transliteration");
  StoredStatesOptions stored;
  stored.dataset = "{document}/encoder/attention_input";
  const JobInput input =
      states_input(folder / "reference.h5", {folder, repository_file("tests/golden/maps/aren.toml")}, stored);
  const std::vector<KindResult> results = run_job_by_kind(input.model, *input.source);
  REQUIRE(results.size() == 1);
  CHECK(results.front().kind == AttentionKind::self);
  double heaviest = 0;
  for (const double weight : results.front().result.at("measured_offset/weight").doubles())
    heaviest = std::fmax(heaviest, weight);
  CHECK(heaviest > 0.1);
}

TEST_CASE("every analysis writes Fields of its own name, by which it is found") {
  const TemporaryFolder folder;
  std::string ids;
  for (int document = 0; document < 8; ++document) {
    ids += document == 0 ? "[[" : ", [";
    for (int i = 0; i < 20; ++i) ids += (i == 0 ? "" : ", ") + std::to_string((7 * document + 5 * i * i) % 50 + 5);
    ids += "]";
  }
  std::ofstream(folder / "ids.json") << ids << "]";
  JobOptions options;
  options.everything = true;
  options.reach = 8;
  options[window_option] = 4;
  options[clusters_option] = 2;
  std::vector<Result> results;
  for (const char* model : {"tests/golden/models/bert", "tests/golden/families/llama"}) {
    const JobInput input = ids_input(repository_file(model), folder / "ids.json", {});
    results.push_back(run_job(input.model, *input.source, options));
  }
  for (const AnalysisKind* kind : analysis_kinds()) {
    CAPTURE(kind->name);
    CHECK(std::ranges::any_of(results, [&](const Result& result) { return holds(result, kind->name); }));
  }
}

TEST_CASE("a result claims nothing about states that were not there") {
  const JobInput input = states_input(repository_file("tests/golden/stored/causal.h5"));
  JobOptions options;
  options.everything = true;
  options.reach = 3;
  const Attributes provenance = run_job(input.model, *input.source, options).provenance;
  CHECK_FALSE(provenance.contains("d_model"));
  CHECK_FALSE(provenance.contains("hidden_states"));
  CHECK(std::get<std::int64_t>(provenance.at("d_head")) == 3);
  CHECK(std::get<std::string>(provenance.at("attention")) == "causal");
  CHECK(std::get<double>(provenance.at("score_scale")) == 0.25);
  CHECK(std::get<std::int64_t>(provenance.at("layers")) == 1);
}

TEST_CASE("states of more tokens than the model has positions are refused at the door") {
  const TemporaryFolder folder;
  const auto model = repository_file("tests/golden/models/bert");  // 40 positions, states of width 32
  const auto write = [&](const char* name, int tokens) {
    const std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 32), }}", tokens);
    std::ofstream file(folder / name, std::ios::binary);
    file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header;
    file << std::string(static_cast<std::size_t>(4 * 32 * tokens), '\0');
    return folder / name;
  };
  CHECK_THROWS_WITH(states_input(write("long.npy", 41), model),
                    ContainsSubstring("long.npy: document 0 has 41 tokens, but the model has 40 positions"));
  CHECK_THROWS_WITH(states_input(folder / "long.npy", model),
                    ContainsSubstring("document 0 has 41 tokens, but the model has 40 positions; are the states"));
  CHECK(states_input(write("whole.npy", 40), model).source->length(0) == 40);
  // Rotary positions have no table that could end.
  std::ofstream(folder / "ids.json") << "[[5], [6, 7]]";
  CHECK(ids_input(repository_file("tests/golden/families/llama"), folder / "ids.json").source->count() == 2);
}

TEST_CASE("text that cannot give the documents is described in one line") {
  const TemporaryFolder folder;
  const Planted planted;
  const auto model = folder / "model";
  std::filesystem::create_directories(model);
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(repository_file("tests/golden/models/bert") / file, model / file);
  std::ofstream vocabulary(model / "vocab.txt");
  vocabulary << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n";
  vocabulary.close();
  std::ofstream(folder / "short.txt") << "a b c a b c a b";
  std::ofstream(folder / "empty.txt");
  PackingOptions packing;
  packing.documents = 2;
  packing.length = 6;
  const JobInput input = text_input(model, folder / "short.txt", packing);
  CHECK(input.source->document(0).ids == std::vector<std::int32_t>{2, 5, 6, 7, 5, 3});
  CHECK(input.source->document(1).ids == std::vector<std::int32_t>{2, 6, 7, 5, 6, 3});
  packing.special_tokens = false;
  packing.length = 4;
  CHECK(text_input(model, folder / "short.txt", packing).source->document(1).ids ==
        std::vector<std::int32_t>{6, 7, 5, 6});
  packing.documents = 3;
  CHECK_THROWS_WITH(text_input(model, folder / "short.txt", packing),
                    ContainsSubstring("8 tokens, enough for 2 documents of 4, but 3 are requested"));
  CHECK_THROWS_WITH(text_input(model, folder / "empty.txt", packing), ContainsSubstring("the file is empty"));
  CHECK_THROWS_AS(text_input(model, folder / "missing.txt", packing), IoError);
  packing.length = 41;
  CHECK_THROWS_WITH(text_input(model, folder / "short.txt", packing), ContainsSubstring("the model has 40 positions"));
  std::ofstream(folder / "bad.json") << "[1, 2, -3]";
  packing = {1, 3, false};
  CHECK_THROWS_WITH(ids_input(model, folder / "bad.json", packing), ContainsSubstring("entry 2 is not a token id"));
}

TEST_CASE("only the analyses asked for are done, and a name that is none is told beside those there are") {
  const PlantedModel model = planted_model(planted_bank());
  const auto documents = planted_documents(model, 2, 64, 1);
  JobOptions options;
  options.everything = true;
  options.only = {"phase_delay"};
  const Result result = run_job(model.model, *documents, options);
  CHECK(result.find("phase_delay/estimate") != nullptr);
  CHECK(result.find("measured_offset/offset") != nullptr);
  for (const char* name :
       {"head_cluster/share", "attention_map/weight", "head_types/kind", "wave_spectra/query",
        "cross_covariance/weighted", "position_atlas/predicted_offset", "position_split/variance_share"}) {
    CAPTURE(name);
    CHECK(result.find(name) == nullptr);
  }
  options.only = {"phase_delay", "delays"};
  CHECK_THROWS_WITH(run_job(model.model, *documents, options),
                    ContainsSubstring("no analysis 'delays'") && ContainsSubstring("cross_covariance"));
}

TEST_CASE("the chain finds every planted delay to a twentieth of a token, and agrees with what was measured") {
  const Planted bank(5, 512, {"head_account", "position_atlas", "phase_delay", "cross_covariance", "offset_agreement"});
  const PlantedModel& model = bank.model;
  const Result result = bank.run(6);
  const auto& verdicts = std::get<std::vector<std::uint8_t>>(result.at("offset_agreement/verdict").values);
  std::size_t head = 0;
  for (const auto& layer : model.spec.heads)
    for (const PlantedHead& planted : layer) {
      CAPTURE(head, name_of(planted.kind));
      const double phases = result.at("phase_delay/predicted_offset").doubles()[head];
      if (planted.positional()) {
        CHECK(phases == Approx(planted.offset).margin(0.05));
        CHECK(result.at("position_atlas/predicted_offset").doubles()[head] == planted.offset);
        CHECK(verdicts[head] == 1);
      } else if (planted.kind != PlantedKind::content) {
        CHECK(std::isnan(phases));
      }
      ++head;
    }
}

TEST_CASE("the account searches half a document's length, as what was measured") {
  const Result result = Planted(2, 24, {"head_account"}).run(6);
  CHECK(result.at("head_account/measured_profile").axis("offset").size() == 2 * 11 + 1);
}

TEST_CASE("a job is refused without documents, with options out of range, or where a document cannot be read") {
  const Planted planted(3, 64);
  const Model& model = planted.model.model;
  JobOptions options;
  options.everything = true;
  options.threads = 2;
  CHECK_THROWS_WITH(run_job(model, FailingSource(*planted.documents, -1), options),
                    ContainsSubstring("run_job: the source has no documents"));
  CHECK_THROWS_WITH(run_job_by_kind(model, FailingSource(*planted.documents, -1), options),
                    "run_job: the source has no documents; expected at least one");
  CHECK_THROWS_AS(run_job(model, FailingSource(*planted.documents, 1), options), IoError);
  options.reach = 0;
  CHECK_THROWS_WITH(run_job(model, *planted.documents, options), ContainsSubstring("the option reach is 0"));
  CHECK_THROWS_WITH(run_job_by_kind(model, *planted.documents, options), "the option reach is 0; expected 1 to 4096");
}
