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

/// Query rows that are accounted for, the same in every document, 64 at most: cells of 8 neighbours, spread evenly over the
/// places, one in each at random.
std::vector<RowSpan> chosen_rows(Index length);

/// The queries of some rows.
std::vector<Index> queries_of(const std::vector<RowSpan>& rows);

/// Keys that a query needs to see to be accounted for: of text, that is neither special nor, in a causal model, the first.
constexpr Index least_text_keys = 4;

/// (keys)  1: a key of text, 0: a special token, or the first of a causal model.
Eigen::ArrayXf text_keys(AttentionKind kind, const std::vector<std::uint8_t>& key_stays, bool first_key_special);
/// The same of the first tokens of a sequence.
Eigen::ArrayXf text_keys(AttentionKind kind, const TokenSequence& tokens, Index keys);

/// How many queries must see an offset for it to count: an eighth of those that see the offset that most see.
/// @param count  queries by offset
double enough_queries(const Vector& count);

/// A number of every head with its interval over documents.
struct HeadNumber {
  Vector value, lower, upper;  ///< (rows)  NaN: undefined
  explicit HeadNumber(Index rows = 0) : value(Vector::Constant(rows, not_defined)), lower(value), upper(value) {}

  /// Sets a head's number to a ratio of two sums over documents, a mean if the lower one counts, with its interval: leaves out
  /// an eighth of the documents at a time. It stays undefined if the lower sum is 0.
  /// @param upper_sums, lower_sums  (documents)
  void set_ratio(Index row, const std::vector<double>& upper_sums, const std::vector<double>& lower_sums);
};

/// Interval of sum(sums) / sum(counts) by leaving out groups of documents (jackknife_error()); NaN: fewer than 3 groups.
/// @param sums, counts  [group]
std::array<double, 2> jackknife(const std::array<double, account_groups>& sums,
                                const std::array<double, account_groups>& counts, double coverage = interval_coverage);

/// Adds the Fields quantity, quantity_lower and quantity_upper of numbers, one for each entry of the first axis.
/// @param undefined    what a NaN of the quantity means
/// @param no_interval  what a NaN of an end of its interval means
void add_numbers(Fields& fields, const std::string& quantity, const std::vector<Axis>& axes, const std::string& unit,
                 const std::string& long_name, std::span<const HeadNumber> numbers, const std::string& undefined,
                 const std::string& no_interval = "fewer than 6 documents of this length");

/// What was named, list by list, `count` of each: where a list is shorter, a default-constructed item.
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

/// log (got + single) / (given + single): how much more attention something gets than is predicted. Changes below 1e-4, which
/// rounding of float32 attention makes, count as none.
/// @param single  attention of a single token, which keeps the logarithm small where little is predicted
double log_excess(double got, double given, double single);

/// Words of documents by number, ascending by id: those that occur in enough documents.
struct NumberedWords {
  std::vector<std::int32_t> ids;             ///< [word]
  std::vector<Index> in_documents;           ///< [word]
  std::vector<std::vector<Index>> of_token;  ///< [document] (tokens)  -1: too rare, or not counted

  NumberedWords() = default;
  /// @param documents        ids of tokens
  /// @param counts           as many: whether a token counts
  /// @param least_documents  in which a word must occur as a token that counts; 0: all words are numbered
  NumberedWords(const std::vector<std::vector<std::int32_t>>& documents, const std::vector<std::vector<bool>>& counts,
                Index least_documents);

  /// @returns -1 if there is no such word
  [[nodiscard]] Index number(std::int32_t id) const;
};

/// Rows of a matrix, one for each place.
Matrix32 rows_at(MatrixView32 all, const std::vector<Index>& places);

/// A matrix of so many rows that has these at some places, and zeros elsewhere.
Matrix32 put_at(const Matrix32& rows, const std::vector<Index>& places, Index length);

/// Turns contents as the model's rotary term turns queries and keys, or leaves them.
class Turning {
 public:
  Turning(const AccountSite& site, std::size_t place)
      : term_(site.term(place).turned), d_head_(site.stack->block.d_head) {}

  [[nodiscard]] explicit operator bool() const { return term_ != nullptr; }

  /// @param rows  (T, any heads * d_head)
  void turn(Matrix32& rows) const {
    if (term_) term_->turn(rows, d_head_);
  }

  /// Rows that stand at some places of a sequence of a length, turned as there, or back.
  [[nodiscard]] Matrix32 turned(const Matrix32& rows, const std::vector<Index>& places, Index length, bool back) const {
    if (!term_) return rows;
    Matrix32 all = put_at(rows, places, length);
    if (back) flip(all);
    term_->turn(all, d_head_);
    if (back) flip(all);
    return rows_at(all, places);
  }

 private:
  /// A turn with the sign of one channel of each pair changed before and after is a turn back.
  void flip(Matrix32& rows) const {
    for (Index pair = 0; pair < term_->options().channels / 2; ++pair)
      rows.col(channels_of(term_->options(), pair).second) *= -1;
  }

  std::shared_ptr<const RotaryTerm> term_;
  Index d_head_;
};

/// The documents whose attention is accounted for, and what no layer changes of them.
struct AccountedDocuments {
  const AccountSite& site;
  const std::array<AccountHalf, 2>& halves;
  std::vector<const AccountDocument*> kept;       ///< all that were kept whole, in their order
  std::vector<const AccountDocument*> documents;  ///< those that are accounted for, spread evenly over them
  std::vector<RowSpan> rows;                      ///< chosen queries, the same of all
  std::vector<Index> queries;                     ///< the same as places
  std::vector<Index> row_of;                      ///< (T)  the chosen row that a query is; -1: not chosen
  bool known_words = true;                        ///< ids of tokens are known
  NumberedWords words;                            ///< of all keys of `documents`, if ids are known

  /// @param most  documents that are accounted for
  /// @throws ShapeError if one half of the documents has none
  AccountedDocuments(const AccountHalves& of, Index most);

  [[nodiscard]] Index chosen() const { return std::ssize(queries); }
  /// Which of the two halves a document belongs to; what is fitted on one is measured on the other.
  [[nodiscard]] std::size_t half(std::size_t n) const { return static_cast<std::size_t>(documents[n]->number % 2); }
  [[nodiscard]] KeySpan open(std::size_t place, Index query) const {
    return allowed_keys(query, site.keys(), site.kind == AttentionKind::causal, site.window(place));
  }
};

/// What the chosen queries of one document attend to in one layer, and what is predicted of it.
struct AttendedDocument {
  Eigen::ArrayXf text;           ///< (keys)  1: a key of text
  std::vector<Index> queries;    ///< that take part: places, ascending
  std::vector<Index> rows;       ///< as many: the chosen row that each is
  Matrix bits;                   ///< (heads, chosen rows)  by which its attention differs from uniform attention
  Matrix32 mass;                 ///< (heads, chosen rows)  w: attention on text; 0: takes no part
  Matrix32 within;               ///< (heads * chosen rows, keys)  A^X; rows that take no part are 0
  Matrix32 position;             ///< (heads * chosen rows, keys)  p_pos, without this document in the means
  Matrix32 drawn;                ///< (heads * chosen rows, keys)  mean of the draws of p_key
  std::vector<Index> strongest;  ///< (heads * chosen rows)  the key that experiments look at; -1: none stands out
  Vector followed, trials;       ///< (heads)  sums over swaps of the contents of two keys, and their number
};

/// The same of all documents, for one layer.
struct AttendedLayer {
  const AccountedDocuments& accounted;
  std::size_t place = 0;                    ///< of the layer in the grid
  Matrix32 mean_query, mean_key;            ///< of every place, before rotation
  Matrix32 position;                        ///< (heads * chosen rows, keys)  p_pos, all documents in the means
  std::vector<AttendedDocument> documents;  ///< as `accounted` has them

  [[nodiscard]] Index heads() const { return accounted.site.grid.heads; }
  /// Row of the grid of a head.
  [[nodiscard]] Index row(Index head) const { return static_cast<Index>(place) * heads() + head; }
  /// The rows of one head.
  [[nodiscard]] auto of_head(const Matrix32& rows, Index head) const {
    return rows.middleRows(head * accounted.chosen(), accounted.chosen());
  }
};

constexpr Index position_draws = 4;  ///< of each document's contents, for the predictor by position
constexpr Index word_draws = 16;     ///< of other documents' queries, for the predictor by word
constexpr Index swaps_drawn = 4;     ///< of each document's contents, for the evidence

/// Reads a layer of the grid.
AttendedLayer attended_layer(const AccountedDocuments& accounted, std::size_t place, std::uint64_t seed);

/// log2 of numbers, those below 1e-15 counting as this.
Eigen::ArrayXf binary_logarithms(const Eigen::ArrayXf& numbers);

/// Sum of products, in double.
double dot_of(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b);

}  // namespace headwave
