#include <cmath>
#include <fstream>

#include "../../core/planted/planted.h"
#include "../../data/models/planted_directory.h"
#include "../../job/inputs/job_input.h"
#include "../../job/studies/model_atlas.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// A BERT's vocabulary: free rows, letters, then words by frequency.
std::unique_ptr<Tokenizer> bert(const TemporaryFolder& folder) {
  std::ofstream(folder / "vocab.txt") << "[PAD]\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n!\na\nthe\nof\n##s\nb\ntree\n";
  return open_tokenizer(folder.path());
}

}  // namespace

TEST_CASE("random words by rank begin where the vocabulary's letters end, without special and unused ones") {
  const TemporaryFolder folder;
  const auto tokenizer = bert(folder);
  CHECK(text_words(13, tokenizer.get()) == std::vector<std::int32_t>{1, 6, 7, 8, 9, 10, 11, 12});
  const WordChances ranked = word_chances(13, tokenizer.get());
  CHECK(ranked.ids == std::vector<std::int32_t>{8, 9, 10, 11, 12});
  CHECK(ranked.chance[2] == Approx(1.0 / 3));
  CHECK(word_chances(8, tokenizer.get()).ids == std::vector<std::int32_t>{6, 7});  // letters alone
  CHECK(word_chances(3, nullptr).ids == std::vector<std::int32_t>{0, 1, 2});
  CHECK_THROWS_WITH(word_chances(6, tokenizer.get()), ContainsSubstring("vocabulary is text"));
}

TEST_CASE("random words find every planted offset, in every layer, and none where none was planted") {
  const TemporaryFolder folder;
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 1, 64, 1);
  write_planted_directory(planted, *documents, folder.path());
  ModelAtlasOptions options;
  options.atlas.length = 256;
  options.atlas.draws = 3;
  const std::vector<KindResult> results = model_atlas(folder.path(), options);
  REQUIRE(results.size() == 1);
  const Result& result = results.front().result;
  CHECK(result.fields.front().name == "word_atlas/predicted_offset");
  CHECK(std::get<std::int64_t>(result.provenance.at("documents")) == 4);
  const auto& found = result.at("word_atlas/predicted_offset").doubles();
  std::size_t row = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      if (head.positional()) CHECK(found[row] == head.offset);
      if (head.kind == PlantedKind::sink) CHECK(std::isnan(found[row]));
      if (head.kind == PlantedKind::content) CHECK(found[row] == 0);  // each word finds itself, as on any text
      ++row;
    }
}

TEST_CASE("threads change no digit of an atlas by random words, the seed does") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto words = [&](std::uint64_t seed) {
    RandomWordsOptions options;
    options.length = 64;
    options.seed = seed;
    return JobInput{planted.model, random_words({{5, 6, 7, 8}, Vector::Ones(4)}, options), {}};
  };
  const auto profile = [&](const JobInput& input, int threads) {
    std::vector<double> values =
        word_passes(input, {.threads = threads}).front().result.at("word_atlas/profile").doubles();
    for (double& value : values)
      if (std::isnan(value)) value = -1;  // no pair, in all of them
    return values;
  };
  const std::vector<double> one = profile(words(1), 1);
  CHECK(one == profile(words(1), 3));
  CHECK(one != profile(words(2), 1));
  RandomWordsOptions two;
  two.length = 2;
  const JobInput short_input{planted.model, random_words({{5}, Vector::Ones(1)}, two), {}};
  CHECK_THROWS_WITH(word_passes(short_input),
                    ContainsSubstring("random words: documents have 2 tokens, but predicting offsets needs at"));
  CHECK_THROWS_WITH(word_passes(short_input), ContainsSubstring("passes=0"));
}

TEST_CASE("an encoder-decoder's two sequences are both drawn: what looks within one is predicted") {
  ModelAtlasOptions options;
  options.atlas.draws = 3;
  const std::vector<KindResult> results = model_atlas(repository_file("tests/golden/families/bart"), options);
  REQUIRE(results.size() == 2);
  CHECK(results[0].kind == AttentionKind::self);
  CHECK(results[1].kind == AttentionKind::causal);
  for (const KindResult& found : results) CHECK(found.result.find("word_atlas/predicted_weight") != nullptr);
  for (const double offset : results[1].result.at("word_atlas/estimate").doubles())
    CHECK((std::isnan(offset) || offset <= 0));
}

TEST_CASE("no passes where none are asked for, and documents are not longer than the model's positions") {
  const std::filesystem::path gpt2 = repository_file("tests/golden/families/gpt2");
  ModelAtlasOptions options;
  options.atlas.draws = 3;
  options.words.documents = 0;
  const Result weights = model_atlas(gpt2, options).front().result;
  CHECK(weights.find("word_atlas/predicted_offset") == nullptr);
  CHECK(std::get<std::string>(weights.provenance.at("no_passes")) == "none were requested");
  WordInputOptions words;
  words.length = 25;
  CHECK_THROWS_WITH(word_input(open_model(gpt2), gpt2, words),
                    ContainsSubstring("documents of 25 tokens are requested, but the model has 24 positions"));
  CHECK_THROWS_WITH(word_input(open_model(gpt2), gpt2, words), ContainsSubstring("24 positions"));
  words.length = 0;
  CHECK(word_input(open_model(gpt2), gpt2, words).source->length(0) == 24);
}
