#include "../../analysis/pass/document_sum.h"

#include <array>
#include <cmath>

#include "../catch.h"

using namespace headwave;

namespace {

struct Inner {
  double sum = 0;
};

/// One member of every kind that a sum may have.
struct EveryKind {
  Index documents = 1;
  Matrix weight;
  std::string name;
  std::vector<Matrix> layers;
  std::array<Inner, 2> halves;
  ByDocument<Index> lengths;
  First<Vector> first;
  Largest<Index> longest;
};

EveryKind document(double weight, Index length) {
  EveryKind found;
  found.weight = Matrix::Constant(1, 2, weight);
  found.layers = {Matrix::Constant(1, 1, weight)};
  found.halves[static_cast<std::size_t>(length % 2)].sum = weight;
  found.lengths = {length};
  found.first.value = Vector::Constant(1, weight);
  found.longest.value = length;
  return found;
}

}  // namespace

TEST_CASE("documents are added member by member, each kind of member in its own way") {
  EveryKind sum = document(1, 7);
  EveryKind second = document(2, 10);
  second.name = "second";
  second.layers.push_back(Matrix::Constant(1, 1, 5));  // of a layer that the first document lacks
  add_to(sum, std::move(second));
  EveryKind third = document(4, 3);
  third.name = "third";
  third.weight.resize(0, 0);  // adds nothing
  add_to(sum, std::move(third));
  CHECK(sum.documents == 3);
  CHECK(sum.weight == Matrix::Constant(1, 2, 3));
  CHECK(sum.name == "second");
  REQUIRE(sum.layers.size() == 2);
  CHECK(sum.layers[0](0, 0) == 7);
  CHECK(sum.layers[1](0, 0) == 5);
  CHECK(sum.halves[0].sum == 2);
  CHECK(sum.halves[1].sum == 5);
  CHECK(sum.lengths == ByDocument<Index>{7, 10, 3});
  CHECK((*sum.first.value)[0] == 1);
  CHECK(sum.longest.value == 10);
}

TEST_CASE("the sum of no documents is a default one, and sums go through bytes") {
  DocumentSumOf<EveryKind> sum(EveryKind{0, {}, {}, {}, {}, {}, {}, {}}), again;
  sum.add(DocumentSumOf<EveryKind>(document(1, 7)));
  sum.add(DocumentSumOf<EveryKind>(document(2, 9)));
  ByteWriter bytes;
  sum.write(bytes);
  const std::string written = bytes.taken();
  ByteReader reader(written);
  again.read(reader);
  CHECK(reader.at_end());
  CHECK(again.value.documents == 2);
  CHECK(again.value.weight == sum.value.weight);
  CHECK(again.value.lengths == sum.value.lengths);
  CHECK((*again.value.first.value)[0] == 1);
  CHECK(again.value.longest.value == 9);
}

TEST_CASE("a mean counts an entry in the documents that define it, and is NaN where none does") {
  const double none = std::nan("");
  DefinedMean mean(Matrix{{1, 5, none}});
  add_to(mean, DefinedMean(Matrix{{3, none, none}}));
  CHECK(mean.value()(0, 0) == 2);
  CHECK(mean.value()(0, 1) == 5);
  CHECK(std::isnan(mean.value()(0, 2)));
}
