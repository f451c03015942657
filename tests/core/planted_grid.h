#pragma once

// A model whose heads look a known way over the patches of a grid.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../../core/numbers/random.h"
#include "../../core/numbers/thin_qr.h"

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
  PlantedGrid(Index rows, Index columns, const std::vector<PlantedLook>& looks, double amplitude = 2) {
    constexpr Index waves = 5, words = 24, d_head = 2 * 2 * waves, d_model = 4 * waves + words + 3;
    const double angular[waves] = {0.37, 0.81, 1.3, 1.9, 2.6};
    grid_.first = 1;
    grid_.rows = rows;
    grid_.columns = columns;
    Random random(5);
    Matrix start(d_model, 4 * waves + words + 2);
    start.col(0).setOnes();  // what follows is orthogonal to it: a norm only scales
    for (double& entry : start.rightCols(start.cols() - 1).reshaped()) entry = random.normal();
    const Matrix basis = thin_qr(start).q.rightCols(start.cols() - 1);
    auto kept = std::make_shared<Kept>();
    kept->positions = Matrix32::Zero(grid_.positions(), d_model);
    for (Index n = 0; n < grid_.patches(); ++n)
      for (Index m = 0; m < waves; ++m)
        for (const auto& [axis, place] : {std::pair{Index{0}, n / columns}, {Index{1}, n % columns}}) {
          const double phase = angular[m] * static_cast<double>(place);
          const Index at = 2 * (axis * waves + m);
          kept->positions.row(n + 1) +=
              (std::cos(phase) * basis.col(at) + std::sin(phase) * basis.col(at + 1)).transpose().cast<float>();
        }
    // Words of norm 1; the opening token as long as the others, so that all rows are scaled alike.
    kept->words = Matrix32(basis.rightCols(words + 1).transpose().cast<float>());
    kept->words.row(words) *= static_cast<float>(std::sqrt(2.0 * waves + 1));
    kept->ones = Vector32::Ones(d_model);
    const auto heads = static_cast<Index>(looks.size());
    kept->query = kept->key = Matrix32::Zero(heads * d_head, d_model);
    kept->none = Matrix32::Zero(heads * d_head, d_model);
    const double scale = static_cast<double>(d_model) / (2.0 * waves + 1);  // of a unit direction, squared, by the norm
    for (Index head = 0; head < heads; ++head) {
      const PlantedLook& look = looks[static_cast<std::size_t>(head)];
      Matrix query = Matrix::Zero(d_head, d_model), key = query;
      const double gain = std::sqrt(amplitude * std::sqrt(static_cast<double>(d_head)) / scale);
      for (Index at = 0; at < 2 * waves && !look.anywhere; ++at) {
        const double angle = angular[at % waves] * (at < waves ? look.down : look.right);
        const auto cosine = basis.col(2 * at), sine = basis.col(2 * at + 1);
        query.row(2 * at) = gain * cosine.transpose();
        query.row(2 * at + 1) = gain * sine.transpose();
        key.row(2 * at) = gain * (std::cos(angle) * cosine + std::sin(angle) * sine).transpose();
        key.row(2 * at + 1) = gain * (std::cos(angle) * sine - std::sin(angle) * cosine).transpose();
      }
      if (look.anywhere) {
        Matrix q(d_head, words), k(d_head, words);
        for (double& entry : q.reshaped()) entry = random.normal() / std::sqrt(scale);
        for (double& entry : k.reshaped()) entry = random.normal() / std::sqrt(scale);
        query = q * basis.middleCols(4 * waves, words).transpose();
        key = k * basis.middleCols(4 * waves, words).transpose();
      }
      kept->query.middleRows(head * d_head, d_head) = query.cast<float>();
      kept->key.middleRows(head * d_head, d_head) = key.cast<float>();
    }
    model_.family = "vit";
    model_.patches = grid_;
    model_.longest = grid_.positions();
    BlockSpec& block = model_.stack.block;
    block.norm_place = NormPlace::pre;
    block.heads = block.kv_heads = heads;
    block.d_head = d_head;
    block.score_scale = 1 / std::sqrt(static_cast<double>(d_head));
    model_.stack.embedding.words = kept->words;
    model_.stack.embedding.positions = kept->positions;
    Block layer;
    layer.self = {{kept->query, {}}, {kept->key, {}}, {kept->none, {}}, {}};
    layer.self_norm = {kept->ones, {}, 1e-12F, NormKind::layer};
    model_.stack.blocks.push_back(layer);
    model_.storage = kept;
  }

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const PatchGrid& grid() const { return grid_; }

  /// Documents of random words on the grid.
  [[nodiscard]] Document document(Index number) const {
    Random random = Random(9).stream(static_cast<std::uint64_t>(number));
    Document document;
    document.name = "image " + std::to_string(number);
    document.ids = {24};
    document.tokens = {"[CLS]"};
    document.special = {1};
    for (Index n = 0; n < grid_.patches(); ++n) {
      document.ids.push_back(static_cast<std::int32_t>(random.below(24)));
      document.tokens.push_back("patch");
      document.special.push_back(0);
    }
    return document;
  }

 private:
  struct Kept {
    Matrix32 positions, words, query, key, none;
    Vector32 ones;
  };
  PatchGrid grid_;
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
