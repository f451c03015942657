// Whether what head_account() says about uncertainty holds: parts in their intervals, and heads without a preference.

#include "../../analysis/predictions/head_account.h"
#include "../analysis/drawn_documents.h"
#include "../catch.h"

using namespace headwave;

namespace {

DrawnHead small() {
  DrawnHead head;
  head.length = 64;
  head.reach = 16;
  head.words = 12;
  head.followed = 0;
  head.noise = 0.5;
  return head;
}

Index with_preference(const HeadAccount& account) {
  return std::ranges::count_if(account.verdict,
                               [](AccountVerdict verdict) { return verdict != AccountVerdict::no_preference; });
}

}  // namespace

TEST_CASE("nine of ten intervals hold the part by position, over 24 documents", "[chance]") {
  for (const double self : {1.5, 3.0}) {
    DrawnHead mixed = small();
    mixed.amplitudes = {0.9, 0.8, 0.7, 0.6};
    mixed.offset = -3;
    mixed.noise = 0.8;
    mixed.self = self;
    HeadAccountOptions options;
    options.draws = 0;
    const double truth = DrawnJob({mixed}, 1500, Random(1000)).account(options).part[0][0];
    constexpr Index repeats = 120;
    Index covered = 0;
    // Every head is a drawing of its own.
    const DrawnJob job(std::vector<DrawnHead>(repeats, mixed), 24, Random(11));
    const HeadAccount account = job.account(options);
    for (Index r = 0; r < repeats; ++r)
      covered += account.part_lower[0][r] <= truth && truth <= account.part_upper[0][r] ? 1 : 0;
    WARN("self " << self << ": part " << truth << " with 1500 documents, covered " << covered << " of " << repeats);
    CHECK(covered >= 96);  // 90 %, less three standard errors
  }
}

TEST_CASE("of heads whose positions have no order at most the stated share has a preference", "[chance]") {
  Index called = 0, low = 0;
  constexpr Index jobs = 8, heads = 16;
  for (Index job = 0; job < jobs; ++job) {
    DrawnHead table = small();
    table.random_positions = 1;
    HeadAccountOptions options;
    options.seed = static_cast<std::uint64_t>(job);
    const HeadAccount account =
        DrawnJob(std::vector<DrawnHead>(heads, table), 10, Random(17).stream(static_cast<std::uint64_t>(job)))
            .account(options);
    called += with_preference(account);
    for (Index head = 0; head < heads; ++head) low += account.p_value[head] <= 0.1 ? 1 : 0;
  }
  WARN("called " << called << " of " << jobs * heads << "; p below 0.1: " << low);
  CHECK(called <= 11);  // false discoveries of 5 % in every job
  CHECK(low <= 24);     // 10 % of 128, and three standard errors
  CHECK(low >= 3);      // and p is no larger than it should be
}

TEST_CASE("of heads of noise and of sinks hardly one has a preference", "[chance]") {
  Index called = 0;
  constexpr Index jobs = 5;
  for (Index job = 0; job < jobs; ++job) {
    DrawnHead noise = small(), sink = small();
    noise.noise = 1.5;
    sink.sink = 6;
    const HeadAccount account =
        DrawnJob({noise, noise, noise, noise, sink, sink}, 24, Random(23).stream(static_cast<std::uint64_t>(job)))
            .account();
    called += with_preference(account);
  }
  CHECK(called <= 1);
}
