#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../pass/document_sum.h"
#include "attended_rows.h"

namespace headwave {

/// Texts of tokens, by id.
struct TokenTexts {
  std::vector<std::int32_t> ids;  ///< ascending
  std::vector<std::string> texts;

  /// Adds the texts of a sequence, where they are known.
  void add(const TokenSequence& tokens);
  void add(TokenTexts&& next);
  /// @returns empty if the text is not known
  [[nodiscard]] std::string text(std::int32_t id) const;
};

/// How much attention the chosen queries of one document give to each of its keys.
struct AttendedKeys {
  Index number = 0;                ///< of the document among those of this length, from 0
  std::vector<std::int32_t> ids;   ///< (keys)  tokens; empty: not known
  std::vector<std::uint8_t> text;  ///< (keys)  1: a key of text
  Matrix32 got;                    ///< (rows, keys)  sum over the chosen queries of their weight on a key of text
  Matrix32 mass;                   ///< (rows, chosen rows)  attention of a query on text; 0: it takes no part
};

/// Sums over documents.
struct AttendedKeySums {
  ByDocument<AttendedKeys> documents;
  TokenTexts texts;  ///< of keys and queries
};

/// Number of documents whose attended keys are kept: all of them, unless they take more than 64 MiB; then at least 8.
Index attended_documents(const Site& site);

/// Watches one document: sums what the chosen queries give to each key.
class AttendedKeyProbe : public RowLook {
 public:
  AttendedKeyProbe(const Site& site, Index number, const Document& document);
  [[nodiscard]] AttendedKeySums taken();

 private:
  void row(const HeadRow& one) override;

  std::vector<Index> row_of_;  ///< (queries)  chosen row; -1: not chosen, or takes no part
  Eigen::ArrayXf text_;
  AttendedKeys keys_;
  TokenTexts texts_;
};

/// Classes of words that may draw attention whoever asks: rarity (how often the word occurs in the documents, a class for each
/// power of 2); punctuation (no letter and no digit); capital (begins with one); digits (has one); continuation (goes on a
/// word that an earlier token began); and the word itself, where a word that the other half of the documents does not know
/// counts by all of the above.
constexpr std::size_t word_classes = 6;

/// A word that was named for something about a head. The default: no word.
struct NamedWord {
  std::int32_t id = -1;
  double number = not_defined;   ///< how much it stands out
  double q_value = not_defined;  ///< chance that the name is false, adjusted for all words that were tested
};

/// How the Fields of named words are called: id and word take the ids and texts, number and q_value the rest.
struct NamedWordFields {
  std::string id, word, number, q_value;
  std::string what, number_is, q_value_is, unnamed;  ///< for people; why there are fewer words
};

/// Adds these Fields.
/// @param lists  of named words, `count` at most of each
template <class Lists>
void add_named_words(Fields& fields, const std::vector<Axis>& axes, Lists&& lists, Index count, const TokenTexts& texts,
                     const NamedWordFields& names) {
  const std::vector<NamedWord> all = filled_up(lists, count);
  const auto text = [&](const NamedWord& word) { return texts.text(word.id); };
  fields.add(names.id, axes, "1", names.what, all | std::views::transform(&NamedWord::id), "-1: " + names.unnamed);
  fields.add(names.word, axes, "1", "their texts; empty: not known, or fewer words", all | std::views::transform(text));
  fields.add(names.number, axes, "1", names.number_is, all | std::views::transform(&NamedWord::number), names.unnamed);
  fields.add(names.q_value, axes, "1", names.q_value_is, all | std::views::transform(&NamedWord::q_value),
             names.unnamed);
}

/// Words that draw attention, and what kind of word does.
///
/// In document n the chosen queries give word v the attention G_nv, summed over its occurrences, where p_pos of
/// attention_bits() gives it E_nv. With c_n the mean of E_n over single tokens,
///
///     y_nv = log (G_nv + c_n) / (E_nv + c_n)                                                     (1)
///
/// and a word is found if the mean of y_nv over documents is above 0 by moderated_p_values(), with false discoveries
/// controlled over the words of a head that occur in enough documents. Of the words found the largest means are named.
/// All documents take part, not only those that attention_bits() accounts for.
///
/// A class tilts p_pos as a hypothesis of attention_bits() does, by b(class) = log of attention got over attention given, 2
/// added to both, fitted on one half of all documents and measured on the accounted documents of the other. For the word itself a word's own b is shrunk
/// to that of its combination of classes instead of to 0.
///
/// Source: this project.
class AttentionWords {
 public:
  /// @param site, sums  outlive this
  AttentionWords(const AccountSite& site, const AttendedKeySums& sums);

  /// Reads the heads of one layer. May be called from several threads, for different layers.
  void read(const AttendedLayer& layer);

  /// Fields attention_words/...
  [[nodiscard]] std::vector<Field> fields() const;

 private:
  void classify();
  /// What words get of the attention of one head, and what p_pos gives them: [half] (words).
  struct Drawn {
    std::array<Vector, 2> got, given;
  };
  Drawn name_words(const AttendedLayer& layer, Index head);
  [[nodiscard]] Matrix32 tilts(const Drawn& drawn, std::size_t half) const;
  void measure_classes(const AttendedLayer& layer, Index head, const Drawn& drawn);

  const AccountSite& site_;
  const AttendedKeySums& sums_;
  bool known_ids_ = false;
  NumberedWords words_;                                     ///< all; those of text are found in documents
  std::array<std::vector<Index>, word_classes - 1> class_;  ///< [class][word]  number of its class
  std::vector<Index> combination_;                          ///< [word]  of all classes but the last
  std::vector<std::vector<NamedWord>> named_;               ///< [row]  the strongest first
  std::vector<Index> found_;                                ///< [row]  words beyond p_pos, named or not
  std::array<HeadNumber, word_classes> gain_;               ///< bit; NaN: texts or ids are not known
};

}  // namespace headwave
