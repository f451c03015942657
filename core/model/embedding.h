#pragma once

#include <functional>
#include <string>
#include <utility>

#include "../attention/block.h"
#include "../attention/document.h"
#include "../numbers/matrix.h"

namespace headwave {

/// How a model cuts images into patches, and where these stand among its tokens: row by row from the top
/// left, after the tokens that open every document ([CLS], and DeiT's distillation token). A position that is
/// `columns` further on is one row further down.
struct PatchGrid {
  Index first = 0;              ///< position of the patch at row 0, column 0: how many tokens open a document
  Index rows = 0, columns = 0;  ///< of patches; 0: the model reads no images
  Index height = 0, width = 0;  ///< of a patch, in pixels
  Index channels = 0;           ///< of a pixel

  [[nodiscard]] bool empty() const { return rows * columns == 0; }
  [[nodiscard]] Index patches() const { return rows * columns; }
  /// T of every document.
  [[nodiscard]] Index positions() const { return first + patches(); }
  /// Numbers in a patch: channel by channel, row by row.
  [[nodiscard]] Index numbers() const { return channels * height * width; }
};

/// The word embeddings, one row per word: floats in memory, or rows that are read when they are asked for, so
/// that a large table need not be held.
class WordTable {
 public:
  /// Writes rows first .. first + count - 1 to `out`, one after the other. May be called from several
  /// threads.
  using ReadRows = std::function<void(Index first, Index count, float* out)>;

  WordTable() = default;
  /// A view of a table that somebody else owns.
  WordTable(const MatrixView32& rows) : rows_(rows) {}  // NOLINT: implicit, as a view is
  WordTable(const Matrix32& rows) : rows_(rows) {}      // NOLINT: as above
  WordTable(Index rows, Index cols, ReadRows read) : rows_(nullptr, rows, cols), read_(std::move(read)) {}

  [[nodiscard]] Index rows() const { return rows_.rows(); }
  [[nodiscard]] Index cols() const { return rows_.cols(); }
  [[nodiscard]] Index size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// @param row  0 .. rows() - 1
  /// @param out  room for cols() floats
  void copy_row(Index row, float* out) const;
  /// Rows first ... first + count - 1.
  [[nodiscard]] Matrix32 copied(Index first, Index count) const;
  /// The table in memory. @throws ShapeError if rows are read when they are asked for
  [[nodiscard]] const MatrixView32& in_memory() const;

 private:
  MatrixView32 rows_;
  ReadRows read_;  ///< null: `rows_` are in memory
};

/// How a speech model makes its positions from the frames of a spectrum: two convolutions over three frames,
/// the second with stride 2. Their weights are (d_out, d_in * 3), the three frames of an input channel side
/// by side.
struct FrameStem {
  Linear first, second;

  [[nodiscard]] bool empty() const { return second.empty(); }
  [[nodiscard]] Index bins() const { return first.d_in() / frames_in_sight; }
  [[nodiscard]] Index d_model() const { return second.d_out(); }

  static constexpr Index frames_in_sight = 3;
  static constexpr Index frames_per_position = 2;
};

/// The two convolutions, each followed by gelu; frames before the first and after the last are 0:
///
///     y_t = gelu(b + sum_k W_k x_(t + k - 1)),  k = 0, 1, 2;      z_s = gelu(c + sum_k V_k y_(2 s + k - 1))       (1)
///
/// Source: Radford et al. 2023, section 2.2.
/// @param frames  (frames, bins)
/// @returns (ceil(frames / 2), d_model)
/// @throws ShapeError if the bins are not the model's
Matrix32 frame_rows(const FrameStem& stem, MatrixView32 frames);

/// What tokens become before the first block: projection(norm(scale * word + position + token type 0)), where
/// each part is optional. Models of images read patches, projected linearly, in place of words; models of
/// sound read the output of convolutions over frames.
struct Embedding {
  WordTable words;            ///< (vocabulary, d_embedding)  d_model wide where there is no projection
  float word_scale = 1;       ///< sqrt(d_model) in the original Transformer
  MatrixView32 positions;     ///< (longest document, d_embedding) row n is added to token n; empty: no position table
  MatrixView32 token_types;   ///< (types, d_embedding); or empty
  Norm norm;                  ///< or empty
  Linear projection = {};     ///< to d_model: of factorised embeddings (ALBERT, ELECTRA); or empty
  Linear patches = {};        ///< of images: a patch's pixels to d_model; or empty
  MatrixView32 opening = {};  ///< of images: (first, d_model) the tokens before the patches, by id; or empty
  FrameStem frames = {};      ///< of sound: what makes positions from frames; or empty
  Index refused_word = -1;    ///< ESM's mask, by whose number the model scales its words, which is not computed here

  /// Whether tokens are looked up in `words`.
  [[nodiscard]] bool reads_words() const { return patches.empty() && frames.empty(); }
};

/// The embeddings of a document's words in order, before positions are added; of an image, its opening tokens
/// and projected patches; of a sound, frame_rows().
/// @param document  what messages call it; empty: "document"
/// @returns (T, d_embedding)
/// @throws ShapeError if an id lies outside the vocabulary or is refused, or the patches or frames are not the model's
Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

/// What enters the first block: projection(norm(scale * word + position + token type 0)).
/// @returns (T, d_model)
/// @throws ShapeError as word_rows()
Matrix32 embedded_tokens(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

}  // namespace headwave
