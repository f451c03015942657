#include "attention_words.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../statistics/false_discovery.h"
#include "../statistics/moderated_test.h"

namespace headwave {

namespace {

constexpr double shrinks_word = 2;         // attention added to both sides of a word's log ratio
constexpr Index least_word_documents = 3;  // documents in which a word must occur
constexpr double word_fdr = 0.1;           // false discovery rate over the words of a head
constexpr Index words_named = 8;           // per head, at most

/// Classes that the text of a token shows: punctuation, capital, digits, continuation.
/// @param spaces  whether the vocabulary marks the beginning of a word by a space
std::array<bool, 4> spelling_of(std::string_view text, bool spaces) {
  const bool space = text.starts_with(' ');
  if (space) text.remove_prefix(1);
  const bool piece = text.size() > 2 && text.starts_with("##");
  if (piece) text.remove_prefix(2);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // Quotes, dashes and the like from U+2010 to U+206F, and 、。「」 of U+3000 to U+301F.
  std::string_view rest = text;
  bool punctuation = !rest.empty();
  while (!rest.empty() && punctuation) {
    const auto byte = [&](std::size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U; };
    const bool general = byte(0) == 0xE2 && (byte(1) == 0x80 || byte(1) == 0x81) && byte(2) != 0;
    const bool of_cjk = byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) != 0 && byte(2) < 0xA0;
    if (general || of_cjk)
      rest.remove_prefix(3);
    else if (byte(0) < 0x80 && !is_digit(rest[0]) && !is_letter(rest[0]))
      rest.remove_prefix(1);
    else
      punctuation = false;
  }
  const bool digits = std::ranges::any_of(text, is_digit);
  const auto first = text.empty() ? 0U : static_cast<unsigned char>(text[0]);
  const auto second = text.size() < 2 ? 0U : static_cast<unsigned char>(text[1]);
  const bool capital = (first >= 'A' && first <= 'Z') || (first == 0xC3 && second >= 0x80 && second <= 0x9E);
  return {punctuation, capital, digits, piece || (spaces && !space && !punctuation && !digits)};
}

}  // namespace

void TokenTexts::add(const TokenSequence& tokens) {
  if (tokens.ids.size() != tokens.tokens.size()) return;
  std::map<std::int32_t, std::string> known;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) known.emplace(tokens.ids[i], tokens.tokens[i]);
  TokenTexts own;
  for (auto& [id, text] : known) {
    own.ids.push_back(id);
    own.texts.push_back(std::move(text));
  }
  add(std::move(own));
}

void TokenTexts::add(TokenTexts&& next) {
  TokenTexts both;
  std::size_t a = 0, b = 0;
  while (a < ids.size() || b < next.ids.size()) {
    const bool own = b == next.ids.size() || (a < ids.size() && ids[a] <= next.ids[b]);
    if (own && b < next.ids.size() && ids[a] == next.ids[b]) ++b;
    both.ids.push_back(own ? ids[a] : next.ids[b]);
    both.texts.push_back(std::move(own ? texts[a] : next.texts[b]));
    ++(own ? a : b);
  }
  *this = std::move(both);
}

std::string TokenTexts::text(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(ids, id);
  return found != ids.end() && *found == id ? texts[static_cast<std::size_t>(found - ids.begin())] : std::string();
}

Index attended_documents(const Site& site) {
  constexpr Index most = Index{1} << 24, least = 8;
  const Index keys = site.kind == AttentionKind::cross ? site.key_length : site.length,
              rows = std::ssize(queries_of(chosen_rows(site.length)));
  return std::min(site.documents, std::max(least, most / std::max<Index>(1, site.grid.rows() * (keys + rows))));
}

AttendedKeyProbe::AttendedKeyProbe(const Site& site, Index number, const Document& document)
    : RowLook(site), row_of_(static_cast<std::size_t>(site.length), -1) {
  const TokenSequence &asking = document.query_tokens(site.kind), &asked = document.key_tokens(site.kind);
  const Index keys = site.kind == AttentionKind::cross ? site.key_length : site.length;
  text_ = text_keys(site.kind, asked, keys);
  const std::vector<Index> queries = queries_of(chosen_rows(site.length));
  for (Index r = 0; r < std::ssize(queries); ++r) {
    const Index i = queries[static_cast<std::size_t>(r)];
    if (i > 0 && !asking.is_special(i)) row_of_[static_cast<std::size_t>(i)] = r;
  }
  for (const float text : text_) keys_.text.push_back(text != 0 ? 1 : 0);
  if (std::ssize(asked.ids) == keys) keys_.ids = asked.ids;
  keys_.number = number;
  keys_.got = Matrix32::Zero(site.grid.rows(), keys);
  keys_.mass = Matrix32::Zero(site.grid.rows(), std::ssize(queries));
  texts_.add(asking);
  texts_.add(asked);
}

void AttendedKeyProbe::row(const HeadRow& one) {
  const Index chosen = row_of_[static_cast<std::size_t>(one.query)];
  const auto text = text_.segment(one.open.first, one.open.count);
  if (chosen < 0 || text.sum() < static_cast<float>(least_text_keys)) return;
  const Eigen::ArrayXf given = one.weights.transpose().array() * text;
  keys_.got.row(one.row).segment(one.open.first, one.open.count).array() += given.transpose();
  keys_.mass(one.row, chosen) = given.sum();
}

AttendedKeySums AttendedKeyProbe::taken() {
  AttendedKeySums sums;
  sums.documents.push_back(std::move(keys_));
  sums.texts = std::move(texts_);
  return sums;
}

AttentionWords::AttentionWords(const AccountSite& site, const AttendedKeySums& sums)
    : site_(site),
      sums_(sums),
      known_ids_(!sums.documents.empty() &&
                 std::ranges::none_of(sums.documents, [](const AttendedKeys& one) { return one.ids.empty(); })),
      named_(static_cast<std::size_t>(site.grid.rows())),
      found_(named_.size(), 0) {
  gain_.fill(HeadNumber(site.grid.rows()));
  if (!known_ids_) return;
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::vector<bool>> text;
  for (const AttendedKeys& one : sums.documents) {
    ids.push_back(one.ids);
    text.emplace_back(one.text.begin(), one.text.end());
  }
  words_ = NumberedWords(ids, text, 0);
  classify();
}

void AttentionWords::classify() {
  std::vector<Index> times(words_.ids.size(), 0);
  for (const std::vector<Index>& words : words_.of_token)
    for (const Index word : words)
      if (word >= 0) ++times[static_cast<std::size_t>(word)];
  const bool spaces = std::ranges::any_of(
      sums_.texts.texts, [](const std::string& text) { return text.size() > 1 && text.front() == ' '; });
  std::map<std::array<Index, word_classes - 1>, Index> combinations;
  for (std::size_t w = 0; w < times.size(); ++w) {
    std::array<Index, word_classes - 1> classes{
        static_cast<Index>(std::log2(static_cast<double>(std::max<Index>(1, times[w]))) + 1e-9)};
    std::ranges::copy(spelling_of(sums_.texts.text(words_.ids[w]), spaces), classes.begin() + 1);
    combination_.push_back(combinations.emplace(classes, std::ssize(combinations)).first->second);
    for (std::size_t c = 0; c + 1 < word_classes; ++c) class_[c].push_back(classes[c]);
  }
}

void AttentionWords::read(const AttendedLayer& layer) {
  for (Index head = 0; known_ids_ && head < layer.heads(); ++head)
    measure_classes(layer, head, name_words(layer, head));
}

AttentionWords::Drawn AttentionWords::name_words(const AttendedLayer& layer, Index head) {
  const Index documents = std::ssize(sums_.documents), words = std::ssize(words_.ids), row = layer.row(head);
  // E of (1) for each key.
  Matrix32 mass(documents, layer.accounted.chosen());
  for (Index n = 0; n < documents; ++n) mass.row(n) = sums_.documents[static_cast<std::size_t>(n)].mass.row(row);
  const Matrix32 given = product(mass, layer.of_head(layer.position, head));
  const Vector none = Vector::Zero(words);
  Drawn drawn{{none, none}, {none, none}};
  ItemSums changes(words);
  Vector got = none, expected = none;  // G and E of (1) in one document
  std::vector<Index> here;
  for (Index n = 0; n < documents; ++n) {
    const AttendedKeys& one = sums_.documents[static_cast<std::size_t>(n)];
    const std::vector<Index>& of_key = words_.of_token[static_cast<std::size_t>(n)];
    double sum = 0, keys = 0;
    here.clear();
    for (Index j = 0; j < std::ssize(of_key); ++j) {
      const Index word = of_key[static_cast<std::size_t>(j)];
      const auto expects = static_cast<double>(given(n, j));
      if (word < 0 || !(expects > 0)) continue;  // no query may see it
      if (expected[word] == 0) here.push_back(word);
      got[word] += static_cast<double>(one.got(row, j));
      expected[word] += expects;
      sum += expects;
      keys += 1;
    }
    const auto half = static_cast<std::size_t>(one.number % 2);
    for (const Index word : here) {
      if (words_.in_documents[static_cast<std::size_t>(word)] >= least_word_documents)
        changes.add(word, log_excess(got[word], expected[word], sum / keys));
      drawn.got[half][word] += got[word];
      drawn.given[half][word] += expected[word];
      got[word] = expected[word] = 0;
    }
  }
  const Vector q = q_values(moderated_p_values(changes, {.least_documents = least_word_documents}));
  std::vector<Index> found;
  for (Index word = 0; word < words; ++word)
    if (q[word] <= word_fdr) found.push_back(word);
  found_[static_cast<std::size_t>(row)] = std::ssize(found);
  // Sorted by the bits that a word adds, so that common words come before rare ones with a larger ratio.
  const Vector attention = drawn.got[0] + drawn.got[1],
               ratio = attention.cwiseQuotient(drawn.given[0] + drawn.given[1]);
  std::ranges::stable_sort(found, std::greater(), [&](Index word) { return attention[word] * std::log(ratio[word]); });
  if (std::ssize(found) > words_named) found.resize(words_named);
  for (const Index word : found)
    named_[static_cast<std::size_t>(row)].push_back({words_.ids[static_cast<std::size_t>(word)], ratio[word], q[word]});
  return drawn;
}

/// @returns (words, word_classes)  exp b of every word, fitted on one half of the documents
Matrix32 AttentionWords::tilts(const Drawn& drawn, std::size_t half) const {
  const Index words = std::ssize(words_.ids);
  const auto of_classes = [&](const std::vector<Index>& of_word) {
    const Index count = 1 + *std::ranges::max_element(of_word);
    Vector got = Vector::Constant(count, shrinks_word), given = got;
    for (Index w = 0; w < words; ++w) {
      got[of_word[static_cast<std::size_t>(w)]] += drawn.got[half][w];
      given[of_word[static_cast<std::size_t>(w)]] += drawn.given[half][w];
    }
    Vector ratio(words);
    for (Index w = 0; w < words; ++w) {
      const Index c = of_word[static_cast<std::size_t>(w)];
      ratio[w] = got[c] / given[c];
    }
    return ratio;
  };
  Matrix32 tilt(words, word_classes);
  for (std::size_t c = 0; c + 1 < word_classes; ++c)
    tilt.col(static_cast<Index>(c)) = of_classes(class_[c]).cast<float>();
  tilt.col(word_classes - 1) =
      ((drawn.got[half] + shrinks_word * of_classes(combination_)).array() / (drawn.given[half].array() + shrinks_word))
          .cast<float>();
  return tilt;
}

void AttentionWords::measure_classes(const AttendedLayer& layer, Index head, const Drawn& drawn) {
  const std::array<Matrix32, 2> fitted{tilts(drawn, 0), tilts(drawn, 1)};
  std::array<std::vector<double>, word_classes> gains;
  std::vector<double> queries;
  for (std::size_t n = 0; n < layer.documents.size(); ++n) {
    const AttendedDocument& one = layer.documents[n];
    const std::vector<std::int32_t>& ids = layer.accounted.documents[n]->key_ids;
    if (std::ssize(ids) != site_.keys()) return;
    const Matrix32 mass = one.mass.row(head), got = product(mass, layer.of_head(one.within, head));
    Matrix32 of_key = Matrix32::Ones(site_.keys(), word_classes);
    for (Index j = 0; j < site_.keys(); ++j)
      if (const Index word = words_.number(ids[static_cast<std::size_t>(j)]); word >= 0)
        of_key.row(j) = fitted[1 - layer.accounted.half(n)].row(word);
    const Matrix32 even = product(layer.of_head(one.position, head), of_key);
    queries.push_back(static_cast<double>(one.queries.size()));
    for (std::size_t c = 0; c < word_classes; ++c) {
      const auto column = static_cast<Index>(c);
      double gain = 0;
      for (Index j = 0; j < site_.keys(); ++j)
        gain += static_cast<double>(got(0, j)) * std::log(static_cast<double>(of_key(j, column)));
      for (const Index row : one.rows)
        if (even(row, column) > 0)
          gain -= static_cast<double>(one.mass(head, row)) * std::log(static_cast<double>(even(row, column)));
      gains[c].push_back(gain * std::numbers::log2e);
    }
  }
  for (std::size_t c = 0; c < word_classes; ++c)
    if (c == 0 || !sums_.texts.ids.empty())  // rarity needs no texts
      gain_[c].set_ratio(layer.row(head), gains[c], queries);
}

std::vector<Field> AttentionWords::fields() const {
  const Axis layer = layer_axis(site_.grid.layers), head = head_axis(site_.grid.heads);
  const Axis rank = counting_axis("word_rank", "1", "rank by the bits that a word adds", 0, words_named - 1);
  const Axis classes{"word_class", "1", "classes of words that may draw attention",
                     std::vector<std::string>{"rarity", "punctuation", "capital", "digits", "continuation",
                                              "the word or its classes"}};
  const std::vector<Axis> ranked{layer, head, rank}, of_class{classes, layer, head};
  Fields fields("attention_words");
  add_named_words(
      fields, ranked, named_, words_named, sums_.texts,
      {"word_id", "word", "ratio", "q_value", "tokens that draw more attention from every query than their places do",
       "attention that the token gets, divided by what its places get",
       "p-value of the token over documents, adjusted for the number of words",
       "fewer words draw more attention than their places"});
  fields.add("found", {layer, head}, "1", "number of words that draw more attention than their places", found_);
  add_numbers(fields, "class_gain", of_class, "bit",
              "bits that a class of words, fitted on one half of the documents, gains on the other half", gain_,
              "the tokens of the documents are not known");
  fields.note_all("documents", std::ssize(words_.of_token))
      .note_all("words", std::ranges::count_if(words_.in_documents, [](Index n) { return n >= least_word_documents; }))
      .note_all("least_documents", least_word_documents)
      .note_all("fdr", word_fdr)
      .note_all("coverage", interval_coverage);
  return fields.taken();
}

}  // namespace headwave
