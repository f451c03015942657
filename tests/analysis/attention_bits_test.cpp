#include "../../analysis/why/attention_bits.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "../../analysis/why/head_account.h"
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

/// What a job would sum up; the stack must outlive it.
struct PlantedSums {
  AccountHalves halves;
  AttendedKeySums keys;
};

PlantedSums planted(const Stack& stack, Index documents, std::uint64_t seed, bool with_ids = true,
                    LayerQueriesKeys (*queries_keys)(const std::vector<std::int32_t>&, Random&) = planted_document) {
  const AttentionKind kind = stack.block.causal ? AttentionKind::causal : AttentionKind::self;
  const AccountSite site{{{0}, planted_heads}, kind, length, 24, &stack, false, length};
  Site whole;
  whole.kind = kind;
  whole.grid = site.grid;
  whole.length = whole.key_length = length;
  AccountSums sums;
  AttendedKeySums keys;
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
    AttendedKeyProbe key_probe(whole, number, document);
    std::array<Probe*, 2> probes{&probe, &key_probe};
    const HeadInputs<float> inputs{drawn.query, drawn.key, {}, planted_heads, planted_heads, 1.0};
    attend<float>(inputs, {stack.block.causal, {}, 0}, {0, kind}, probes);
    add_to(sums, probe.taken());
    add_to(keys, key_probe.taken());
  }
  return {{site, std::move(sums.halves)}, std::move(keys)};
}

enum Part : Index { sink, position, word, match };

/// The Fields of planted heads.
class PlantedBits {
 public:
  explicit PlantedBits(const PlantedSums& sums, const AttentionBitsOptions& options = {})
      : fields(attention_bits(sums.halves, sums.keys, options)) {}

  /// A number of a head; of a Field with an axis before the layers, its entry.
  [[nodiscard]] double operator()(const std::string& name, Index head, Index entry = 0) const {
    return field_of(fields, name).doubles()[static_cast<std::size_t>(entry * planted_heads + head)];
  }
  [[nodiscard]] double bits(Index head) const { return (*this)("attention_bits/bits", head); }
  [[nodiscard]] double part(Part part, Index head) const { return (*this)("attention_bits/part", head, part); }
  [[nodiscard]] double gain(Index hypothesis, Index head) const {
    return (*this)("attention_bits/gain", head, hypothesis);
  }
  /// Entries of a head in a Field whose last axes are a head's own, such as ranks.
  template <class Entry = double>
  [[nodiscard]] std::vector<Entry> of(const std::string& name, Index head) const {
    const auto& all = std::get<std::vector<Entry>>(field_of(fields, name).values);
    const auto each = std::ssize(all) / planted_heads;
    return {all.begin() + head * each, all.begin() + (head + 1) * each};
  }
  /// Ids that were named for a head.
  [[nodiscard]] std::vector<std::int64_t> named(const std::string& name, Index head) const {
    std::vector<std::int64_t> ids = of<std::int64_t>(name, head);
    std::erase(ids, -1);
    return ids;
  }
  /// Offsets of the places of a head.
  [[nodiscard]] std::vector<double> places(Index head) const {
    std::vector<double> offsets;
    for (Index rank = 0; rank < 3; ++rank)
      if (const double offset = (*this)("attention_bits/place_offset", head, rank); !std::isnan(offset))
        offsets.push_back(offset);
    return offsets;
  }
  [[nodiscard]] bool differs(Index head) const {
    return std::get<std::vector<std::uint8_t>>(field_of(fields, "attention_bits/band_differs").values)[head] != 0;
  }

  std::vector<Field> fields;
};

constexpr Index word_itself = 0, same_words = 1, after_copy = 2, hypotheses = 4;  // entries of attention_bits/gain

}  // namespace

TEST_CASE("planted heads: all of their attention, in the part it belongs to", "[analysis]") {
  const Stack stack = planted_stack(true);
  for (const std::uint64_t seed : {3U, 4U}) {
    const PlantedBits found(planted(stack, 40, seed), {.documents = 40});
    const auto mainly = [&](Planted head, Part named) {
      CAPTURE(seed, head, found.bits(head), found.part(sink, head), found.part(position, head), found.part(word, head),
              found.part(match, head));
      CHECK(found.part(named, head) >= 0.9 * found.bits(head));
    };
    mainly(noise, match);
    mainly(previous_place, position);
    mainly(five_words, word);
    mainly(same_word, match);
    mainly(induction, match);
    mainly(first_token, sink);
    CHECK(found.bits(uniform) == Approx(0).margin(1e-5));
    CHECK(found.part(position, words_and_place) > 0.25 * found.bits(words_and_place));
    CHECK(found.part(word, words_and_place) > 0.5 * found.bits(words_and_place));
    // Who asks does not matter for a head that words draw; what explains each head does, and nothing else gains.
    CHECK(found.gain(word_itself, five_words) > 0.85 * found.part(word, five_words));
    CHECK(found.gain(same_words, same_word) > 0.9 * found.part(match, same_word));
    CHECK(found.gain(after_copy, induction) > 0.9 * found.part(match, induction));
    for (Index hypothesis = 0; hypothesis < hypotheses; ++hypothesis) {
      CHECK(found.gain(hypothesis, noise) < 0.02);
      CHECK(found.gain(hypothesis, previous_place) < 0.02);
    }
    CHECK(found.gain(same_words, five_words) < 0.02);
    CHECK(found.gain(after_copy, five_words) < 0.02);
  }
}

TEST_CASE("a head that matches one direction loses its strongest keys without it, and little without a random one",
          "[analysis]") {
  const PlantedBits found(planted(planted_stack(true), 16, 5, true, planted_direction));
  CHECK(found.of<std::int64_t>("matched_content/directions", 0) == std::vector<std::int64_t>{1});
  CHECK(found("matched_content/gain", 0) > 0.5);  // by one direction
  CHECK(found("matched_content/without", 0) < 0.35);
  CHECK(found("matched_content/without_upper", 0) < found("matched_content/placebo_lower", 0));
  CHECK(found("matched_content/placebo", 0) > 0.8);
  CHECK(std::isnan(found("matched_content/without", 1)));  // uniform attention: no key stands out
}

TEST_CASE("planted heads: attention follows the content of words that draw or match, and stays with places",
          "[analysis]") {
  const PlantedBits found(planted(planted_stack(true), 40, 3), {.documents = 40});
  const auto follow = [&](Planted head) { return found("attention_bits/follow", head); };
  const auto kept = [&](Planted head) { return found("attention_bits/kept", head); };
  CHECK(follow(previous_place) < 0.01);
  CHECK(kept(previous_place) > 0.99);
  CHECK(follow(five_words) > 0.9);
  CHECK(kept(five_words) > 0.9);
  for (const Planted head : {same_word, induction}) {
    CHECK(follow(head) > 0.95);
    CHECK(kept(head) < 0.1);
  }
  CHECK(follow(words_and_place) > 0.4);
  CHECK(follow(words_and_place) < 0.9);
  for (const Planted head : {previous_place, five_words, same_word, induction, words_and_place}) {
    CAPTURE(head);
    CHECK(found("attention_bits/trials", head) > 300);
    CHECK(found("attention_bits/follow_lower", head) <= follow(head));
    CHECK(found("attention_bits/follow_upper", head) >= follow(head));
  }
  for (const Planted head : {first_token, uniform}) {  // no text key stands out
    CHECK(found("attention_bits/trials", head) == 0);
    CHECK(std::isnan(follow(head)));
    CHECK(std::isnan(kept(head)));
  }
}

TEST_CASE("planted heads: every place that position makes a head look at is named, at any distance", "[analysis]") {
  const Stack stack = planted_stack(true);
  const PlantedBits found(planted(stack, 12, 3, true, planted_places));
  std::vector<double> two = found.places(0);
  CHECK(found("attention_bits/place_first", 0) == two.front());
  CHECK(found("attention_bits/place_weight", 0) == Approx(0.5).margin(0.02));
  CHECK(found("attention_bits/place_by_position", 0) == Approx(found("attention_bits/place_weight", 0)).margin(0.01));
  std::ranges::sort(two);
  CHECK(two == std::vector<double>{-3, -1});
  CHECK(found.places(1) == std::vector<double>{-40});
  CHECK(found.places(2) == std::vector<double>{-1});
  CHECK(found.differs(2));
  CHECK(found("attention_bits/band_weight", 2, 0) < 0.2);
  CHECK(found("attention_bits/band_weight", 2, 3) > 0.9);
  CHECK(!found.differs(0));
  for (Index head = 3; head < planted_heads; ++head) CHECK(found.places(head).empty());
  const PlantedBits drawn(planted(stack, 12, 3));
  CHECK(!drawn.differs(previous_place));
  CHECK(drawn.places(previous_place) == std::vector<double>{-1});
  CHECK(drawn.places(words_and_place) == std::vector<double>{-1});
  CHECK(drawn.places(uniform).empty());
}

TEST_CASE("parts of attention in bits add up to all of it, and all of it is what its definition says", "[analysis]") {
  const Stack stack = planted_stack(false);
  const PlantedSums sums = planted(stack, 10, 5);
  const PlantedBits found(sums);
  Vector direct = Vector::Zero(planted_heads);
  for (const AccountHalf& half : sums.halves.halves)
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
    for (const Part part : {sink, position, word, match}) sum += found.part(part, head);
    CHECK(sum == Approx(found.bits(head)).margin(1e-12));
    CHECK(found.bits(head) == Approx(direct[head]).margin(1e-5));
    CHECK(found("attention_bits/bits_lower", head) <= found.bits(head));
    CHECK(found("attention_bits/bits_upper", head) >= found.bits(head));
    // No special token, no causal mask: nothing is a sink.
    CHECK(found("attention_bits/sink_mass", head) == Approx(0).margin(1e-6));
    CHECK(found.part(sink, head) == Approx(0).margin(1e-5));
  }
}

TEST_CASE("a learned sink is a sink", "[analysis]") {
  Stack stack = planted_stack(false);
  Block block;
  const std::vector<float> sinks(planted_heads, 5.F);
  block.self.sinks = VectorView32(sinks.data(), planted_heads);
  stack.blocks = {block};
  const PlantedBits found(planted(stack, 8, 7));
  CHECK(found("attention_bits/sink_mass", uniform) == Approx(std::exp(5.0) / (std::exp(5.0) + length)).margin(1e-5));
  CHECK(found.part(sink, uniform) == Approx(found.bits(uniform)).margin(1e-5));
  CHECK(found.bits(uniform) > 1);
}

TEST_CASE("attention in bits without ids has parts, and no hypotheses about words", "[analysis]") {
  const Stack stack = planted_stack(true);
  const PlantedBits found(planted(stack, 8, 9, false));
  CHECK(found.part(position, previous_place) > 0.9 * found.bits(previous_place));
  for (Index hypothesis = 0; hypothesis < hypotheses; ++hypothesis)
    CHECK(std::isnan(found.gain(hypothesis, same_word)));
  CHECK_THROWS_WITH(PlantedBits(planted(stack, 1, 9)),
                    ContainsSubstring("attention_bits: one half of the documents is empty"));
}

TEST_CASE("words and pairs of words are named where they were planted, and nowhere else", "[analysis]") {
  const PlantedBits found(planted(planted_stack(true), 40, 3), {.documents = 40});
  const auto words_of = [&](Planted head) {
    std::vector<std::int64_t> ids = found.named("attention_words/word_id", head);
    std::ranges::sort(ids);
    return ids;
  };
  const std::vector<std::int64_t> five{0, 1, 2, 3, 4};
  CHECK(words_of(five_words) == five);
  CHECK(words_of(words_and_place) == five);
  for (const double ratio : found.of("attention_words/ratio", five_words)) CHECK((std::isnan(ratio) || ratio > 3));
  for (const Planted head : {noise, previous_place, first_token, uniform}) {
    CAPTURE(head, words_of(head));
    CHECK(words_of(head).empty());
  }
  CHECK(found.of<std::int64_t>("matched_content/pairs_found", same_word).front() > 20);
  CHECK(found.named("matched_content/pair_query_id", same_word) ==
        found.named("matched_content/pair_key_id", same_word));
  for (const double excess : found.of("matched_content/pair_excess", same_word)) CHECK(excess > 0.2);
  for (const Planted head : {noise, previous_place, five_words, words_and_place, first_token, uniform}) {
    CAPTURE(head);
    CHECK(found.named("matched_content/pair_query_id", head).empty());
  }
}

TEST_CASE("classes of words gain where they draw attention", "[analysis]") {
  const PlantedBits found(planted(planted_stack(true), 16, 4));
  enum Class : Index { rarity, punctuation, capital, digits, continuation, word_or_class, classes };
  const auto gain = [&](Index of, Planted head) { return found("attention_words/class_gain", head, of); };
  const double all = found.part(word, five_words);
  CHECK(gain(capital, five_words) > 0.9 * all);
  CHECK(gain(word_or_class, five_words) > 0.9 * all);
  CHECK(gain(digits, five_words) < 0.1 * all);
  CHECK(gain(punctuation, five_words) == Approx(0).margin(1e-6));
  for (Index each = 0; each < classes; ++each) {
    CHECK(gain(each, noise) < 0.02);
    CHECK(gain(each, previous_place) < 0.02);
  }
}

TEST_CASE("directions of the match have the words that match at their ends", "[analysis]") {
  const PlantedBits found(planted(planted_stack(false), 40, 5), {.documents = 40});
  const auto directions = [&](Planted head) {
    return found.of<std::int64_t>("matched_content/directions", head).front();
  };
  CHECK(directions(same_word) == 16);
  CHECK(directions(induction) == 16);
  for (const Planted head : {previous_place, five_words, first_token, uniform}) CHECK(directions(head) == 0);
  const double all = found.part(match, same_word);
  enum Tilt : Index { first_only, two, four, eight, sixteen, place };
  const auto gain = [&](Tilt tilt) { return found("matched_content/gain", same_word, tilt); };
  CHECK(gain(first_only) > 0);
  CHECK(gain(sixteen) > gain(four));
  CHECK(gain(four) > gain(first_only));
  CHECK(gain(sixteen) > 0.3 * all);
  CHECK(gain(place) < 0.05 * all);
  // Like words match, so a direction has the same word at its ends of both sides: (direction, side, end, 4 words).
  const std::vector<std::int64_t> ids = found.of<std::int64_t>("matched_content/direction_word_id", same_word);
  REQUIRE(ids.size() == 3 * 2 * 2 * 4);
  Index same = 0;
  for (std::size_t direction = 0; direction < 3; ++direction)
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
      const std::int64_t query = ids[16 * direction + 4 * end], key = ids[16 * direction + 8 + 4 * end];
      if (query < 0 || key < 0) continue;
      ++same;
      CHECK(query == key);
    }
  CHECK(same >= 3);
  CHECK(found.named("matched_content/direction_word_id", noise).empty());
}

TEST_CASE("attention in bits, words and matches do not depend on threads", "[analysis]") {
  const Stack stack = planted_stack(true);
  const PlantedSums sums = planted(stack, 10, 6);
  const PlantedBits found(sums), again(sums, {.threads = 2});
  REQUIRE(found.fields.size() == again.fields.size());
  for (std::size_t f = 0; f < found.fields.size(); ++f) {
    const auto* numbers = std::get_if<std::vector<double>>(&found.fields[f].values);
    if (numbers == nullptr) {
      CHECK(found.fields[f].values == again.fields[f].values);
      continue;
    }
    const auto& others = std::get<std::vector<double>>(again.fields[f].values);
    CHECK(std::ranges::equal(*numbers, others, [](double a, double b) { return a == b || (a != a && b != b); }));
  }
  CHECK(found.of<std::string>("attention_words/word", five_words).front().starts_with("W"));
}

TEST_CASE("words are numbered by id, those that count in enough documents", "[analysis]") {
  const std::vector<std::vector<std::int32_t>> documents{{7, 3, 7, 5}, {5, 3}, {3, 9}};
  const std::vector<std::vector<bool>> counts{{true, false, true, true}, {true, true}, {true, true}};
  const NumberedWords two(documents, counts, 2), all(documents, counts, 0);
  CHECK(two.ids == std::vector<std::int32_t>{3, 5});
  CHECK(two.in_documents == std::vector<Index>{2, 2});
  CHECK(two.of_token == std::vector<std::vector<Index>>{{-1, -1, -1, 1}, {1, 0}, {0, -1}});
  CHECK(two.number(5) == 1);
  CHECK(two.number(4) == -1);
  CHECK(all.ids == std::vector<std::int32_t>{3, 5, 7, 9});
  CHECK(all.of_token[0] == std::vector<Index>{2, -1, 2, 1});
}

TEST_CASE("texts of tokens that documents share are kept once", "[analysis]") {
  TokenTexts texts{{1, 5}, {"one", "five"}};
  texts.add(TokenTexts{{0, 5, 7}, {"zero", "five", "seven"}});
  CHECK(texts.ids == std::vector<std::int32_t>{0, 1, 5, 7});
  CHECK(texts.texts == std::vector<std::string>{"zero", "one", "five", "seven"});
  CHECK(texts.text(5) == "five");
  CHECK(texts.text(6).empty());
}

}  // namespace planted_bits
