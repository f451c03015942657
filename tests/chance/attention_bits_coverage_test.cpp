// Whether the intervals of the account in bits cover as often as they say: heads that mix places, words, matches and a sink,
// by strengths that differ from document to document.

#include <array>
#include <cmath>

#include "../../analysis/why/attention_bits.h"
#include "../../analysis/why/head_account.h"
#include "../../core/attention/attend.h"
#include "../analysis/found_field.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index mixed_heads = 3, mixed_length = 48, mixed_words = 40;
constexpr Index mixed_places = mixed_length + 1, mixed_one = mixed_places + mixed_words, mixed_width = mixed_one + 9;

/// @param accounted  documents whose attention is accounted for
std::vector<Field> bits_of_mixtures(Index documents, Index accounted, std::uint64_t seed) {
  Stack stack;
  stack.block.heads = stack.block.kv_heads = mixed_heads;
  stack.block.d_head = mixed_width;
  stack.block.causal = true;
  const AccountSite site{{{0}, mixed_heads}, AttentionKind::causal, mixed_length, 16, &stack, false, mixed_length};
  AccountSums sums;
  const Random random(seed);
  for (Index number = 0; number < documents; ++number) {
    Random own = random.stream(static_cast<std::uint64_t>(number));
    Matrix32 query = Matrix32::Zero(mixed_length, mixed_heads * mixed_width), key = query;
    const auto strength = [&](double mean) { return static_cast<float>(mean + 0.7 * own.normal()); };
    const std::array of{strength(3), strength(2), strength(4), strength(2), strength(3), strength(1)};
    for (Index n = 0; n < mixed_length; ++n) {
      const Index word = own.below(mixed_words);
      const auto q = [&](Index head, Index channel) -> float& { return query(n, head * mixed_width + channel); };
      const auto k = [&](Index head, Index channel) -> float& { return key(n, head * mixed_width + channel); };
      // The token before and five words; the same word and the first token; the token before and noise.
      q(0, n) = of[0];
      q(0, mixed_one) = of[1];
      k(0, n + 1) = 1;
      k(0, mixed_one) = word < 5 ? 1.F : 0.F;
      q(1, mixed_places + word) = of[2];
      q(1, mixed_one) = of[3];
      k(1, mixed_places + word) = 1;
      k(1, mixed_one) = n == 0 ? 1.F : 0.F;
      q(2, n) = of[4];
      k(2, n + 1) = 1;
      for (Index c = 1; c < 9; ++c) {
        q(2, mixed_one + c) = static_cast<float>(own.normal()) * of[5] / 3;
        k(2, mixed_one + c) = static_cast<float>(own.normal());
      }
    }
    AccountProbe probe(site, number, {}, true);
    std::array<Probe*, 1> probes{&probe};
    const HeadInputs<float> inputs{query, key, {}, mixed_heads, mixed_heads, 1.0};
    attend<float>(inputs, {true, {}, 0}, {0, AttentionKind::causal}, probes);
    add_to(sums, probe.taken());
  }
  return attention_bits({site, std::move(sums.halves)}, {}, {.documents = accounted});
}

/// All bits (number 0), or one of the four parts; or an end of its interval.
/// @param end  "_lower", "_upper", or empty
double number_of(const std::vector<Field>& fields, std::size_t number, std::size_t head, const std::string& end = "") {
  return number == 0 ? field_of(fields, "attention_bits/bits" + end).doubles()[head]
                     : field_of(fields, "attention_bits/part" + end).doubles()[(number - 1) * mixed_heads + head];
}

}  // namespace

TEST_CASE("intervals of bits and of every part that matters cover about 90 of 100 planted mixtures", "[chance]") {
  constexpr int drawn = 100, large = 10;
  std::array<std::array<double, 5>, mixed_heads> truth{};  // what many documents give
  for (std::uint64_t draw = 0; draw < large; ++draw) {
    const std::vector<Field> bits = bits_of_mixtures(200, 200, 1000 + draw);
    for (std::size_t head = 0; head < mixed_heads; ++head)
      for (std::size_t number = 0; number < 5; ++number) truth[head][number] += number_of(bits, number, head) / large;
  }
  std::array<std::array<int, 5>, mixed_heads> covered{};
  for (std::uint64_t draw = 1; draw <= drawn; ++draw) {
    const std::vector<Field> bits = bits_of_mixtures(40, 16, draw);
    for (std::size_t head = 0; head < mixed_heads; ++head)
      for (std::size_t number = 0; number < 5; ++number) {
        const bool above = number_of(bits, number, head, "_lower") <= truth[head][number];
        covered[head][number] += above && truth[head][number] <= number_of(bits, number, head, "_upper") ? 1 : 0;
      }
  }
  int all = 0, numbers = 0;
  for (std::size_t head = 0; head < mixed_heads; ++head)
    for (std::size_t number = 0; number < 5; ++number) {
      if (std::abs(truth[head][number]) < 0.1) continue;
      CAPTURE(head, number, truth[head][number], covered[head][number]);
      CHECK((covered[head][number] >= 80 && covered[head][number] <= 98));  // 90, and three deviations of 100 draws
      all += covered[head][number];
      ++numbers;
    }
  CHECK(numbers == 10);
  CHECK((all >= 850 && all <= 950));
}

TEST_CASE("a head that finds the same word has no position, from 16 documents on", "[chance]") {
  // The means of so few documents hold each document's own words.
  double position = 0;
  for (std::uint64_t draw = 1; draw <= 10; ++draw) position += number_of(bits_of_mixtures(16, 16, draw), 2, 1) / 10;
  CHECK(std::abs(position) < 0.06);
}
