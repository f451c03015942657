#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headwave/core/matrix.h"

namespace headwave {

enum class Activation { gelu, gelu_tanh, relu };

/// y = x W^T + b with W as (out, in), the layout of Hugging Face's Linear. Views into the checkpoint: nothing is
/// copied.
struct Linear {
  MatrixView32 weight;  ///< (d_out, d_in)
  VectorView32 bias;    ///< (d_out) or empty
};

/// y = (x - mean) / sqrt(variance + eps) * scale + shift, over each row.
struct LayerNorm {
  VectorView32 scale;  ///< (d)
  VectorView32 shift;  ///< (d)
  float eps = 1e-5F;
};

/// One encoder block in the order of BERT: x = norm(x + attention(x)); x = norm(x + feed_forward(x)).
struct Block {
  Linear query, key, value, output;
  LayerNorm attention_norm;
  Linear widen, narrow;
  LayerNorm feed_forward_norm;
};

/// What a model is, in numbers.
struct ModelSpec {
  std::string family;  ///< "bert", "roberta"
  Index layers = 0;
  Index d_model = 0;
  Index heads = 0;
  Index d_head = 0;  ///< width of one head's queries and keys; read, never assumed to be d_model / heads
  Index d_feed_forward = 0;
  Index vocabulary = 0;
  Index positions = 0;       ///< longest document, in tokens
  Index first_position = 0;  ///< row of the position table that token 0 reads: padding_idx + 1 = 2 in RoBERTa
  Activation activation = Activation::gelu;
  [[nodiscard]] double score_scale() const;  ///< 1/sqrt(d_head)
};

/// A model as data: a description and views of its weights.
struct Model {
  ModelSpec spec;
  MatrixView32 words;        ///< (vocabulary, d_model)
  MatrixView32 positions;    ///< (rows, d_model) the table as stored; see position_embedding() for the rows in use
  MatrixView32 token_types;  ///< (types, d_model)
  LayerNorm embedding_norm;
  std::vector<Block> blocks;            ///< one per layer; empty where only stored queries and keys are looked at
  std::shared_ptr<const void> storage;  ///< keeps the memory behind the views alive

  /// Rows of the position table that tokens 0 .. T-1 read, without the rows before `first_position`.
  /// @returns (positions, d_model); empty where the model has no position table
  [[nodiscard]] MatrixView32 position_embedding() const;
};

}  // namespace headwave
