#include "../../data/sources/distinct_documents.h"

#include <utility>
#include <vector>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

class ListedDocuments : public Source {
 public:
  explicit ListedDocuments(std::vector<Document> documents) : documents_(std::move(documents)) {}
  [[nodiscard]] Index count() const override { return std::ssize(documents_); }
  [[nodiscard]] Document document(Index i) const override {
    ++read;
    if (i == unreadable) throw FormatError("is none");
    return documents_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Index length(Index i) const override { return documents_[static_cast<std::size_t>(i)].length(); }
  [[nodiscard]] Attributes provenance() const override { return {{"documents", std::int64_t{count()}}}; }
  mutable Index read = 0;
  Index unreadable = -1;

 private:
  std::vector<Document> documents_;
};

Document words(std::vector<std::int32_t> ids, const std::string& name) {
  Document document;
  document.ids = std::move(ids);
  document.special.assign(document.ids.size(), 0);
  document.name = name;
  return document;
}

Document states(const std::vector<float>& layers) {
  Document document;
  for (const float value : layers)
    document.stored.push_back({std::ssize(document.stored), Matrix32::Constant(3, 2, value), {}, {}});
  return document;
}

std::unique_ptr<Source> listed(std::vector<Document> documents) {
  return std::make_unique<ListedDocuments>(std::move(documents));
}

}  // namespace

TEST_CASE("a document that is equal to an earlier one is left out, and counted in the provenance") {
  Document marked = words({1, 2, 3}, "marked");
  marked.special.back() = 1;
  Document paired = words({1, 2, 3}, "paired");
  paired.target.ids = {4};
  const auto source = distinct_documents(listed(
      {words({1, 2, 3}, "a"), words({1, 2}, "b"), words({1, 2, 3}, "c"), marked, paired, words({1, 2, 3}, "f")}));
  REQUIRE(source->count() == 4);
  CHECK(source->document(0).name == "a");
  CHECK(source->document(1).name == "b");
  CHECK(source->length(1) == 2);
  CHECK(source->document(2).name == "marked");
  CHECK(source->document(3).name == "paired");
  CHECK(std::get<std::int64_t>(source->provenance().at("equal_documents")) == 2);
  CHECK(std::get<std::int64_t>(source->provenance().at("documents")) == 4);
}

TEST_CASE("where no document is equal to another the source stays as it is") {
  auto given = listed({words({1, 2, 3}, ""), words({3, 2, 1}, "")});
  const Source* before = given.get();
  const auto source = distinct_documents(std::move(given));
  CHECK(source.get() == before);
  CHECK_FALSE(source->provenance().contains("equal_documents"));
}

TEST_CASE("a document that cannot be read is equal to none, and whoever asks for it is told why") {
  auto given = std::make_unique<ListedDocuments>(
      std::vector{words({1, 2}, ""), words({1, 2}, ""), words({1, 2}, ""), words({3, 4}, "")});
  given->unreadable = 1;
  const auto source = distinct_documents(std::move(given));
  CHECK(source->count() == 3);
  CHECK_NOTHROW(source->document(0));
  CHECK_THROWS_AS(source->document(1), FormatError);
  CHECK(source->document(2).ids.front() == 3);
}

TEST_CASE("documents that look alike are read whole before one is left out") {
  auto given = listed({states({1, 2}), states({2, 2}), states({1, 3}), states({1, 2})});
  const auto& documents = static_cast<const ListedDocuments&>(*given);
  const ListedDocuments first_layers({states({1}), states({2}), states({1}), states({1})});
  const auto source = distinct_documents(std::move(given), &first_layers);
  CHECK(documents.read == 3);  // all but the second, each once
  REQUIRE(source->count() == 3);
  CHECK(source->document(2).stored[1].states(0, 0) == 3);
}
