#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../pass/document_sum.h"
#include "attended_rows.h"

namespace headwave {

/// Texts of tokens by their ids.
struct TokenTexts {
  std::vector<std::int32_t> ids;  ///< ascending
  std::vector<std::string> texts;

  /// Adds the texts of a sequence, if they are known.
  void add(const TokenSequence& tokens);
  void add(TokenTexts&& next);
  /// @returns empty if the text is not known
  [[nodiscard]] std::string text(std::int32_t id) const;
};

/// Attention that the chosen queries of one document give to each of its keys.
struct AttendedKeys {
  Index number = 0;                ///< number of the document among those of this length, from 0
  std::vector<std::int32_t> ids;   ///< (keys)  token ids; empty: unknown
  std::vector<std::uint8_t> text;  ///< (keys)  1: a text key
  Matrix32 got;   ///< (rows, keys)  sum of the weights from the chosen queries; 0 if the key is not text
  Matrix32 mass;  ///< (rows, chosen rows)  attention of a query on text; 0: the query takes no part
};

struct AttendedKeySums {
  ByDocument<AttendedKeys> documents;
  TokenTexts texts;  ///< texts of keys and queries
};

/// Number of documents whose attended keys are kept: as many as fit into 64 MiB, but at least 8.
Index attended_documents(const Site& site);

/// Sums the attention that the chosen queries of one document give to each key.
class AttendedKeyProbe : public RowLook {
 public:
  AttendedKeyProbe(const Site& site, Index number, const Document& document);
  [[nodiscard]] AttendedKeySums taken();

 private:
  void row(const HeadRow& one) override;

  std::vector<Index> row_of_;  ///< (T)  index among the chosen rows; -1: not chosen, or a special or first token
  Eigen::ArrayXf text_;
  AttendedKeys keys_;
  TokenTexts texts_;
};

/// Number of ways to classify words that may draw attention whatever the query is:
///
///     rarity         number of occurrences, one class per power of 2
///     punctuation    the word has no letter and no digit
///     capital        the word begins with a capital letter
///     digits         the word has a digit
///     continuation   the word continues a word that an earlier token began
///     word itself    the word; if missing from the half that is fitted, its combination of the other classes
constexpr std::size_t word_classes = 6;

/// A word named for a head. By default it holds no word.
struct NamedWord {
  std::int32_t id = -1;
  double number = not_defined;   ///< how much the word stands out; the Field says in which measure
  double q_value = not_defined;  ///< p-value adjusted for the number of words tested
};

/// Names and descriptions of the Fields of named words.
struct NamedWordFields {
  std::string id, word, number, q_value;             ///< names of the Fields
  std::string what, number_is, q_value_is, unnamed;  ///< descriptions; `unnamed` says why there are fewer words
};

/// Adds the Fields of named words.
/// @param lists  lists of named words; of each list, the first `count` words are used
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

/// Finds words that draw attention, and classes of words that do.
///
/// In document n the chosen queries give word v the attention G_nv, summed over its occurrences. p_pos of
/// attention_bits() gives it the attention E_nv. With c_n the mean of E_n over tokens,
///
///     y_nv = log (G_nv + c_n) / (E_nv + c_n)                                                     (1)
///
/// A word is found if the mean of y_nv over documents is above 0 by moderated_p_values(). False discoveries
/// are controlled over the words of a head that occur in at least 3 documents. Of the words found, the 8 that
/// add most bits are named. All documents with attended keys take part, not only the accounted documents.
///
/// A class changes p_pos as a hypothesis of attention_bits() does, with f = b(class). Here b is the log of
/// the ratio between the attention that the words of the class get and the attention that p_pos gives them (2
/// is added to both). b is fitted on one half of all documents, and its gain is measured on the accounted
/// documents of the other half. For the word itself, b is shrunk to the b of its combination of classes.
///
/// Source: this project.
class AttentionWords {
 public:
  /// @param site, sums  must outlive this object
  AttentionWords(const AccountSite& site, const AttendedKeySums& sums);

  /// Finds and measures the words of one layer's heads. Several threads may call it for different layers.
  void read(const AttendedLayer& layer);

  /// @returns Fields attention_words/...
  [[nodiscard]] std::vector<Field> fields() const;

 private:
  void classify();
  /// [half] (words)  attention that one head gives to words, and attention that p_pos gives them.
  struct Drawn {
    std::array<Vector, 2> got, given;
  };
  Drawn name_words(const AttendedLayer& layer, Index head);
  [[nodiscard]] Matrix32 tilts(const Drawn& drawn, std::size_t half) const;
  void measure_classes(const AttendedLayer& layer, Index head, const Drawn& drawn);

  const AccountSite& site_;
  const AttendedKeySums& sums_;
  bool known_ids_ = false;
  NumberedWords words_;                                     ///< all words; only text tokens count
  std::array<std::vector<Index>, word_classes - 1> class_;  ///< [way][word]  number of the word's class
  std::vector<Index> combination_;                          ///< [word]  number of the word's combination of classes
  std::vector<std::vector<NamedWord>> named_;               ///< [row]  the word that adds most bits first
  std::vector<Index> found_;                                ///< [row]  number of words found, named or not
  std::array<HeadNumber, word_classes> gain_;               ///< bits; NaN: texts or ids are unknown
};

}  // namespace headwave
