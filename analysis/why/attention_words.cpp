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
#include "../pass/even_spread.h"
#include "../statistics/false_discovery.h"
#include "../statistics/moderated_test.h"

namespace headwave {

namespace {

constexpr double shrinks_word = 2;  // attention that is added to what a word gets, and to what it is given

/// What the text of a token says of its word.
struct Spelling {
  bool punctuation = false, capital = false, digits = false, continuation = false;
};

/// @param spaces  tokens that begin a word begin with a space
Spelling spelling_of(std::string_view text, bool spaces) {
  Spelling found;
  const bool space = text.starts_with(' ');
  if (space) text.remove_prefix(1);
  const bool piece = text.size() > 2 && text.starts_with("##");
  if (piece) text.remove_prefix(2);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // Quotes, dashes and the like from U+2010 to U+206F, and 、。「」 of U+3000 to U+301F.
  std::string_view rest = text;
  found.punctuation = !rest.empty();
  while (!rest.empty() && found.punctuation) {
    const auto byte = [&](std::size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U; };
    const bool general = byte(0) == 0xE2 && (byte(1) == 0x80 || byte(1) == 0x81) && byte(2) != 0;
    const bool of_cjk = byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) != 0 && byte(2) < 0xA0;
    if (general || of_cjk)
      rest.remove_prefix(3);
    else if (byte(0) < 0x80 && !is_digit(rest[0]) && !is_letter(rest[0]))
      rest.remove_prefix(1);
    else
      found.punctuation = false;
  }
  found.digits = std::ranges::any_of(text, is_digit);
  const auto first = text.empty() ? 0U : static_cast<unsigned char>(text[0]);
  const auto second = text.size() < 2 ? 0U : static_cast<unsigned char>(text[1]);
  found.capital = (first >= 'A' && first <= 'Z') || (first == 0xC3 && second >= 0x80 && second <= 0x9E);
  found.continuation = piece || (spaces && !space && !found.punctuation && !found.digits);
  return found;
}

}  // namespace

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

Index attended_documents(const AccountSite& site, Index documents, Index rows) {
  constexpr Index most = Index{1} << 24, least = 8;
  return std::min(documents, std::max(least, most / std::max<Index>(1, site.grid.rows() * (site.keys() + rows))));
}

AttendedKeyProbe::AttendedKeyProbe(const AccountSite& site, Index number, const Document& document,
                                   const std::vector<RowSpan>& rows)
    : site_(site), row_of_(static_cast<std::size_t>(site.length), -1) {
  const TokenSequence &asking = document.query_tokens(site.kind), &asked = document.key_tokens(site.kind);
  text_ = text_keys(site.kind, asked, site.keys());
  const std::vector<Index> queries = queries_of(rows);
  for (Index r = 0; r < std::ssize(queries); ++r) {
    const Index i = queries[static_cast<std::size_t>(r)];
    if (i > 0 && !asking.is_special(i)) row_of_[static_cast<std::size_t>(i)] = r;
  }
  for (Index j = 0; j < site.keys(); ++j) keys_.text.push_back(text_[j] != 0 ? 1 : 0);
  if (std::ssize(asked.ids) == site.keys()) keys_.ids = asked.ids;
  keys_.number = number;
  keys_.got = Matrix32::Zero(site.grid.rows(), site.keys());
  keys_.mass = Matrix32::Zero(site.grid.rows(), std::ssize(queries));
  std::map<std::int32_t, std::string> texts;
  for (const TokenSequence* tokens : {&asking, &asked})
    if (tokens->ids.size() == tokens->tokens.size())
      for (std::size_t i = 0; i < tokens->ids.size(); ++i) texts.emplace(tokens->ids[i], tokens->tokens[i]);
  for (const auto& [id, text] : texts) {
    texts_.ids.push_back(id);
    texts_.texts.push_back(text);
  }
}

void AttendedKeyProbe::see(const Tile& tile) {
  const Index place = site_.grid.place_of(tile.layer);
  if (tile.kind != site_.kind || place < 0) return;
  for (Index r = 0; r < tile.rows(); ++r) {
    const Index row = row_of_[static_cast<std::size_t>(tile.first_row + r)];
    if (row < 0) continue;
    const KeySpan open = tile.allowed_keys(tile.first_row + r);
    const auto text = text_.segment(open.first, open.count);
    if (text.sum() < static_cast<float>(least_text_keys)) continue;
    for (Index head = 0; head < tile.heads(); ++head) {
      const Index of_head = place * site_.grid.heads + head;
      const Eigen::ArrayXf given =
          tile.weights[static_cast<std::size_t>(head)].row(r).segment(open.first, open.count).transpose().array() *
          text;
      keys_.got.row(of_head).segment(open.first, open.count).array() += given.transpose();
      keys_.mass(of_head, row) = given.sum();
    }
  }
}

AttendedKeySums AttendedKeyProbe::taken() {
  AttendedKeySums sums;
  sums.documents.push_back(std::move(keys_));
  sums.texts = std::move(texts_);
  return sums;
}

AttentionWordsReader::AttentionWordsReader(const AccountSite& site, const AttendedKeySums& sums,
                                           const AttentionWordsOptions& options)
    : site_(site), sums_(sums), options_(options) {
  known_ids_ = !sums.documents.empty() &&
               std::ranges::none_of(sums.documents, [](const AttendedKeys& one) { return one.ids.empty(); });
  known_texts_ = known_ids_ && !sums.texts.ids.empty();
  if (!known_ids_) return;
  number_words();
  classify();
}

void AttentionWordsReader::number_words() {
  for (const AttendedKeys& one : sums_.documents) ids_.insert(ids_.end(), one.ids.begin(), one.ids.end());
  std::ranges::sort(ids_);
  ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
  in_documents_.assign(ids_.size(), 0);
  for (const AttendedKeys& one : sums_.documents) {
    std::vector<Index>& words = words_.emplace_back();
    for (std::size_t j = 0; j < one.ids.size(); ++j) words.push_back(one.text[j] != 0 ? word_of(one.ids[j]) : -1);
    std::vector<Index> here = words;
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
    for (const Index word : here)
      if (word >= 0) ++in_documents_[static_cast<std::size_t>(word)];
  }
}

Index AttentionWordsReader::word_of(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(ids_, id);
  return found != ids_.end() && *found == id ? found - ids_.begin() : -1;
}

void AttentionWordsReader::classify() {
  std::vector<Index> times(ids_.size(), 0);
  for (const std::vector<Index>& words : words_)
    for (const Index word : words)
      if (word >= 0) ++times[static_cast<std::size_t>(word)];
  const bool spaces = std::ranges::any_of(
      sums_.texts.texts, [](const std::string& text) { return text.size() > 1 && text.front() == ' '; });
  std::map<std::array<Index, word_classes>, Index> combinations;
  for (std::size_t w = 0; w < ids_.size(); ++w) {
    const Spelling spelling = spelling_of(sums_.texts.text(ids_[w]), spaces);
    const auto rarity = static_cast<Index>(std::log2(static_cast<double>(std::max<Index>(1, times[w]))) + 1e-9);
    const std::array<Index, word_classes> classes{rarity, spelling.punctuation ? 1 : 0, spelling.capital ? 1 : 0,
                                                  spelling.digits ? 1 : 0, spelling.continuation ? 1 : 0};
    combination_.push_back(combinations.emplace(classes, std::ssize(combinations)).first->second);
    for (std::size_t c = 0; c + 1 < word_classes; ++c) class_[c].push_back(classes[c]);
  }
}

AttentionWords AttentionWordsReader::nothing() const {
  AttentionWords result;
  result.site = site_;
  result.options = options_;
  result.documents = std::ssize(words_);
  result.words = std::ranges::count_if(in_documents_, [&](Index n) { return n >= options_.least_documents; });
  const auto rows = static_cast<std::size_t>(site_.grid.rows());
  result.named.resize(rows);
  result.found.assign(rows, 0);
  const Vector none = Vector::Constant(site_.grid.rows(), not_defined);
  result.gain.fill({none, none, none});
  result.texts = sums_.texts;
  return result;
}

void AttentionWordsReader::read(const AttendedLayer& layer, AttentionWords& result) const {
  if (!known_ids_) return;
  std::vector<std::vector<Index>> words;
  for (const AttendedDocument& one : layer.documents) {
    std::vector<Index>& of_key = words.emplace_back();
    for (const std::int32_t id : one.document->key_ids) of_key.push_back(word_of(id));
  }
  for (Index head = 0; head < layer.heads(); ++head)
    measure_classes(layer, head, name_words(layer, head, result), words, result);
}

AttentionWordsReader::Drawn AttentionWordsReader::name_words(const AttendedLayer& layer, Index head,
                                                             AttentionWords& result) const {
  const Index documents = std::ssize(words_), words = std::ssize(ids_);
  const Index row = static_cast<Index>(layer.place) * layer.heads() + head;
  // E of (1), key by key.
  Matrix32 mass(documents, layer.chosen);
  for (Index n = 0; n < documents; ++n) mass.row(n) = sums_.documents[static_cast<std::size_t>(n)].mass.row(row);
  const Matrix32 given = product(mass, layer.of_head(layer.position, head));
  const Vector none = Vector::Zero(words);
  Drawn drawn{{none, none}, {none, none}};
  ItemSums changes(words);
  Vector got = none, expected = none;  // of one document
  std::vector<Index> here;
  for (Index n = 0; n < documents; ++n) {
    const AttendedKeys& one = sums_.documents[static_cast<std::size_t>(n)];
    const std::vector<Index>& of_key = words_[static_cast<std::size_t>(n)];
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
      const double single = sum / keys;
      if (in_documents_[static_cast<std::size_t>(word)] >= options_.least_documents)
        changes.add(word, log_excess(got[word], expected[word], single));
      drawn.got[half][word] += got[word];
      drawn.given[half][word] += expected[word];
      got[word] = expected[word] = 0;
    }
  }
  const Vector q = q_values(moderated_p_values(changes, {.least_documents = options_.least_documents}));
  std::vector<Index> found;
  for (Index word = 0; word < words; ++word)
    if (q[word] <= options_.fdr) found.push_back(word);
  result.found[static_cast<std::size_t>(row)] = std::ssize(found);
  // What a word adds to the bits, so that the first ones are those that a reader meets.
  const auto bits = [&](Index word) {
    const double attention = drawn.got[0][word] + drawn.got[1][word];
    return attention * std::log(attention / (drawn.given[0][word] + drawn.given[1][word]));
  };
  std::ranges::stable_sort(found, std::greater(), bits);
  if (std::ssize(found) > words_named) found.resize(words_named);
  for (const Index word : found)
    result.named[static_cast<std::size_t>(row)].push_back(
        {ids_[static_cast<std::size_t>(word)],
         (drawn.got[0][word] + drawn.got[1][word]) / (drawn.given[0][word] + drawn.given[1][word]), q[word]});
  return drawn;
}

/// @returns (words, classes)  exp b of every word, fitted on one half of the documents
Matrix32 AttentionWordsReader::tilts(const Drawn& drawn, std::size_t half) const {
  const Index words = std::ssize(ids_);
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

void AttentionWordsReader::measure_classes(const AttendedLayer& layer, Index head, const Drawn& drawn,
                                           const std::vector<std::vector<Index>>& words, AttentionWords& result) const {
  const std::array<Matrix32, 2> fitted{tilts(drawn, 0), tilts(drawn, 1)};
  std::array<std::vector<double>, word_classes> gains;
  std::vector<double> queries;
  for (std::size_t n = 0; n < layer.documents.size(); ++n) {
    const AttendedDocument& one = layer.documents[n];
    if (std::ssize(words[n]) != site_.keys()) return;
    const Matrix32 mass = one.mass.row(head), got = product(mass, layer.of_head(one.within, head));
    Matrix32 of_key = Matrix32::Ones(site_.keys(), word_classes);
    for (Index j = 0; j < site_.keys(); ++j)
      if (const Index word = words[n][static_cast<std::size_t>(j)]; word >= 0)
        of_key.row(j) = fitted[1 - layer.half(n)].row(word);
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
    if (c == static_cast<std::size_t>(WordClass::rarity) || known_texts_)
      put_ratio(gains[c], queries, options_.coverage, static_cast<Index>(layer.place) * layer.heads() + head,
                result.gain[c]);
}

std::vector<Field> describe(const AttentionWords& words) {
  const Axis layer = layer_axis(words.site.grid.layers), head = head_axis(words.site.grid.heads);
  const Axis rank = counting_axis("word_rank", "1", "rank by the bits that a word adds", 0, words_named - 1);
  const Axis classes{"word_class", "1", "classes of words that may draw attention",
                     std::vector<std::string>{"rarity", "punctuation", "capital", "digits", "continuation",
                                              "the word or its classes"}};
  const std::vector<Axis> ranked{layer, head, rank}, of_class{classes, layer, head};
  const std::vector<NamedWord> named = filled_up(words.named, words_named);
  const auto text = [&](const NamedWord& word) { return words.texts.text(word.id); };
  const char* const fewer = "fewer words draw more attention than their places";
  const char* const no_words = "the tokens of the documents are not known";
  Fields fields("attention_words");
  fields.add("word_id", ranked, "1", "tokens that draw more attention than their places, whoever asks",
             named | std::views::transform(&NamedWord::id), std::string("-1: ") + fewer);
  fields.add("word", ranked, "1", "their texts; empty: not known, or fewer words", named | std::views::transform(text));
  fields.add("ratio", ranked, "1", "attention that the token gets, divided by what its places get",
             named | std::views::transform(&NamedWord::ratio), fewer);
  fields.add("q_value", ranked, "1", "p-value of the token over documents, adjusted for the number of words",
             named | std::views::transform(&NamedWord::q_value), fewer);
  fields.add("found", {layer, head}, "1", "number of words that draw more attention than their places", words.found);
  add_numbers(fields, "class_gain", of_class, "bit",
              "bits that a class of words, fitted on one half of the documents, gains on the other half", words.gain,
              no_words);
  fields.note_all("documents", words.documents)
      .note_all("words", words.words)
      .note_all("least_documents", words.options.least_documents)
      .note_all("fdr", words.options.fdr)
      .note_all("coverage", words.options.coverage);
  return fields.taken();
}

}  // namespace headwave
