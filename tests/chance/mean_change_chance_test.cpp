// Whether anything is called changed more often than mean_change() says where nothing is, and whether what is changed is.

#include <cmath>

#include "../../analysis/statistics/mean_change.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index rows = 12, columns = 17, repeats = 200;

/// Offset profiles as attention has them: skewed, and entries of a document alike. Documents in a row are alike too:
/// entries go on from one to the next with a correlation of `kept`.
std::vector<Matrix> skewed_documents(Index documents, Random random, double kept = 0) {
  std::vector<Matrix> set;
  Matrix normal = Matrix::Zero(rows, columns);
  for (Index d = 0; d < documents; ++d) {
    const double common = random.normal(), fresh = d == 0 ? 1 : std::sqrt(1 - kept * kept);
    for (double& entry : normal.reshaped()) entry = kept * entry + fresh * random.normal();
    set.emplace_back((0.5 * common + normal.array()).exp());
  }
  return set;
}

/// Of so many pairs of sets, in how many `what` is called changed.
template <class Sets, class What>
Index called(bool paired, Index block, const Sets& sets, const What& what) {
  Index count = 0;
  for (Index r = 0; r < repeats; ++r) {
    const Random random = Random(23).stream(static_cast<std::uint64_t>(r));
    const auto [first, second] = sets(random);
    const MeanChange change = mean_change(
        first, second, paired, {.draws = 399, .block = block, .seed = static_cast<std::uint64_t>(r), .threads = 2});
    count += what(change) ? 1 : 0;
  }
  return count;
}

bool any(const MeanChange& change) {
  for (Index row = 0; row < rows; ++row)
    for (Index c = 0; c < columns; ++c)
      if (change.beyond(row, c)) return true;
  return false;
}

}  // namespace

TEST_CASE("of two sets of like documents at most the stated share is called changed", "[chance]") {
  for (const bool paired : {false, true})
    for (const Index block : {Index{0}, Index{1}}) {
      const Index count = called(
          paired, block,
          [](const Random& random) {
            return std::pair{skewed_documents(20, random.stream(1)), skewed_documents(20, random.stream(2))};
          },
          any);
      WARN((paired ? "the same documents" : "other documents")
           << (block == 0 ? ", in blocks" : ", one by one") << ": called " << count << " of " << repeats);
      CHECK(count <= 19);  // 5 % of 200, and three standard errors
      CHECK(count >= 1);   // and bands are no wider than they should be
    }
}

TEST_CASE("documents that are alike in a row are called changed far less often in blocks than one by one", "[chance]") {
  const auto sets = [](double kept) {
    return [kept](const Random& random) {
      return std::pair{skewed_documents(40, random.stream(1), kept), skewed_documents(40, random.stream(2), kept)};
    };
  };
  for (const bool paired : {false, true})
    for (const double kept : {0.3, 0.6}) {
      const Index blocks = called(paired, 0, sets(kept), any), single = called(paired, 1, sets(kept), any);
      WARN((paired ? "the same documents" : "other documents")
           << ", correlation " << kept << ": called " << blocks << " of " << repeats << " in blocks, " << single
           << " one by one");
      CHECK(single > 40);
      CHECK(blocks <= 19);  // 5 % of 200, and three standard errors
    }
}

TEST_CASE("a head that looks elsewhere is called changed, in blocks too", "[chance]") {
  // One head's weight moves from one offset to another, by so many standard deviations of a document.
  for (const bool paired : {false, true})
    for (const double moved : {1.0, 2.0, 3.0}) {
      const auto sets = [moved](const Random& random) {
        auto first = skewed_documents(40, random.stream(1)), second = skewed_documents(40, random.stream(2));
        const double deviation = std::sqrt(std::expm1(1.25) * std::exp(1.25));
        for (Matrix& document : second) document(4, 7) += moved * deviation;
        for (Matrix& document : second) document(4, 9) -= moved * deviation;
        return std::pair{std::move(first), std::move(second)};
      };
      const auto found = [](const MeanChange& change) { return change.beyond(4, 7) || change.beyond(4, 9); };
      const Index blocks = called(paired, 0, sets, found), single = called(paired, 1, sets, found);
      WARN((paired ? "the same documents" : "other documents")
           << ", moved by " << moved << " deviations: found in " << blocks << " of " << repeats << " in blocks, "
           << single << " one by one");
      if (moved == 3) CHECK(blocks >= 190);
    }
}
