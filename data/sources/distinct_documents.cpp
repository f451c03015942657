#include "distinct_documents.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "../files/digest.h"

namespace headwave {

namespace {

template <class Item>
void add(Sha256& digest, const Item* first, Index count) {
  digest.add({reinterpret_cast<const char*>(&count), sizeof count});
  digest.add({reinterpret_cast<const char*>(first), static_cast<std::size_t>(count) * sizeof(Item)});
}

void add(Sha256& digest, const Matrix32& matrix) {
  add(digest, matrix.data(), matrix.size());
}

void add(Sha256& digest, const TokenSequence& tokens) {
  add(digest, tokens.ids.data(), std::ssize(tokens.ids));
  add(digest, tokens.special.data(), std::ssize(tokens.special));
}

/// The digest of everything in a document except its name and the texts of its tokens.
std::string digest_of(const Document& document) {
  Sha256 digest;
  add(digest, document);
  add(digest, document.target);
  for (const StoredLayer& layer : document.stored) {
    for (const Matrix32* matrix : {&layer.states, &layer.query, &layer.key}) add(digest, *matrix);
    const FinishedAttention& attention = layer.attention;
    for (Index first = 0; first < attention.length; first += 64)
      add(digest, attention.rows(first, std::min<Index>(64, attention.length - first)));
  }
  return digest.hexadecimal();
}

/// The digest of a document; nothing if it cannot be read.
std::optional<std::string> digest_if_read(const Source& source, Index document) {
  try {
    return digest_of(source.document(document));
  } catch (const Error&) {
    return std::nullopt;
  }
}

class ChosenDocuments : public Source {
 public:
  ChosenDocuments(std::unique_ptr<Source> source, std::vector<Index> chosen)
      : source_(std::move(source)), chosen_(std::move(chosen)) {}
  [[nodiscard]] Index count() const override { return std::ssize(chosen_); }
  [[nodiscard]] Index length(Index i) const override { return source_->length(at(i)); }
  [[nodiscard]] Document document(Index i) const override { return source_->document(at(i)); }
  [[nodiscard]] Attributes provenance() const override {
    Attributes provenance = source_->provenance();
    if (provenance.contains("documents")) provenance["documents"] = static_cast<std::int64_t>(count());
    provenance["equal_documents"] = static_cast<std::int64_t>(source_->count() - count());
    return provenance;
  }

 private:
  [[nodiscard]] Index at(Index i) const { return chosen_[static_cast<std::size_t>(i)]; }

  std::unique_ptr<Source> source_;
  std::vector<Index> chosen_;
};

}  // namespace

std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const Source* quick) {
  std::vector<Index> chosen;
  std::map<std::string, std::vector<Index>> looks;      // chosen documents by quick digest
  std::map<Index, std::optional<std::string>> digests;  // of documents compared in full
  const auto whole = [&](Index i) {
    if (!digests.contains(i)) digests[i] = digest_if_read(*source, i);
    return digests[i];
  };
  for (Index i = 0; i < source->count(); ++i) {
    stop_if_asked();
    bool equal = false;
    if (const auto look = digest_if_read(quick != nullptr ? *quick : *source, i)) {
      std::vector<Index>& alike = looks[*look];
      equal = std::ranges::any_of(
          alike, [&](Index other) { return quick == nullptr || (whole(i) && whole(i) == whole(other)); });
      if (!equal) alike.push_back(i);
    }
    if (!equal) chosen.push_back(i);
  }
  if (std::ssize(chosen) == source->count()) return source;
  return std::make_unique<ChosenDocuments>(std::move(source), std::move(chosen));
}

}  // namespace headwave
