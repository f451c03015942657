// Whether what head_account() says about uncertainty holds: planted shares in their intervals, and heads without a position term.

#include "../../analysis/predictions/head_account.h"
#include "../analysis/drawn_scores.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Rows that are replicates of one planted head by itself.
std::vector<AccountSums> replicate(const DrawnScores& spec, Index documents, Index number) {
  return drawn_groups(spec, documents, Random(11).stream(static_cast<std::uint64_t>(number)));
}

}  // namespace

TEST_CASE("nine of ten intervals hold the planted share of position", "[chance]") {
  DrawnScores spec;
  spec.length = 64;
  spec.reach = 16;
  spec.amplitudes = {0.5, 0.45, 0.4};
  spec.offset = -6;
  spec.deviation = 0.7;
  spec.content = Vector(2 * spec.length - 1);
  for (const double height : {0.8, 1.2, 1.8}) {
    for (Index t = 0; t < spec.content.size(); ++t)
      spec.content[t] = height * std::exp(-0.5 * std::pow((static_cast<double>(t - spec.length + 1) - 5) / 2, 2));
    HeadAccountOptions options;
    options.draws = 0;
    // What ever more documents give: softmax over so few keys is not quite the planted ratio.
    const double truth = head_account(replicate(spec, 4000, 1000), site_of(spec), options).shape[0][0];
    CHECK(truth == Approx(planted_shape(spec)).margin(0.03));
    Index covered = 0;
    constexpr Index repeats = 200;
    for (Index r = 0; r < repeats; ++r) {
      const HeadAccount account = head_account(replicate(spec, 24, r), site_of(spec), options);
      covered += account.shape_lower[0][0] <= truth && truth <= account.shape_upper[0][0] ? 1 : 0;
    }
    WARN("planted " << planted_shape(spec) << ", with 4000 documents " << truth << ": covered " << covered << " of "
                    << repeats);
    CHECK(covered >= 168);  // 90 %, less three standard errors
    CHECK(covered <= 198);
  }
}

TEST_CASE("of heads with random positions at most the stated share is called positional", "[chance]") {
  DrawnScores spec;
  spec.length = 64;
  spec.reach = 16;
  spec.random_positions = true;
  spec.deviation = 0.3;
  Index called = 0, low = 0;
  constexpr Index jobs = 12, heads = 12;
  for (Index job = 0; job < jobs; ++job) {
    // One job of twelve heads: every head a layer of its own.
    std::vector<AccountSums> groups(6);
    AccountSite site = site_of(spec);
    site.grid.layers.clear();
    for (Index head = 0; head < heads; ++head) {
      const auto one = drawn_groups(spec, 6, Random(17).stream(static_cast<std::uint64_t>(job * heads + head)), 6);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        groups[g].documents = one[g].documents;
        groups[g].layers.push_back(one[g].layers.front());
      }
      site.grid.layers.push_back(head);
    }
    HeadAccountOptions options;
    options.seed = static_cast<std::uint64_t>(job);
    const HeadAccount account = head_account(groups, site, options);
    for (Index head = 0; head < heads; ++head) {
      const AccountVerdict verdict = account.verdict[static_cast<std::size_t>(head)];
      called += verdict == AccountVerdict::positional || verdict == AccountVerdict::mixed ? 1 : 0;
      low += account.p_value[head] <= 0.1 ? 1 : 0;
      // Positions do give what little profile there is: it is not that nothing is explained.
      CHECK(account.shape[0][head] > 0.5);
    }
  }
  WARN("called " << called << " of " << jobs * heads << "; p below 0.1: " << low);
  CHECK(called <= 12);
  CHECK(low <= 26);  // 10 % of 144, and three standard errors
  CHECK(low >= 4);   // and p is no larger than it should be
}
