#pragma once

// A model whose heads look a known way over the patches of a grid.

#include <cmath>
#include <memory>
#include <vector>

#include "../../core/algebra/decompositions.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// Where a planted head looks: so many patches down and to the right of each query; or nowhere in particular.
struct PlantedLook {
  double down = 0, right = 0;
  bool anywhere = false;
};

/// One layer over a grid of patches behind an opening token.
///
/// The position table has waves over rows and others over columns, PE[r, c] = sum cos(w_m r) b_2m + sin(w_m r) b_2m+1, and
/// the same of c with other b, so a head that looks (down, right) has, as in core/planted/planted.h,
///
///     S = a sum_m cos(w_m (r' - r - down)) + a sum_m cos(w_m (c' - c - right))                    (1)
///
/// between patches, and 0 from and to the opening token. A head that looks anywhere has random queries and keys of the
/// patches' words.
class PlantedGrid {
 public:
  PlantedGrid(Index rows, Index columns, const std::vector<PlantedLook>& looks, double amplitude = 2)
      : amplitude_(amplitude) {
    grid_.first = 1;
    grid_.rows = rows;
    grid_.columns = columns;
    Matrix start(d_model, 4 * waves + words + 2);
    start.col(0).setOnes();  // what follows is orthogonal to it: a norm only scales
    for (double& entry : start.rightCols(start.cols() - 1).reshaped()) entry = random_.normal();
    basis_ = thin_qr(start).q.rightCols(start.cols() - 1);
    kept_ = std::make_shared<Kept>();
    plant_positions();
    // Words of norm 1; the opening token as long as the others, so that all rows are scaled alike.
    kept_->words = Matrix32(basis_.rightCols(words + 1).transpose().cast<float>());
    kept_->words.row(words) *= static_cast<float>(std::sqrt(2.0 * waves + 1));
    kept_->ones = Vector32::Ones(d_model);
    const auto heads = static_cast<Index>(looks.size());
    kept_->query = kept_->key = kept_->none = Matrix32::Zero(heads * d_head, d_model);
    for (Index head = 0; head < heads; ++head) plant_head(head, looks[static_cast<std::size_t>(head)]);
    describe_model(heads);
  }

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const PatchGrid& grid() const { return grid_; }

  /// Documents of random words on the grid.
  [[nodiscard]] Document document(Index number) const {
    Random random = Random(9).stream(static_cast<std::uint64_t>(number));
    Document document;
    document.name = "image " + std::to_string(number);
    document.ids = {words};
    document.tokens = {"[CLS]"};
    document.special = {1};
    for (Index n = 0; n < grid_.patches(); ++n) {
      document.ids.push_back(static_cast<std::int32_t>(random.below(words)));
      document.tokens.push_back("patch");
      document.special.push_back(0);
    }
    return document;
  }

 private:
  static constexpr Index waves = 5, words = 24, d_head = 4 * waves, d_model = 4 * waves + words + 3;
  static constexpr double angular[waves] = {0.37, 0.81, 1.3, 1.9, 2.6};  // radians per patch
  static constexpr double scale = d_model / (2.0 * waves + 1);           // of a unit direction, squared, by the norm

  struct Kept {
    Matrix32 positions, words, query, key, none;
    Vector32 ones;
  };

  void plant_positions() {
    kept_->positions = Matrix32::Zero(grid_.positions(), d_model);
    for (Index n = 0; n < grid_.patches(); ++n)
      for (Index wave = 0; wave < 2 * waves; ++wave) {
        const Index place = wave < waves ? n / grid_.columns : n % grid_.columns;
        const double phase = angular[wave % waves] * static_cast<double>(place);
        kept_->positions.row(n + 1) +=
            (std::cos(phase) * basis_.col(2 * wave) + std::sin(phase) * basis_.col(2 * wave + 1))
                .transpose()
                .cast<float>();
      }
  }

  void plant_head(Index head, const PlantedLook& look) {
    Matrix query = Matrix::Zero(d_head, d_model), key = query;
    const double gain = std::sqrt(amplitude_ * std::sqrt(static_cast<double>(d_head)) / scale);
    for (Index wave = 0; wave < 2 * waves && !look.anywhere; ++wave) {
      const double angle = angular[wave % waves] * (wave < waves ? look.down : look.right);
      const auto cosine = basis_.col(2 * wave), sine = basis_.col(2 * wave + 1);
      query.row(2 * wave) = gain * cosine.transpose();
      query.row(2 * wave + 1) = gain * sine.transpose();
      key.row(2 * wave) = gain * (std::cos(angle) * cosine + std::sin(angle) * sine).transpose();
      key.row(2 * wave + 1) = gain * (std::cos(angle) * sine - std::sin(angle) * cosine).transpose();
    }
    if (look.anywhere) {
      query = random_reading();
      key = random_reading();
    }
    kept_->query.middleRows(head * d_head, d_head) = query.cast<float>();
    kept_->key.middleRows(head * d_head, d_head) = key.cast<float>();
  }

  /// Of the patches' words.
  Matrix random_reading() {
    Matrix reading(d_head, words);
    for (double& entry : reading.reshaped()) entry = random_.normal() / std::sqrt(scale);
    return reading * basis_.middleCols(4 * waves, words).transpose();
  }

  void describe_model(Index heads) {
    model_.family = "vit";
    model_.patches = grid_;
    model_.longest = grid_.positions();
    BlockSpec& block = model_.stack.block;
    block.norm_place = NormPlace::pre;
    block.heads = block.kv_heads = heads;
    block.d_head = d_head;
    block.score_scale = 1 / std::sqrt(static_cast<double>(d_head));
    model_.stack.embedding.words = kept_->words;
    model_.stack.embedding.positions = kept_->positions;
    Block layer;
    layer.self = {{kept_->query, {}}, {kept_->key, {}}, {kept_->none, {}}, {}};
    layer.self_norm = {kept_->ones, {}, 1e-12F, NormKind::layer};
    model_.stack.blocks.push_back(layer);
    model_.storage = kept_;
  }

  PatchGrid grid_;
  double amplitude_;
  Random random_{5};
  Matrix basis_;  // (d_model, 4 waves + words + 1) orthonormal
  std::shared_ptr<Kept> kept_;
  Model model_;
};

/// Some of its documents.
class PlantedGridSource : public Source {
 public:
  PlantedGridSource(const PlantedGrid& planted, Index count) : planted_(planted), count_(count) {}
  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Document document(Index i) const override { return planted_.document(i); }
  [[nodiscard]] Index length(Index /*i*/) const override { return planted_.grid().positions(); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  const PlantedGrid& planted_;
  Index count_;
};

}  // namespace headwave
