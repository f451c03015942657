// Whether words, pairs of words and directions are named falsely no more often than attention_bits() says.

#include <cmath>

#include "../../analysis/why/attention_bits.h"
#include "../../analysis/why/head_account.h"
#include "../../core/attention/attend.h"
#include "../analysis/found_field.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr Index chance_heads = 40, chance_width = 12, chance_length = 48, chance_documents = 16, chance_vocabulary = 60;

/// Every second head: queries and keys drawn anew for every token, so that words tell nothing. The others: sharper or broader
/// attention to the places before, by a number drawn for every query, and keys with contents that nobody reads.
std::vector<Field> bits_of_chance(std::uint64_t seed) {
  Stack stack;
  stack.block.heads = stack.block.kv_heads = chance_heads;
  stack.block.d_head = chance_width;
  const AccountSite site{{{0}, chance_heads}, AttentionKind::self, chance_length, 16, &stack, false, chance_length};
  Site whole;
  whole.grid = site.grid;
  whole.length = whole.key_length = chance_length;
  AccountSums sums;
  AttendedKeySums keys;
  Random random(seed);
  for (Index number = 0; number < chance_documents; ++number) {
    Document document;
    for (Index i = 0; i < chance_length; ++i) {
      // Few words are common, most are rare, as in a text.
      const double u = random.uniform();
      document.ids.push_back(static_cast<std::int32_t>(std::floor(chance_vocabulary * u * u * u)));
      document.tokens.push_back("w");
    }
    Matrix32 query = Matrix32::Zero(chance_length, chance_heads * chance_width), key = query;
    for (Index head = 0; head < chance_heads; ++head)
      for (Index i = 0; i < chance_length; ++i) {
        auto q = query.row(i).segment(head * chance_width, chance_width);
        auto k = key.row(i).segment(head * chance_width, chance_width);
        if (head % 2 == 0) {
          for (float& one : q) one = static_cast<float>(random.normal());
          for (float& one : k) one = static_cast<float>(0.6 * random.normal());
          continue;
        }
        const double sharp = std::exp(0.5 * random.normal());
        for (Index wave = 0; wave < 4; ++wave) {
          const double turn = 2 * std::numbers::pi * static_cast<double>(wave + 1) / chance_length;
          const auto at = static_cast<double>(i);
          q[2 * wave] = static_cast<float>(sharp * std::cos(turn * (at - 2)));
          q[2 * wave + 1] = static_cast<float>(sharp * std::sin(turn * (at - 2)));
          k[2 * wave] = static_cast<float>(std::cos(turn * at));
          k[2 * wave + 1] = static_cast<float>(std::sin(turn * at));
        }
        for (Index c = 8; c < chance_width; ++c) k[c] = static_cast<float>(random.normal());
      }
    AccountProbe probe(site, number, document, true);
    AttendedKeyProbe key_probe(whole, number, document);
    std::array<Probe*, 2> probes{&probe, &key_probe};
    const HeadInputs<float> inputs{query, key, {}, chance_heads, chance_heads, 1.0};
    attend<float>(inputs, {false, {}, 0}, {0, AttentionKind::self}, probes);
    add_to(sums, probe.taken());
    add_to(keys, key_probe.taken());
  }
  return attention_bits({site, std::move(sums.halves)}, keys);
}

}  // namespace

TEST_CASE("of heads that know no words at most the stated share has words, pairs or directions, over 5 seeds",
          "[chance]") {
  Index words = 0, pairs = 0, ends = 0, directions = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Field> bits = bits_of_chance(seed);
    // Whether any id is named for a head.
    const auto named = [&](const char* field, std::size_t head) {
      const auto& ids = std::get<std::vector<std::int64_t>>(field_of(bits, field).values);
      const std::size_t each = ids.size() / chance_heads;
      const auto first = ids.begin() + static_cast<std::ptrdiff_t>(head * each);
      return std::any_of(first, first + static_cast<std::ptrdiff_t>(each), [](std::int64_t id) { return id >= 0; });
    };
    const auto& counts = std::get<std::vector<std::int64_t>>(field_of(bits, "matched_content/directions").values);
    for (std::size_t head = 0; head < chance_heads; ++head) {
      words += named("attention_words/word_id", head) ? 1 : 0;
      pairs += named("matched_content/pair_query_id", head) ? 1 : 0;
      ends += named("matched_content/direction_word_id", head) ? 1 : 0;
      if (head % 2 == 1) directions += counts[head] > 0 ? 1 : 0;
    }
  }
  WARN("of 200 heads " << words << " have words, " << pairs << " pairs, " << ends << " words of directions; of 100 "
                       << directions << " have directions");
  // 10 % each, and three standard errors
  CHECK(words <= 32);
  CHECK(pairs <= 32);
  CHECK(ends <= 32);
  CHECK(directions <= 19);
}
