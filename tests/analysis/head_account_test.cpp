#include "../../analysis/why/head_account.h"

#include <cmath>
#include <numbers>

#include "../../core/attention/position_term.h"
#include "../catch.h"
#include "drawn_documents.h"
#include "found_field.h"

using namespace headwave;

namespace {

DrawnHead waves(double noise = 0.5) {
  DrawnHead head;
  head.amplitudes = {0.9, 0.8, 0.7, 0.6};
  head.offset = -3;
  head.noise = noise;
  return head;
}

DrawnHead words(double self, double next) {
  DrawnHead head;
  head.self = self;
  head.next = next;
  head.noise = 0.3;
  return head;
}

}  // namespace

TEST_CASE("planted heads are called what they are", "[analysis]") {
  DrawnHead noise, sink, table;
  noise.noise = 1.5;
  sink.sink = 6;
  sink.noise = 0.5;
  table.random_positions = 1;
  table.noise = 0.3;
  DrawnHead equal_words = words(5, 0);
  equal_words.followed = 0;
  const DrawnJob job({waves(), equal_words, words(0, 5), noise, sink, table}, 24, Random(1));
  const HeadAccount account = job.account();
  CHECK(account.verdict == std::vector<AccountVerdict>{AccountVerdict::positional, AccountVerdict::own_token,
                                                       AccountVerdict::context, AccountVerdict::no_preference,
                                                       AccountVerdict::no_preference, AccountVerdict::no_preference});
  CHECK(account.overlap[0][0] > 0.95 * account.overlap.back()[0]);
  CHECK(account.measured_offset[0] == -3);
  CHECK(account.offset[0][0] == -3);
  CHECK(account.part[1][1] > 0.9);
  CHECK(account.part[2][2] > 0.9);
  CHECK(account.measured_offset[2] == 1);
  // A sink draws nothing to an offset; a table without order has a profile that replicates, and is not above its null.
  CHECK(account.strength[4] < 0.05);
  CHECK(account.overlap.back()[5] > 0.5);
  CHECK(account.q_value[5] > 0.05);
  CHECK(account.q_value[0] <= 0.05);
  for (const Index row : {0, 1, 2, 5})
    CHECK(account.part[0][row] + account.part[1][row] + account.part[2][row] == Approx(1));
}

TEST_CASE("words that meet themselves take part from position, the more the stronger", "[analysis]") {
  std::vector<DrawnHead> heads;
  for (const double self : {0.0, 1.5, 3.0, 5.0}) {
    heads.push_back(waves(0.3));
    heads.back().self = self;
    heads.back().followed = 0;
  }
  const HeadAccount account = DrawnJob(heads, 32, Random(3)).account();
  for (Index row = 1; row < 4; ++row) {
    CHECK(account.part[0][row] < account.part[0][row - 1]);
    CHECK(account.part[1][row] > account.part[1][row - 1]);
    CHECK(account.part_lower[1][row] < account.part[1][row]);
    CHECK(account.part[2][row] < 0.1);
  }
  CHECK(account.verdict.front() == AccountVerdict::positional);
}

TEST_CASE("what queries and keys of the same documents share does not pass for position", "[analysis]") {
  // Of few documents means hold a part of each content; queries and keys of one half would meet in it at t = 0.
  DrawnHead head = words(6, 0);
  head.followed = 0;
  const HeadAccount account = DrawnJob({head, head, head, head}, 8, Random(5)).account();
  for (Index row = 0; row < 4; ++row) {
    CHECK(account.part[0][row] < 0.1);
    CHECK(account.part[1][row] > 0.5);
  }
}

TEST_CASE("rotary positions are positions: constant queries and keys, and contents without order", "[analysis]") {
  RotaryOptions options;
  options.channels = 8;
  options.base = 20;
  Stack stack = drawn_stack(8, true);
  stack.position_term = {.turned = std::make_shared<RotaryTerm>(options)};
  AccountSite site{{{0}, 1}, AttentionKind::causal, 96, 24, &stack};
  AccountSums sums;
  Random random(7);
  // Every pair of channels asks for two tokens back: key = query turned by 2 theta_m.
  const Vector frequency = stack.position_term.turned->frequency(96);
  for (Index number = 0; number < 16; ++number) {
    Matrix32 query(96, 8), key(96, 8);
    for (Index n = 0; n < 96; ++n)
      for (Index m = 0; m < 4; ++m) {
        const double turn = 2 * frequency[m];
        query(n, m) = static_cast<float>(1.4 + 0.5 * random.normal());
        query(n, m + 4) = static_cast<float>(0.5 * random.normal());
        key(n, m) = static_cast<float>(1.4 * std::cos(turn) + 0.5 * random.normal());
        key(n, m + 4) = static_cast<float>(1.4 * std::sin(turn) + 0.5 * random.normal());
      }
    AccountProbe probe(site, number, {}, true);
    std::array<Probe*, 1> probes{&probe};
    const HeadInputs<float> inputs{query, key, {}, 1, 1, 1.0, stack.position_term};
    attend<float>(inputs, {true, -1, -1, {}, 0}, {0, AttentionKind::causal, nullptr}, probes);
    add_to(sums, probe.taken());
  }
  const HeadAccount account = head_account(sums, site);
  CHECK(account.measured_offset[0] == -2);
  CHECK(account.offset[0][0] == -2);
  CHECK(account.verdict[0] == AccountVerdict::positional);
  CHECK(account.part[0][0] > 0.95);
  CHECK(std::isnan(account.measured(0, 25)));  // the mask forbids it
}

TEST_CASE("an added position term is part of what positions give", "[analysis]") {
  const Index length = 64, heads = 2;
  Stack stack = drawn_stack(4, true);
  stack.block.heads = stack.block.kv_heads = heads;
  stack.block.score_scale = 0.5;
  stack.position_term = {.added = std::make_shared<LinearBias>(heads)};
  AccountSite site{{{0}, heads}, AttentionKind::causal, length, 16, &stack};
  AccountSums sums;
  Random random(9);
  for (Index number = 0; number < 12; ++number) {
    Matrix32 query(length, heads * 4), key(length, heads * 4);
    for (float& entry : query.reshaped()) entry = static_cast<float>(0.1 * random.normal());
    for (float& entry : key.reshaped()) entry = static_cast<float>(0.1 * random.normal());
    AccountProbe probe(site, number, {}, true);
    std::array<Probe*, 1> probes{&probe};
    const HeadInputs<float> inputs{query, key, {}, heads, heads, 0.5, stack.position_term};
    attend<float>(inputs, {true, -1, -1, {}, 0}, {0, AttentionKind::causal, nullptr}, probes);
    add_to(sums, probe.taken());
  }
  const HeadAccount account = head_account(sums, site);
  CHECK(account.overlap[0][0] > 0.99 * account.overlap.back()[0]);
  CHECK(account.verdict[0] == AccountVerdict::positional);
  CHECK(account.offset[0][0] == 0);
}

TEST_CASE("in cross-attention positions and context are told apart, and nothing meets itself", "[analysis]") {
  // 72 queries look at 96 keys. The same word at the same place of both is context, as nothing is itself.
  std::vector<DrawnHead> heads{waves(), words(5, 0), words(0, 5), DrawnHead()};
  heads[3].noise = 1.5;
  heads.push_back(waves(0.3));
  heads[4].self = 3;
  DrawnHead table;
  table.random_positions = 1;
  table.noise = 0.3;
  heads.push_back(table);
  for (DrawnHead& head : heads) {
    head.queries = 72;
    head.followed = head.self > 0 ? 0 : head.followed;
  }
  const HeadAccount account = DrawnJob(heads, 24, Random(12)).account();
  CHECK(account.verdict == std::vector<AccountVerdict>{AccountVerdict::positional, AccountVerdict::context,
                                                       AccountVerdict::context, AccountVerdict::no_preference,
                                                       AccountVerdict::mixed, AccountVerdict::no_preference});
  CHECK(account.overlap[0][0] > 0.95 * account.overlap.back()[0]);
  CHECK(account.measured_offset[0] == -3);
  CHECK(account.offset[0][0] == -3);
  CHECK(account.measured_offset[1] == 0);
  CHECK(account.measured_offset[2] == 1);
  // What contents have in common on average, by distance, gives more than half of both, at t = 0 too.
  for (const Index row : {1, 2}) CHECK(account.overlap[2][row] > 0.5 * account.overlap.back()[row]);
  for (Index row = 0; row < 6; ++row) {
    CHECK(std::isnan(account.part[1][row]));
    CHECK(std::isnan(account.overlap[1][row]));
    CHECK(std::isnan(account.profile[1](row, 24)));
    if (row != 3) CHECK(account.part[0][row] + account.part[2][row] == Approx(1));  // noise has no parts
  }
  CHECK(account.overlap.back()[5] > 0.5);  // of a table without order
  const std::vector<Field> fields = describe(account);
  CHECK_THAT(std::get<std::string>(field_of(fields, "head_account/part").attributes.at("undefined")),
             ContainsSubstring("no token meets itself"));
}

TEST_CASE("an account does not depend on threads or on how its sums were joined, and its draws do on the seed",
          "[analysis]") {
  const std::vector<DrawnHead> heads{waves(), words(3, 0)};
  const DrawnJob job(heads, 12, Random(6));
  HeadAccountOptions options;
  options.draws = 6;
  const HeadAccount one = job.account(options);
  options.threads = 3;
  const HeadAccount three = job.account(options);
  CHECK(one.profile[1] == three.profile[1]);
  CHECK(one.part_lower[0] == three.part_lower[0]);
  CHECK(one.null_strength == three.null_strength);
  options.seed = 2;
  const HeadAccount other = job.account(options);
  CHECK(one.measured == other.measured);
  CHECK(one.profile[0] != other.profile[0]);
  CHECK(one.null_strength[0] != other.null_strength[0]);
  CHECK(one.verdict == other.verdict);
}

TEST_CASE("few documents give no verdict, one document no measure", "[analysis]") {
  const HeadAccount seven = DrawnJob({waves()}, 7, Random(7)).account();
  CHECK(seven.verdict[0] == AccountVerdict::undefined);
  CHECK(seven.part[0][0] > 0.9);
  const HeadAccount one = DrawnJob({waves()}, 1, Random(7)).account();
  CHECK(one.verdict[0] == AccountVerdict::undefined);
  CHECK(std::isnan(one.part[0][0]));
  CHECK(std::isnan(one.overlap.back()[0]));
  HeadAccountOptions without;
  without.draws = 0;
  const HeadAccount no_null = DrawnJob({waves()}, 8, Random(7)).account(without);
  CHECK(no_null.verdict[0] == AccountVerdict::no_preference);
  CHECK(std::isnan(no_null.q_value[0]));
}

TEST_CASE("where positions are zero no head is positional, whatever texts have in common at a place", "[analysis]") {
  const DrawnJob job({waves()}, 8, Random(7));
  AccountSite site = job.site_here();
  const auto verdict = [&] { return head_account(job.sums, site).verdict[0]; };
  CHECK(verdict() == AccountVerdict::positional);
  site.no_positions = true;
  CHECK(verdict() == AccountVerdict::context);
  site.kind = AttentionKind::causal;
  CHECK_FALSE(site.tells_places(0));
  site.grid.layers = {1};
  CHECK(site.tells_places(0));  // which may count the keys that the mask leaves
}

TEST_CASE("as many documents are dealt as 4096 tokens take, even and odd ones alike", "[analysis]") {
  CHECK(dealt_documents(100, 512) == 8);
  CHECK(dealt_documents(100, 128) == 32);
  CHECK(dealt_documents(5, 512) == 5);
  const DrawnJob job({waves()}, 21, Random(8), 6);
  CHECK(job.sums.halves[0].documents == 11);
  CHECK(job.sums.halves[1].documents == 10);
  for (const AccountHalf& half : job.sums.halves) CHECK(half.to_deal.size() == 3);
  CHECK(job.account().dealt == 6);
}
