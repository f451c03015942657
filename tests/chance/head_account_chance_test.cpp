// Whether what head_account() says about uncertainty holds: parts in their intervals, and heads without a preference.

#include "../../analysis/why/head_account.h"
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

Matrix32 normal_numbers(Index rows, Index columns, double deviation, Random& random) {
  Matrix32 made(rows, columns);
  for (float& entry : made.reshaped<Eigen::RowMajor>()) entry = static_cast<float>(deviation * random.normal());
  return made;
}

/// The account of 16 heads of random weights, over 16 documents of random words at random positions.
HeadAccount account_of_random_weights(AttentionKind kind, std::uint64_t seed) {
  constexpr Index heads = 16, d_head = 8, d_model = 32, vocabulary = 100, length = 48, documents = 16;
  Random random(seed);
  const Matrix32 words = normal_numbers(vocabulary, d_model, 1, random);
  const Matrix32 positions = normal_numbers(length, d_model, 1, random);
  const Matrix32 w_query = normal_numbers(d_model, heads * d_head, 1 / std::sqrt(d_model), random);
  const Matrix32 w_key = normal_numbers(d_model, heads * d_head, 1 / std::sqrt(d_model), random);
  Stack stack = drawn_stack(d_head, kind == AttentionKind::causal);
  stack.block.heads = stack.block.kv_heads = heads;
  const AccountSite site{{{0}, heads}, kind, length, 16, &stack, false, length};
  AccountSums sums;
  const auto states = [&] {
    Matrix32 drawn = positions;
    for (Index i = 0; i < length; ++i) drawn.row(i) += words.row(random.below(vocabulary));
    return drawn;
  };
  for (Index number = 0; number < documents; ++number) {
    AccountProbe probe(site, number, {}, true);
    std::array<Probe*, 1> probes{&probe};
    const Matrix32 asking = states(), asked = kind == AttentionKind::cross ? states() : asking;
    const Matrix32 query = asking * w_query, key = asked * w_key;
    const HeadInputs<float> inputs{query, key, {}, heads, heads, 1 / std::sqrt(d_head)};
    attend<float>(inputs, {kind == AttentionKind::causal, {}, 0}, {0, kind}, probes);
    add_to(sums, probe.taken());
  }
  HeadAccountOptions options;
  options.seed = seed;
  return head_account(sums, site, options);
}

}  // namespace

TEST_CASE("nine of ten intervals hold the parts of a mixture, over 24 documents", "[chance]") {
  struct Mixture {
    double self, next;
  };
  for (const Mixture& mixture : {Mixture{1.5, 0}, Mixture{3, 0}, Mixture{0, 3}}) {
    DrawnHead mixed = small();
    mixed.amplitudes = {0.9, 0.8, 0.7, 0.6};
    mixed.offset = -3;
    mixed.noise = 0.8;
    mixed.self = mixture.self;
    mixed.next = mixture.next;
    mixed.followed = mixture.next > 0 ? 0.8 : 0;
    const std::size_t other = mixture.next > 0 ? 2 : 1;  // context, or self
    HeadAccountOptions options;
    options.draws = 0;
    const HeadAccount truth = DrawnJob({mixed}, 1500, Random(1000)).account(options);
    constexpr Index repeats = 120;
    // Every head is a drawing of its own.
    const DrawnJob job(std::vector<DrawnHead>(repeats, mixed), 24, Random(11));
    const HeadAccount account = job.account(options);
    for (const std::size_t part : {std::size_t{0}, other}) {
      const double expected = truth.part[part].value[0];
      Index covered = 0;
      for (Index r = 0; r < repeats; ++r)
        covered += account.part[part].lower[r] <= expected && expected <= account.part[part].upper[r] ? 1 : 0;
      WARN("self " << mixture.self << ", next " << mixture.next << ": part " << part << " is " << expected
                   << " with 1500 documents, " << account.part[part].value.mean() << " on average with 24, covered "
                   << covered << " of " << repeats);
      CHECK(covered >= 96);  // 90 %, less three standard errors
    }
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

TEST_CASE("of heads of random weights at most the stated share has a preference, over 5 seeds", "[chance]") {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross}) {
    Index called = 0, strong = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const HeadAccount account = account_of_random_weights(kind, seed);
      called += with_preference(account);
      strong += (account.strength.array() >= HeadAccount::least_strength).count();
    }
    WARN(name_of(kind) << ": called " << called << " of 80, of which " << strong << " have strength");
    CHECK(called <= 4);  // 5 %
  }
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
