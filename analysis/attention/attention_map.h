#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// Attention maps of one document: the weights of chosen heads over a window of it as they are, and over all
/// of it in tiles, each with its largest and its mean weight. In the mean alone a diagonal one token wide
/// would fade.
struct AttentionMaps {
  std::vector<HeadName> heads;
  Index first = 0;              ///< position of the window's first token, among the queries and among the keys
  std::vector<Matrix> weights;  ///< one per head, (n', n) of the window: rows are queries, columns keys; of floats
  Index query_tile = 1;         ///< tokens of a tile; the last one may have fewer
  Index key_tile = 1;
  std::vector<Matrix> largest;  ///< one per head, (query tiles, key tiles); empty if the window is the document
  std::vector<Matrix> mean;     ///< the same for the mean over all pairs of the tile, masked pairs included
  std::vector<std::string>
      tokens;  ///< (T') text of the queries; ids where no text is known, positions where no ids are
  std::vector<std::string> key_tokens;    ///< (T) text of the keys; another text only in cross-attention
  std::vector<std::uint8_t> special;      ///< (T') 1: a special token; empty: nothing is known
  std::vector<std::uint8_t> key_special;  ///< (T)
  std::string document;                   ///< name of the document
};

/// Value of `first`: choose the window in which heads attend most as in the whole document.
constexpr Index typical_window = -1;

/// The part of a document that a map keeps.
struct MapOptions {
  Index first = 0;    ///< position of the window's first token; typical_window: chosen, see typical_of()
  Index tokens = 64;  ///< of the window; of a shorter document, all
  Index tiles = 64;   ///< along a side, at most; all have equally many tokens
};

/// Texts of all tokens of a sequence: ids where no text is known, positions where no ids are.
/// @param document  holds the sequence; stored states may have no ids, then it gives their number
std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document);

/// The window of a document that is most like the whole document: its mean weights by offset differ least
/// from the document's, summed over |t| <= n / 2 and averaged over heads. Ties go to the first.
/// @param windows  per window and head, (n, n): rows are queries, columns keys
/// @param document  per head, (2 n - 1): mean weight over the document's pairs at t = 1 - n ... n - 1
/// @returns its number
std::size_t typical_of(const std::vector<std::vector<Matrix32>>& windows, const std::vector<Vector>& document);

/// Keeps the weights of chosen heads. A row of the window sums to less than 1 if attention also goes outside
/// the window.
class AttentionMapProbe : public Probe {
 public:
  /// @param kind  the kind of attention to look at; other kinds are ignored
  /// @throws ShapeError if the document has no token in the window
  AttentionMapProbe(std::vector<HeadName> heads, const MapOptions& options, const Document& document,
                    AttentionKind kind = AttentionKind::self);

  using Probe::see;
  void see(const Tile& tile) override;

  /// Once all tiles have passed.
  [[nodiscard]] First<AttentionMaps> taken() const;

 private:
  void pool(const Tile& tile, std::size_t map);
  void add_to_profile(const Tile& tile, std::size_t map);

  AttentionKind kind_;
  Index queries_, keys_;
  AttentionMaps maps_;                          // mean: sums
  std::vector<Index> begins_;                   // of the windows that may be shown
  std::vector<std::vector<Matrix32>> windows_;  // per beginning and head
  std::vector<Vector> profile_;                 // per head, sums by offset; empty if the window is given
};

/// Fields attention_map/...
std::vector<Field> describe(const AttentionMaps& maps);

inline constexpr OwnOption map_document_option{"map_document", "document that attention maps show, counted from 0", 0,
                                               0, 1'000'000'000};
inline constexpr OwnOption map_first_option{
    "map_first",
    "its first token that attention maps keep weight by weight, counted from 0; -1: where heads attend as in all of it",
    typical_window,
    -1,
    1'000'000'000,
    false,
    true};
inline constexpr OwnOption map_tokens_option{
    "map_tokens", "how many tokens from there they keep so", 64, 1, 4096, false, true};

/// In a job: attention_map/..., of one of its documents.
const AnalysisKind& attention_map_analysis();

}  // namespace headwave
