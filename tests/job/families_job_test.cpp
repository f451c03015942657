// The job on other families than BERT: causal decoders with their golden traces, and encoder-decoders with three kinds
// of attention.

#include <algorithm>
#include <cmath>
#include <fstream>

#include "../../analysis/attention/head_cluster.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// offset_trace/trace of all pairs, (layer, head, offset), beside what is expected of it.
double largest_difference(const Result& result, const std::vector<double>& expected) {
  const std::vector<double>& trace = result.at("offset_trace/trace").doubles();
  REQUIRE(trace.size() == 3 * expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::abs(trace[i] - expected[i]));
  return largest;
}

/// Few clusters, of few heads.
JobOptions two_clusters() {
  JobOptions options;
  options.everything = true;
  options[clusters_option] = options[sweep_option] = 2;
  return options;
}

void write_ids(const std::filesystem::path& file, const std::vector<double>& ids, std::size_t first,
               std::size_t count) {
  std::ofstream out(file);
  out << "[[";
  for (std::size_t i = first; i < first + count; ++i) out << (i == first ? "" : ", ") << static_cast<int>(ids[i]);
  out << "]]";
}

}  // namespace

TEST_CASE("stories260K and gpt-nano-sort give their golden offset traces") {
  NEEDS_SHARED("golden/stories260K.h5");
  const TemporaryFolder folder;
  PackingOptions packing;
  packing.documents = 1;
  JobOptions options;
  options.everything = true;
  options[clusters_option] = 3;
  options[sweep_option] = 3;

  const Hdf5File stories(shared_file("golden/stories260K.h5"));
  write_ids(folder / "stories.json", stories.doubles("input_ids"), 0, 256);
  const JobInput input = ids_input(shared_file("stories260K"), folder / "stories.json", packing);
  const Result result = run_job(input.model, *input.source, options);
  // Sums of up to 256 weights that each agree within 1e-5.
  CHECK(largest_difference(result, stories.doubles("offset_trace")) < 1e-5 * 16);
  CHECK(std::get<std::string>(result.provenance.at("attention")) == "causal");
  CHECK(std::get<std::string>(result.provenance.at("position_term")) == "rotary");
  CHECK_THAT(std::get<std::string>(result.provenance.at("hidden_states")), ContainsSubstring("pre-norm"));

  const Hdf5File sort(shared_file("golden/gpt-nano-sort.h5"));
  const std::vector<double> expected = sort.doubles("offset_trace");  // (layer, batch, head, offset)
  for (std::size_t batch = 0; batch < 3; ++batch) {
    write_ids(folder / "sort.json", sort.doubles("input_ids"), 11 * batch, 11);
    const JobInput one = ids_input(shared_file("gpt-nano-sort"), folder / "sort.json", packing);
    std::vector<double> of_batch;
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>((layer * 3 + batch) * 63);
      of_batch.insert(of_batch.end(), begin, begin + 63);
    }
    CHECK(largest_difference(run_job(one.model, *one.source, options), of_batch) < 1e-5);
  }
}

TEST_CASE("an encoder-decoder gives a result for each kind of attention") {
  const TemporaryFolder folder;
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6, 7, 8, 9, 10, 11], "target": [2, 8, 9, 10]},
    {"source": [5, 9, 13, 4], "target": [2, 6, 7, 8, 9, 10]}])";
  JobInput input = ids_input(repository_file("tests/golden/families/bart"), folder / "pairs.json");
  const JobOptions options = two_clusters();
  const std::vector<KindResult> results = run_job_by_kind(input.model, *input.source, options);
  REQUIRE(results.size() == 3);
  CHECK(results[0].kind == AttentionKind::self);
  CHECK(results[1].kind == AttentionKind::causal);
  CHECK(results[2].kind == AttentionKind::cross);
  // BART has 2 encoder layers and 1 decoder layer here.
  CHECK(results[0].result.at("offset_trace/trace").axis("layer").size() == 2);
  CHECK(results[2].result.at("offset_trace/trace").axis("layer").size() == 1);

  // Every query's weights sum to 1, so a head's traces sum to the number of queries: 7 and 4, or 4 and 6.
  const auto sum_of_head = [](const Result& result) {
    const std::vector<double>& trace = result.at("offset_trace/trace").doubles();
    const auto offsets = static_cast<std::size_t>(result.at("offset_trace/trace").axis("offset").size());
    double sum = 0;
    for (std::size_t t = 0; t < offsets; ++t) sum += trace[t];
    return sum;
  };
  CHECK(sum_of_head(results[0].result) == Approx(5.5).epsilon(1e-6));
  CHECK(sum_of_head(results[1].result) == Approx(5.0).epsilon(1e-6));
  CHECK(sum_of_head(results[2].result) == Approx(5.0).epsilon(1e-6));
  // The pairs of cross-attention at offset t, averaged over 4 x 7 and 6 x 4: at t = 6 one pair in the first only.
  const Field& count = results[2].result.at("offset_trace/count");
  const auto& offsets = std::get<std::vector<std::int64_t>>(count.axis("offset").values);
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    double pairs = 0;
    for (const auto& [queries, keys] : {std::pair{4, 7}, std::pair{6, 4}})
      for (int i = 0; i < queries; ++i) pairs += i + offsets[t] >= 0 && i + offsets[t] < keys ? 0.5 : 0.0;
    CHECK(count.doubles()[t] == pairs);
  }
  const auto& keys = std::get<std::vector<std::string>>(results[2].result.at("attention_map/key_token").values);
  CHECK(keys == std::vector<std::string>{"5", "6", "7", "8", "9", "10", "11"});
  CHECK_THROWS_WITH(run_job(input.model, *input.source, options), ContainsSubstring("three kinds of attention"));
  CHECK_NOTHROW(intervene(input, {"without-heads=cross:L0H1", "positions-only"}));
  CHECK_NOTHROW(run_job_by_kind(input.model, *input.source, options));
}

TEST_CASE("documents with padding give the same numbers as without, one by one or together") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  std::filesystem::copy(repository_file("tests/golden/models/bert"), model);
  std::ofstream(model / "vocab.txt") << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n";
  std::ofstream(folder / "plain.json") << "[[2, 7, 8, 9, 3], [2, 10, 11, 12, 13, 14, 15, 3], [2, 20, 21, 3]]";
  std::ofstream(folder / "padded.json")
      << "[[2, 7, 8, 9, 3, 0, 0, 0], [2, 10, 11, 12, 13, 14, 15, 3], [2, 20, 21, 3, 0, 0, 0, 0]]";
  const JobOptions options = two_clusters();
  const JobInput plain = ids_input(model, folder / "plain.json");
  const JobInput padded = ids_input(model, folder / "padded.json");
  const Result one = run_job(plain.model, *plain.source, options);
  const Result other = run_job(padded.model, *padded.source, options);
  REQUIRE(one.fields.size() == other.fields.size());
  for (const char* name : {"offset_trace/trace", "offset_trace/count", "head_cluster/centroid", "attention_map/weight"})
    CHECK(one.at(name).doubles() == other.at(name).doubles());
  // And each document's trace is what it gives alone.
  std::ofstream(folder / "last.json") << "[[2, 20, 21, 3]]";
  const JobInput last = ids_input(model, folder / "last.json");
  const Result alone = run_job(last.model, *last.source, options);
  const std::vector<double>& all = one.at("offset_trace/by_document").doubles();
  const std::vector<double>& single = alone.at("offset_trace/by_document").doubles();
  for (std::size_t i = 0; i < single.size(); ++i) {
    const double together = all[all.size() - single.size() + i];
    CHECK((together == single[i] || (std::isnan(together) && std::isnan(single[i]))));
  }
}

TEST_CASE("the rotary wave of short documents is searched up to half their length, as everything else is") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5]]";
  const JobInput input = ids_input(repository_file("tests/golden/families/llama"), folder / "ids.json");
  JobOptions options;
  options.everything = true;
  options.only = {"rotary_wave"};
  const Result result = run_job(input.model, *input.source, options);
  CHECK(result.at("rotary_wave/kernel").axes.back().size() == 2 * 5 + 1);
}

TEST_CASE("without positions no head is positional, though texts are alike at the same places") {
  const TemporaryFolder folder;
  std::ofstream ids(folder / "ids.json");
  for (int d = 0; d < 16; ++d) {
    ids << (d == 0 ? "[[" : "], [");
    for (int i = 0; i < 24; ++i) ids << (i == 0 ? "" : ", ") << (i % 8 == d % 8 ? 5 + d : 3 + (i * i) % 29);
  }
  ids << "]]";
  ids.close();
  JobInput input = ids_input(repository_file("tests/golden/families/bert-mlm"), folder / "ids.json");
  JobOptions options;
  options.everything = true;
  options.only = {"head_account"};
  const auto called = [&] {
    const Result result = run_job(input.model, *input.source, options);
    const auto& verdicts = std::get<std::vector<std::uint8_t>>(result.at("head_account/verdict").values);
    return std::ranges::count_if(verdicts, [](auto verdict) { return verdict == 0; });
  };
  intervene(input, {"words-only"});
  CHECK(called() == 0);
}

TEST_CASE("interventions as text") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[3, 1, 4, 1, 5, 9, 2, 6]]";
  const auto input = [&] { return ids_input(repository_file("tests/golden/families/bert-mlm"), folder / "ids.json"); };
  const auto refused = [&](const std::string& text) {
    JobInput one = input();
    intervene(one, {text});
  };
  CHECK_NOTHROW(refused("without-heads=L0H0,L1H3"));
  CHECK_THROWS_WITH(refused("words"), ContainsSubstring("no intervention 'words'; did you mean 'words-only'?"));
  CHECK_THROWS_WITH(refused("nothing"), ContainsSubstring("intervention nothing: expected words-only, positions-only"));
  CHECK_THROWS_AS(refused("words-only=1"), FormatError);
  CHECK_THROWS_AS(refused("without-heads="), FormatError);
  CHECK_THROWS_AS(refused("without-heads=L0H0,"), FormatError);
  CHECK_THROWS_WITH(refused("without-heads=L9H0"), ContainsSubstring("there is no L9H0"));
  CHECK_THROWS_WITH(refused("without-head=L0H1"), ContainsSubstring("did you mean 'without-heads'?"));
  JobInput both = input();
  InterventionOptions options;
  options.shuffles = 4;
  intervene(both, {"positions-only", "shuffled-words"}, options);
  CHECK(both.source->count() == 4);
  CHECK(std::get<std::string>(both.provenance.at("interventions")) == "positions-only shuffled-words");
}

TEST_CASE("a job on a model of disentangled attention names its terms, and leaves out what would pass them over") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4]]";
  const JobOptions options = two_clusters();
  const auto result_of = [&](const std::string& name, const std::string& intervention) {
    JobInput input = ids_input(repository_file("tests/golden/families/" + name), folder / "ids.json");
    if (!intervention.empty()) intervene(input, {intervention});
    return run_job(input.model, *input.source, options);
  };
  const Result plain = result_of("deberta-v3", "");
  CHECK(std::get<std::string>(plain.provenance.at("position_term")) == "disentangled terms");
  // The terms have no kernel of their own; the account deals contents with them in force.
  CHECK(plain.find("position_term/kernel") == nullptr);
  CHECK(plain.find("head_account/dealt_profile") != nullptr);
  CHECK(plain.find("measured_offset/offset") != nullptr);
  CHECK(result_of("bert-mlm", "").find("head_account/measured_profile") != nullptr);
  // Without the terms nothing tells a DeBERTa positions: equal words see the same everywhere.
  std::ofstream(folder / "ids.json") << "[[3, 3, 3, 3, 3, 3], [7, 7, 7, 7, 7, 7]]";
  const auto skew_of = [&](const std::string& intervention) {
    const Result result = result_of("deberta-v3", intervention);
    const std::vector<double>& trace = result.at("offset_trace/trace").doubles();
    constexpr std::size_t offsets = 11;
    REQUIRE(trace.size() == std::size_t{3} * 2 * 3 * offsets);
    double skew = 0;
    for (std::size_t row = 0; row < trace.size(); row += offsets)
      for (std::size_t t = 0; t < offsets; ++t)
        skew = std::max(skew, std::abs(trace[row + t] - trace[row + offsets - 1 - t]));
    return skew;
  };
  CHECK(skew_of("words-only") < 1e-6);
  CHECK(skew_of("") > 1e-2);
}
