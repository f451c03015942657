#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../pass/row_look.h"
#include "account_documents.h"

namespace headwave {

/// Query rows whose attention is accounted for. They are the same in every document: all rows if documents
/// have up to 64 tokens, otherwise 8 neighbouring rows at a random place in each eighth of the document.
std::vector<RowSpan> chosen_rows(Index length);

/// Places of the queries in the given rows.
std::vector<Index> queries_of(const std::vector<RowSpan>& rows);

/// Number of text keys that a query must see to be accounted for.
constexpr Index least_text_keys = 4;

/// Marks text keys. @returns (keys)  1: text, 0: a special token, or the first token of a causal model
Eigen::ArrayXf text_keys(AttentionKind kind, const std::vector<std::uint8_t>& key_stays, bool first_key_special);
/// Marks the text keys among the first `keys` tokens of a sequence.
Eigen::ArrayXf text_keys(AttentionKind kind, const TokenSequence& tokens, Index keys);

/// An offset counts only if at least this many queries see it: an eighth of the largest entry of `count`.
/// @param count  for each offset, the number of queries that see it
double enough_queries(const Vector& count);

/// A number for every head, with its interval over documents.
struct HeadNumber {
  Vector value, lower, upper;  ///< (rows)  NaN: undefined
  explicit HeadNumber(Index rows = 0) : value(Vector::Constant(rows, not_defined)), lower(value), upper(value) {}

  /// Sets a head's number to sum(upper_sums) / sum(lower_sums). Its interval omits one of up to 8 groups of
  /// documents at a time. The number stays undefined if the denominator is 0.
  /// @param upper_sums, lower_sums  (documents)
  void set_ratio(Index row, const std::vector<double>& upper_sums, const std::vector<double>& lower_sums);
};

/// Interval of sum(sums) / sum(counts), from omitting one group of documents at a time (jackknife_error()).
/// @returns lower and upper end; NaN for fewer than 3 groups
std::array<double, 2> jackknife(const std::array<double, account_groups>& sums,
                                const std::array<double, account_groups>& counts, double coverage = interval_coverage);

/// Adds the Fields `quantity`, `quantity`_lower and `quantity`_upper.
/// @param numbers      one for each entry of the axis before layer and head, or a single HeadNumber
/// @param undefined    meaning of a NaN of the quantity
/// @param no_interval  meaning of a NaN of an end of its interval
void add_numbers(Fields& fields, const std::string& quantity, const std::vector<Axis>& axes, const std::string& unit,
                 const std::string& long_name, std::span<const HeadNumber> numbers, const std::string& undefined,
                 const std::string& no_interval = "fewer than 6 documents of this length");

/// Concatenates lists after cutting each list to `count` items, or extending it by default-constructed items.
template <class Lists>
auto filled_up(Lists&& lists, Index count) {
  std::vector<std::ranges::range_value_t<std::ranges::range_reference_t<Lists>>> all;
  for (const auto& named : lists)
    for (Index k = 0; k < count; ++k) {
      all.emplace_back();
      if (k < std::ssize(named)) all.back() = named[static_cast<std::size_t>(k)];
    }
  return all;
}

/// log (got + single) / (given + single): how much more attention an item gets than is predicted. A result
/// within +-1e-4 counts as 0, since it may be rounding of float32.
/// @param single  attention that one token is expected to get; keeps the log small if little is predicted
double log_excess(double got, double given, double single);

/// Words (token ids) that occur in enough documents, numbered in ascending order of the ids.
struct NumberedWords {
  std::vector<std::int32_t> ids;             ///< [word]
  std::vector<Index> in_documents;           ///< [word]  number of documents in which the word counts
  std::vector<std::vector<Index>> of_token;  ///< [document] (tokens)  word; -1: too rare, or the token does not count

  NumberedWords() = default;
  /// @param documents        [document] (tokens)  token ids
  /// @param counts           [document] (tokens)  whether a token counts
  /// @param least_documents  number of documents in which a numbered word must count; 0: number all words
  NumberedWords(const std::vector<std::vector<std::int32_t>>& documents, const std::vector<std::vector<bool>>& counts,
                Index least_documents);

  /// @returns -1 if the word has no number
  [[nodiscard]] Index number(std::int32_t id) const;
};

Matrix32 rows_at(MatrixView32 all, const std::vector<Index>& places);

/// A matrix of `length` rows: the given rows at `places`, and zeros elsewhere.
Matrix32 put_at(const Matrix32& rows, const std::vector<Index>& places, Index length);

/// Rotates queries, keys or contents as a layer's rotary term does. Without a rotary term nothing changes.
class Turning {
 public:
  Turning(const AccountSite& site, std::size_t place)
      : term_(site.term(place).turned), d_head_(site.stack->block.d_head) {}

  [[nodiscard]] explicit operator bool() const { return term_ != nullptr; }

  /// @param rows  (T, n * d_head)  all places of a sequence
  void turn(Matrix32& rows) const {
    if (term_) term_->turn(rows, d_head_);
  }

  /// Rotates rows at `places` of a sequence of `length` tokens; in the reverse direction if `back` is true.
  [[nodiscard]] Matrix32 turned(const Matrix32& rows, const std::vector<Index>& places, Index length, bool back) const {
    if (!term_) return rows;
    Matrix32 all = put_at(rows, places, length);
    if (back) flip(all);
    term_->turn(all, d_head_);
    if (back) flip(all);
    return rows_at(all, places);
  }

 private:
  /// Changes the sign of one channel of each pair. A rotation between two flips is the reverse rotation.
  void flip(Matrix32& rows) const {
    for (Index pair = 0; pair < term_->options().channels / 2; ++pair)
      rows.col(channels_of(term_->options(), pair).second) *= -1;
  }

  std::shared_ptr<const RotaryTerm> term_;
  Index d_head_;
};

/// The documents whose attention is accounted for in bits, and the data that all layers share.
struct AccountedDocuments {
  const AccountSite& site;
  const std::array<AccountHalf, 2>& halves;
  std::vector<const AccountDocument*> kept;       ///< all documents that were kept whole, in the order of their numbers
  std::vector<const AccountDocument*> documents;  ///< the accounted documents, evenly spread over `kept`
  std::vector<RowSpan> rows;                      ///< chosen_rows(), the same in every document
  std::vector<Index> queries;                     ///< places of the chosen queries
  std::vector<Index> row_of;                      ///< (T)  index of a query among the chosen ones; -1: not chosen
  bool known_words = true;                        ///< whether token ids are known
  NumberedWords words;                            ///< all words of the keys of `documents`, if token ids are known

  /// @param most  largest number of accounted documents
  /// @throws ShapeError if one half has no documents
  AccountedDocuments(const AccountHalves& of, Index most);

  [[nodiscard]] Index chosen() const { return std::ssize(queries); }
  /// Half of the n-th accounted document, 0 or 1. What is fitted on one half is measured on the other.
  [[nodiscard]] std::size_t half(std::size_t n) const { return static_cast<std::size_t>(documents[n]->number % 2); }
  [[nodiscard]] KeySpan open(std::size_t place, Index query) const {
    return allowed_keys(query, site.keys(), site.kind == AttentionKind::causal, site.window(place));
  }
};

/// Attention of the chosen queries of one document in one layer, with its predictors; equations are in
/// attention_bits.h. Special and first tokens, and queries that see too few text keys, take no part.
struct AttendedDocument {
  Eigen::ArrayXf text;           ///< (keys)  1: a text key
  std::vector<Index> queries;    ///< places of the queries that take part, ascending
  std::vector<Index> rows;       ///< indices of these queries among the chosen rows
  Matrix bits;                   ///< (heads, chosen rows)  bits_i of (1)
  Matrix32 mass;                 ///< (heads, chosen rows)  w, attention on text; 0: the query takes no part
  Matrix32 within;               ///< (heads * chosen rows, keys)  A^X; 0 if the query takes no part
  Matrix32 position;             ///< (heads * chosen rows, keys)  p_pos from means without this document
  Matrix32 drawn;                ///< (heads * chosen rows, keys)  mean of the draws of p_key
  std::vector<Index> strongest;  ///< (heads * chosen rows)  key y of the experiments; -1: no key stands out
  Vector followed, trials;       ///< (heads)  sum over swaps of the term in (6), and number of swaps
};

/// Attention of all accounted documents in one layer.
struct AttendedLayer {
  const AccountedDocuments& accounted;
  std::size_t place = 0;                    ///< index of the layer in the grid
  Matrix32 mean_query, mean_key;            ///< means of every place over all documents, before rotation
  Matrix32 position;                        ///< (heads * chosen rows, keys)  p_pos from means over all documents
  std::vector<AttendedDocument> documents;  ///< in the order of accounted.documents

  [[nodiscard]] Index heads() const { return accounted.site.grid.heads; }
  /// Row of a head in the grid.
  [[nodiscard]] Index row(Index head) const { return static_cast<Index>(place) * heads() + head; }
  /// Rows of one head in a matrix of (heads * chosen rows).
  [[nodiscard]] auto of_head(const Matrix32& rows, Index head) const {
    return rows.middleRows(head * accounted.chosen(), accounted.chosen());
  }
};

constexpr Index position_draws = 4;  ///< number of draws of p_pos per document
constexpr Index word_draws = 16;     ///< number of draws of p_key per document
constexpr Index swaps_drawn = 4;     ///< number of random pairings of a document's keys for (6)

/// Computes attention, predictors (2) and swaps (6) of one layer.
AttendedLayer attended_layer(const AccountedDocuments& accounted, std::size_t place, std::uint64_t seed);

/// log2 of each number; numbers below 1e-15 count as 1e-15.
Eigen::ArrayXf binary_logarithms(const Eigen::ArrayXf& numbers);

/// Dot product, summed in double.
double dot_of(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b);

}  // namespace headwave
