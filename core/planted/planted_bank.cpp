#include "planted_bank.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../numbers/random.h"

namespace headwave {

namespace {

/// Random words between [CLS] and [SEP], each document from a stream of its own.
class PlantedDocuments : public Source {
 public:
  PlantedDocuments(const PlantedModel& planted, Index documents, Index length, std::uint64_t seed)
      : planted_(planted), documents_(documents), length_(length), seed_(seed) {}

  [[nodiscard]] Index count() const override { return documents_; }
  [[nodiscard]] Index length(Index /*i*/) const override { return length_; }

  [[nodiscard]] Document document(Index i) const override {
    Random random = Random(seed_).stream(static_cast<std::uint64_t>(i));
    Document document;
    document.name = fmt::format("planted words, document {}", i);
    for (Index n = 0; n < length_; ++n) {
      Index id = planted_.spec.words > 0 ? planted_special_words + random.below(planted_.spec.words) : 0;
      if (planted_.spec.words > 0 && n == 0) id = planted_opening_word;
      if (planted_.spec.words > 0 && n + 1 == length_) id = planted_closing_word;
      document.ids.push_back(static_cast<std::int32_t>(id));
      document.tokens.push_back(planted_.vocabulary[static_cast<std::size_t>(id)]);
      document.special.push_back(id < planted_special_words ? 1 : 0);
    }
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("planted words")},
            {"length", static_cast<std::int64_t>(length_)},
            {"documents", static_cast<std::int64_t>(documents_)},
            {"document_seed", static_cast<std::int64_t>(seed_)},
            {"special_tokens", std::string("[CLS] first, [SEP] last")}};
  }

 private:
  const PlantedModel& planted_;
  Index documents_, length_;
  std::uint64_t seed_;
};

}  // namespace

PlantedSpec planted_bank(std::uint64_t seed) {
  PlantedSpec spec;
  spec.seed = seed;
  spec.frequencies = {7.3, 12.6, 21.4, 29.8, 37.3, 41.6, 46.2, 50.4, 53.7, 61.8};
  const std::vector<double> sharp(10, 1.0), soft(10, 0.7), low{1.0, 1.6, 1.6, 1.2, 0.5, 0, 0, 0, 0, 0};
  const std::vector<PlantedHead> positional{{PlantedKind::adjacent, -1, sharp, 0}, {PlantedKind::adjacent, 1, sharp, 0},
                                            {PlantedKind::left, -3, soft, 0},      {PlantedKind::right, 3, soft, 0},
                                            {PlantedKind::broad, -6, low, 0},      {PlantedKind::broad, 6, low, 0}};
  const std::vector<PlantedHead> flat{
      {PlantedKind::sink, 0, {}, 8.0}, {PlantedKind::content, 0, {}, 4.0}, {PlantedKind::noise, 0, {}, 1.0}};
  Random random = Random(seed).stream(1);
  for (std::size_t layer = 0; layer < 4; ++layer) {
    std::vector<PlantedHead> heads = positional;
    heads.push_back(flat[(2 * layer) % 3]);
    heads.push_back(flat[(2 * layer + 1) % 3]);
    std::vector<Index> order{0, 1, 2, 3, 4, 5, 6, 7};
    random.shuffle(order);
    std::vector<PlantedHead> shuffled;
    for (const Index h : order) shuffled.push_back(heads[static_cast<std::size_t>(h)]);
    spec.heads.push_back(shuffled);
  }
  return spec;
}

std::unique_ptr<Source> planted_documents(const PlantedModel& planted, Index documents, Index length,
                                          std::uint64_t seed) {
  if (length < 3 || length > planted.spec.length)
    throw ShapeError(
        fmt::format("planted_documents: {} tokens asked for, expected 3 to {}", length, planted.spec.length));
  return std::make_unique<PlantedDocuments>(planted, documents, length, seed);
}

}  // namespace headwave
