#include "../../analysis/why/attention_bits.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "../../core/attention/attend.h"
#include "../catch.h"
#include "found_field.h"

using namespace headwave;

namespace planted_bits {  // other tests of the room have the same short names

namespace {

constexpr Index length = 64, words = 40, planted_heads = 8;
constexpr Index places = length + 1, one = places + words, width = one + 1;  // channels: places, words, one for all

enum Planted : Index { noise, previous_place, five_words, same_word, induction, first_token, words_and_place, uniform };

/// Queries and keys of one document of words w, whose second half repeats the first: (T, heads * width) each.
LayerQueriesKeys planted_document(const std::vector<std::int32_t>& w, Random& random) {
  LayerQueriesKeys drawn{Matrix32::Zero(length, planted_heads * width), Matrix32::Zero(length, planted_heads * width)};
  for (Index n = 0; n < length; ++n) {
    const auto query = [&](Planted head, Index channel) -> float& { return drawn.query(n, head * width + channel); };
    const auto key = [&](Planted head, Index channel) -> float& { return drawn.key(n, head * width + channel); };
    const Index word = w[static_cast<std::size_t>(n)];
    const bool draws = word < 5;
    for (Index c = 0; c < 64; ++c) {
      query(noise, c) = static_cast<float>(0.9 * random.normal() / 8);
      key(noise, c) = static_cast<float>(0.9 * random.normal());
    }
    query(previous_place, n) = 6;
    key(previous_place, n + 1) = 1;
    query(five_words, one) = 3;
    key(five_words, one) = draws ? 1.F : 0.F;
    query(same_word, places + word) = 5;
    key(same_word, places + word) = 1;
    query(induction, places + word) = 5;
    if (n > 0) key(induction, places + w[static_cast<std::size_t>(n - 1)]) = 1;
    query(first_token, one) = 6;
    key(first_token, one) = n == 0 ? 1.F : 0.F;
    query(words_and_place, n) = query(words_and_place, one) = 3;
    key(words_and_place, n + 1) = 1;
    key(words_and_place, one) = draws ? 1.F : 0.F;
  }
  return drawn;
}

/// Words 0 to 4, which draw attention in a planted head, begin with a capital; 5 to 9 are digits.
std::string text_of(std::int32_t id) {
  return id < 5 ? std::string("W") + static_cast<char>('a' + id) : id < 10 ? std::to_string(id) : std::string("w");
}

Stack planted_stack(bool causal) {
  Stack stack;
  stack.block.heads = stack.block.kv_heads = planted_heads;
  stack.block.d_head = width;
  stack.block.causal = causal;
  return stack;
}

/// Head 0 reads the tokens 1 and 3 places back in equal parts, head 1 the one 40 back, head 2 the token before in the
/// second half of the document alone; the others read everything.
LayerQueriesKeys planted_places(const std::vector<std::int32_t>& /*w*/, Random& /*random*/) {
  LayerQueriesKeys drawn{Matrix32::Zero(length, planted_heads * width), Matrix32::Zero(length, planted_heads * width)};
  for (Index n = 0; n < length; ++n) {
    drawn.key(n, n) = drawn.key(n, width + n) = drawn.key(n, 2 * width + n) = 1;
    if (n >= length / 2) drawn.query(n, 2 * width + n - 1) = 8;
    if (n >= 1) drawn.query(n, n - 1) = 8;
    if (n >= 3) drawn.query(n, n - 3) = 8;
    if (n >= 40) drawn.query(n, width + n - 40) = 8;
  }
  return drawn;
}

/// Every head matches one number of the word of the query with one of the key's, along a channel; the others read nothing.
LayerQueriesKeys planted_direction(const std::vector<std::int32_t>& w, Random& /*random*/) {
  LayerQueriesKeys drawn{Matrix32::Zero(length, planted_heads * width), Matrix32::Zero(length, planted_heads * width)};
  const auto number = [](std::int32_t word) { return static_cast<float>(2 * std::sin(7.0 * word + 1)); };
  for (Index n = 0; n < length; ++n) {
    drawn.query(n, 3) = 2 * number(w[static_cast<std::size_t>(n)]);
    drawn.key(n, 3) = number(w[static_cast<std::size_t>(n)]);
  }
  return drawn;
}

/// @param keys  gets what the chosen queries give to each key
AccountHalves planted(const Stack& stack, Index documents, std::uint64_t seed, bool with_ids = true,
                      AttendedKeySums* keys = nullptr,
                      LayerQueriesKeys (*queries_keys)(const std::vector<std::int32_t>&, Random&) = planted_document) {
  const AttentionKind kind = stack.block.causal ? AttentionKind::causal : AttentionKind::self;
  const AccountSite site{{{0}, planted_heads}, kind, length, 24, &stack, false, length};
  AccountSums sums;
  const Random random(seed);
  for (Index number = 0; number < documents; ++number) {
    Random own = random.stream(static_cast<std::uint64_t>(number));
    Document document;
    std::vector<std::int32_t> w(length);
    for (Index n = 0; n < length; ++n)
      w[static_cast<std::size_t>(n)] =
          n < length / 2 ? static_cast<std::int32_t>(own.below(words)) : w[static_cast<std::size_t>(n - length / 2)];
    if (with_ids) document.ids = w;
    for (const std::int32_t id : document.ids) document.tokens.push_back(text_of(id));
    const LayerQueriesKeys drawn = queries_keys(w, own);
    AccountProbe probe(site, number, document, true);
    AttendedKeyProbe key_probe(site, number, document, chosen_rows(length, AttentionBitsOptions().rows));
    std::array<Probe*, 2> probes{&probe, &key_probe};
    const HeadInputs<float> inputs{drawn.query, drawn.key, {}, planted_heads, planted_heads, 1.0};
    attend<float>(inputs, {stack.block.causal, {}, 0}, {0, kind}, probes);
    add_to(sums, probe.taken());
    if (keys != nullptr) add_to(*keys, key_probe.taken());
  }
  return {site, std::move(sums.halves)};
}

double part(const AttentionBits& bits, BitsPart part, Index head) {
  return bits.part[static_cast<std::size_t>(part)].value[head];
}
double gain(const AttentionBits& bits, BitsHypothesis hypothesis, Index head) {
  return bits.gain[static_cast<std::size_t>(hypothesis)].value[head];
}

}  // namespace

TEST_CASE("planted heads: all of their attention, in the part it belongs to", "[analysis]") {
  const Stack stack = planted_stack(true);
  AttentionBitsOptions options;
  options.documents = 40;
  options.word_draws = 32;
  for (const std::uint64_t seed : {3U, 4U}) {
    const AttentionBits bits = attention_bits(planted(stack, 40, seed), options);
    const auto mainly = [&](Planted head, BitsPart named) {
      CAPTURE(seed, head, bits.bits.value[head], part(bits, BitsPart::sink, head), part(bits, BitsPart::position, head),
              part(bits, BitsPart::word, head), part(bits, BitsPart::match, head));
      CHECK(part(bits, named, head) >= 0.9 * bits.bits.value[head]);
    };
    mainly(noise, BitsPart::match);
    mainly(previous_place, BitsPart::position);
    mainly(five_words, BitsPart::word);
    mainly(same_word, BitsPart::match);
    mainly(induction, BitsPart::match);
    mainly(first_token, BitsPart::sink);
    CHECK(bits.bits.value[uniform] == Approx(0).margin(1e-5));
    CHECK(part(bits, BitsPart::position, words_and_place) > 0.25 * bits.bits.value[words_and_place]);
    CHECK(part(bits, BitsPart::word, words_and_place) > 0.5 * bits.bits.value[words_and_place]);
    // Who asks does not matter for a head that words draw; what explains each head does, and nothing else gains.
    CHECK(gain(bits, BitsHypothesis::word_itself, five_words) > 0.85 * part(bits, BitsPart::word, five_words));
    CHECK(gain(bits, BitsHypothesis::same_word, same_word) > 0.9 * part(bits, BitsPart::match, same_word));
    CHECK(gain(bits, BitsHypothesis::induction, induction) > 0.9 * part(bits, BitsPart::match, induction));
    for (const HeadNumber& hypothesis : bits.gain) {
      CHECK(hypothesis.value[noise] < 0.02);
      CHECK(hypothesis.value[previous_place] < 0.02);
    }
    CHECK(gain(bits, BitsHypothesis::same_word, five_words) < 0.02);
    CHECK(gain(bits, BitsHypothesis::induction, five_words) < 0.02);
  }
}

TEST_CASE("a head that matches one direction loses its strongest keys without it, and little without a random one",
          "[analysis]") {
  const Stack stack = planted_stack(true);
  const MatchedContent content = attention_bits(planted(stack, 16, 5, true, nullptr, planted_direction)).content;
  CHECK(content.directions[0] == 1);
  CHECK(content.gain[static_cast<std::size_t>(MatchTilt::one)].value[0] > 0.5);
  CHECK(content.without.value[0] < 0.35);
  CHECK(content.without.upper[0] < content.placebo.lower[0]);
  CHECK(content.placebo.value[0] > 0.8);
  CHECK(std::isnan(content.without.value[1]));  // uniform attention: no key stands out
}

TEST_CASE("planted heads: attention follows the content of words that draw or match, and stays with places",
          "[analysis]") {
  const Stack stack = planted_stack(true);
  AttentionBitsOptions options;
  options.documents = 40;
  const AttentionBits bits = attention_bits(planted(stack, 40, 3), options);
  const Vector &follow = bits.follow.value, &kept = bits.kept.value;
  CAPTURE(follow, kept);
  CHECK(follow[previous_place] < 0.01);
  CHECK(kept[previous_place] > 0.99);
  CHECK(follow[five_words] > 0.9);
  CHECK(kept[five_words] > 0.9);
  for (const Planted head : {same_word, induction}) {
    CHECK(follow[head] > 0.95);
    CHECK(kept[head] < 0.1);
  }
  CHECK(follow[words_and_place] > 0.4);
  CHECK(follow[words_and_place] < 0.9);
  for (const Planted head : {previous_place, five_words, same_word, induction, words_and_place}) {
    CHECK(bits.trials[head] > 300);
    CHECK(bits.follow.lower[head] <= follow[head]);
    CHECK(bits.follow.upper[head] >= follow[head]);
  }
  for (const Planted head : {first_token, uniform}) {  // no text key stands out
    CHECK(bits.trials[head] == 0);
    CHECK(std::isnan(follow[head]));
    CHECK(std::isnan(kept[head]));
  }
}

TEST_CASE("planted heads: every place that position makes a head look at is named, at any distance", "[analysis]") {
  const Stack stack = planted_stack(true);
  const AttentionBits bits = attention_bits(planted(stack, 12, 3, true, nullptr, planted_places));
  const std::vector<NamedPlace>& two = bits.places[0];
  REQUIRE(two.size() == 2);
  CHECK(std::min(two[0].offset, two[1].offset) == -3);
  CHECK(std::max(two[0].offset, two[1].offset) == -1);
  CHECK(two[0].first == two[0].offset);
  CHECK(two[0].weight == Approx(0.5).margin(0.02));
  CHECK(two[0].by_position == Approx(two[0].weight).margin(0.01));
  REQUIRE(bits.places[1].size() == 1);
  CHECK(bits.places[1].front().offset == -40);
  REQUIRE(bits.places[2].size() == 1);
  CHECK(bits.places[2].front().offset == -1);
  CHECK(bits.by_band[2].differs);
  CHECK(bits.by_band[2].weight[0] < 0.2);
  CHECK(bits.by_band[2].weight[3] > 0.9);
  CHECK(!bits.by_band[0].differs);
  for (std::size_t head = 3; head < static_cast<std::size_t>(planted_heads); ++head) CHECK(bits.places[head].empty());
  const AttentionBits drawn = attention_bits(planted(stack, 12, 3));
  CHECK(!drawn.by_band[previous_place].differs);
  REQUIRE(drawn.places[previous_place].size() == 1);
  CHECK(drawn.places[previous_place].front().offset == -1);
  REQUIRE(drawn.places[words_and_place].size() == 1);
  CHECK(drawn.places[words_and_place].front().offset == -1);
  CHECK(drawn.places[uniform].empty());
}

TEST_CASE("parts of attention in bits add up to all of it, and all of it is what its definition says", "[analysis]") {
  const Stack stack = planted_stack(false);
  const AccountHalves halves = planted(stack, 10, 5);
  const AttentionBits bits = attention_bits(halves);
  Vector direct = Vector::Zero(planted_heads);
  for (const AccountHalf& half : halves.halves)
    for (const AccountDocument& document : half.to_deal) {
      const Matrix query = document.layers.front().query.cast<double>(),
                   key = document.layers.front().key.cast<double>();
      for (Index head = 0; head < planted_heads; ++head) {
        Matrix scores = query.middleCols(head * width, width) * key.middleCols(head * width, width).transpose();
        for (Index i = 1; i < length; ++i) {  // the first token asks for nothing: it is never dealt
          const Eigen::ArrayXd weights = (scores.row(i).array() - scores.row(i).maxCoeff()).exp();
          const Eigen::ArrayXd a = weights / weights.sum();
          direct[head] += (a * (a * length).log()).sum() / std::log(2.0) / (10 * (length - 1));
        }
      }
    }
  for (Index head = 0; head < planted_heads; ++head) {
    double sum = 0;
    for (const HeadNumber& one : bits.part) sum += one.value[head];
    CHECK(sum == Approx(bits.bits.value[head]).margin(1e-12));
    CHECK(bits.bits.value[head] == Approx(direct[head]).margin(1e-5));
    CHECK(bits.bits.lower[head] <= bits.bits.value[head]);
    CHECK(bits.bits.upper[head] >= bits.bits.value[head]);
    // No special token, no causal mask: nothing is a sink.
    CHECK(bits.sink_mass[head] == Approx(0).margin(1e-6));
    CHECK(part(bits, BitsPart::sink, head) == Approx(0).margin(1e-5));
  }
}

TEST_CASE("a learned sink is a sink", "[analysis]") {
  Stack stack = planted_stack(false);
  Block block;
  const std::vector<float> sinks(planted_heads, 5.F);
  block.self.sinks = VectorView32(sinks.data(), planted_heads);
  stack.blocks = {block};
  const AttentionBits bits = attention_bits(planted(stack, 8, 7));
  CHECK(bits.sink_mass[uniform] == Approx(std::exp(5.0) / (std::exp(5.0) + length)).margin(1e-5));
  CHECK(part(bits, BitsPart::sink, uniform) == Approx(bits.bits.value[uniform]).margin(1e-5));
  CHECK(bits.bits.value[uniform] > 1);
}

TEST_CASE("attention in bits without ids has parts, and no hypotheses about words", "[analysis]") {
  const Stack stack = planted_stack(true);
  const AttentionBits bits = attention_bits(planted(stack, 8, 9, false));
  CHECK(part(bits, BitsPart::position, previous_place) > 0.9 * bits.bits.value[previous_place]);
  for (const HeadNumber& hypothesis : bits.gain) CHECK(std::isnan(hypothesis.value[same_word]));
  CHECK_THROWS_AS(attention_bits(planted(stack, 1, 9)), ShapeError);
}

TEST_CASE("attention in bits does not depend on threads", "[analysis]") {
  const Stack stack = planted_stack(true);
  const AccountHalves halves = planted(stack, 8, 11);
  AttentionBitsOptions one, two;
  two.threads = 2;
  for (std::size_t p = 0; p < bits_parts; ++p)
    CHECK(attention_bits(halves, one).part[p].value == attention_bits(halves, two).part[p].value);
}

TEST_CASE("words and pairs of words are named where they were planted, and nowhere else", "[analysis]") {
  const Stack stack = planted_stack(true);
  AttendedKeySums keys;
  AttentionBitsOptions options;
  options.documents = 40;
  const AttentionBits bits = attention_bits(planted(stack, 40, 3, true, &keys), options, keys);
  const auto words_of = [&](Planted head) {
    std::vector<std::int32_t> ids;
    for (const NamedWord& word : bits.words.named[head]) ids.push_back(word.id);
    std::ranges::sort(ids);
    return ids;
  };
  const std::vector<std::int32_t> five{0, 1, 2, 3, 4};
  CHECK(words_of(five_words) == five);
  CHECK(words_of(words_and_place) == five);
  for (const NamedWord& word : bits.words.named[five_words]) CHECK(word.ratio > 3);
  for (const Planted head : {noise, previous_place, first_token, uniform}) {
    CAPTURE(head, words_of(head));
    CHECK(words_of(head).empty());
  }
  CHECK(bits.content.pairs_found[same_word] > 20);
  for (const MatchedPair& pair : bits.content.pairs[same_word]) {
    CHECK(pair.query == pair.key);
    CHECK(pair.excess > 0.2);
  }
  for (const Planted head : {noise, previous_place, five_words, words_and_place, first_token, uniform}) {
    CAPTURE(head, bits.content.pairs_found[head]);
    CHECK(bits.content.pairs[head].empty());
  }
}

TEST_CASE("classes of words gain where they draw attention", "[analysis]") {
  const Stack stack = planted_stack(true);
  AttendedKeySums keys;
  const AttentionBits bits = attention_bits(planted(stack, 16, 4, true, &keys), {}, keys);
  const auto gain = [&](WordClass of, Planted head) {
    return bits.words.gain[static_cast<std::size_t>(of)].value[head];
  };
  const double word = part(bits, BitsPart::word, five_words);
  CHECK(gain(WordClass::capital, five_words) > 0.9 * word);
  CHECK(gain(WordClass::word_or_class, five_words) > 0.9 * word);
  CHECK(gain(WordClass::digits, five_words) < 0.1 * word);
  CHECK(gain(WordClass::punctuation, five_words) == Approx(0).margin(1e-6));
  for (const HeadNumber& one : bits.words.gain) {
    CHECK(one.value[noise] < 0.02);
    CHECK(one.value[previous_place] < 0.02);
  }
}

TEST_CASE("directions of the match have the words that match at their ends", "[analysis]") {
  const Stack stack = planted_stack(false);
  AttentionBitsOptions options;
  options.documents = 40;
  const AttentionBits bits = attention_bits(planted(stack, 40, 5), options);
  CHECK(bits.content.directions[same_word] == directions_tested);
  CHECK(bits.content.directions[induction] == directions_tested);
  for (const Planted head : {previous_place, five_words, first_token, uniform})
    CHECK(bits.content.directions[head] == 0);
  const double match = part(bits, BitsPart::match, same_word);
  const auto gain = [&](MatchTilt tilt) { return bits.content.gain[static_cast<std::size_t>(tilt)].value[same_word]; };
  CHECK(gain(MatchTilt::one) > 0);
  CHECK(gain(MatchTilt::sixteen) > gain(MatchTilt::four));
  CHECK(gain(MatchTilt::four) > gain(MatchTilt::one));
  CHECK(gain(MatchTilt::sixteen) > 0.3 * match);
  CHECK(gain(MatchTilt::place) < 0.05 * match);
  // Like words match, so a direction has the same word at its ends of both sides.
  Index directions = 0;
  for (const DirectionWords& direction : bits.content.words[same_word])
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
      const std::vector<DirectionWord>&query = direction[0][end], &key = direction[1][end];
      if (query.empty() || key.empty()) continue;
      ++directions;
      CHECK(query.front().id == key.front().id);
    }
  CHECK(directions >= 3);
  for (const DirectionWords& direction : bits.content.words[noise])
    for (const auto& side : direction)
      for (const std::vector<DirectionWord>& end : side) CHECK(end.empty());
}

TEST_CASE("words and matches do not depend on threads, and are described", "[analysis]") {
  const Stack stack = planted_stack(true);
  AttendedKeySums keys;
  const AccountHalves halves = planted(stack, 10, 6, true, &keys);
  AttentionBitsOptions one, two;
  two.threads = 2;
  const std::vector<Field> fields = describe(attention_bits(halves, one, keys)),
                           again = describe(attention_bits(halves, two, keys));
  REQUIRE(fields.size() == again.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto* numbers = std::get_if<std::vector<double>>(&fields[f].values);
    if (numbers == nullptr) {
      CHECK(fields[f].values == again[f].values);
      continue;
    }
    const auto& others = std::get<std::vector<double>>(again[f].values);
    CHECK(std::ranges::equal(*numbers, others, [](double a, double b) { return a == b || (a != a && b != b); }));
  }
  CHECK(std::get<std::vector<std::string>>(field_of(fields, "attention_words/word").values)[words_named * five_words]
            .starts_with("W"));
}

TEST_CASE("texts of tokens that documents share are kept once", "[analysis]") {
  TokenTexts texts{{1, 5}, {"one", "five"}};
  texts.add({{0, 5, 7}, {"zero", "five", "seven"}});
  CHECK(texts.ids == std::vector<std::int32_t>{0, 1, 5, 7});
  CHECK(texts.texts == std::vector<std::string>{"zero", "one", "five", "seven"});
  CHECK(texts.text(5) == "five");
  CHECK(texts.text(6).empty());
}

}  // namespace planted_bits
