// Attention of the chosen queries, its predictors and the swaps of contents, layer by layer: equations (1),
// (2) and (6) of attention_bits.h.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/numbers/random.h"
#include "attended_rows.h"

namespace headwave {

namespace {

constexpr float stands_out = 3,
                little_beside = 0.25F;  // least weight of y by its uniform share, and largest weight of o by that of y

/// Mean queries and keys of every place, over one half of the documents.
struct Means {
  Matrix32 query, key;
  Index documents = 0;
  Matrix32 chosen_query = {}, turned_key = {};  ///< after rotation; queries of the chosen rows only
};

class LayerReader {
 public:
  LayerReader(const AccountedDocuments& accounted, std::size_t place, std::uint64_t seed)
      : accounted_(accounted),
        site_(accounted.site),
        place_(place),
        random_(Random(seed).stream(1 + place)),
        heads_(site_.grid.heads),
        chosen_(accounted.chosen()),
        layer_{accounted, place, {}, {}, {}, {}} {
    const auto& [even, odd] = accounted.halves;
    const auto all = static_cast<float>(even.documents + odd.documents);
    layer_.mean_query = (even.layers[place].query + odd.layers[place].query) / all;
    layer_.mean_key = (even.layers[place].key + odd.layers[place].key) / all;
    for (std::size_t h = 0; h < 2; ++h) {
      const AccountHalf& half = accounted.halves[h];
      of_half_[h] = {half.layers[place].query / static_cast<float>(half.documents),
                     half.layers[place].key / static_cast<float>(half.documents), half.documents};
      of_half_[h].chosen_query = rows_at(turned(of_half_[h].query), accounted.queries);
      of_half_[h].turned_key = turned(of_half_[h].key);
    }
  }

  AttendedLayer read() {
    draw_position();
    layer_.position = (position_[0] + position_[1]) / 2;
    for (std::size_t n = 0; n < accounted_.documents.size(); ++n) {
      AttendedDocument& one = layer_.documents.emplace_back();
      one.drawn = drawn_key(n);
      one.position = position_without(n);
      attend(n, one);
      swap_contents(n, one);
    }
    return std::move(layer_);
  }

 private:
  [[nodiscard]] const AccountDocument& document(std::size_t n) const { return *accounted_.documents[n]; }
  [[nodiscard]] Index row_of(Index query) const { return accounted_.row_of[static_cast<std::size_t>(query)]; }
  [[nodiscard]] Eigen::ArrayXf text_of(std::size_t n) const {
    return text_keys(site_.kind, document(n).key_stays, document(n).first_key_special != 0);
  }

  /// Computes the attention of the chosen rows from given queries and keys.
  template <class Row>
  void attend_rows(const Matrix32& query, const Matrix32& key, Row row) const {
    RowProbe<Row> probe(std::move(row));
    std::array<Probe*, 1> probes{&probe};
    attend_layer(site_, place_, query, key, Matrix32(), probes, -1, accounted_.rows);
  }

  /// Mean queries or keys of all places with the dealt contents of a document.
  [[nodiscard]] Matrix32 dealt_query(const Matrix32& mean, std::size_t n, Random& random) const {
    return dealt(mean, document(n).layers[place_].query, dealt_places(document(n).query_stays, random));
  }
  [[nodiscard]] Matrix32 dealt_key(const Matrix32& mean, std::size_t n, Random& random) const {
    return dealt(mean, document(n).layers[place_].key, dealt_places(document(n).key_stays, random));
  }
  /// Adds the weights, normalised within the text, to `sums`, (heads * chosen rows, keys).
  void add_text(const Matrix32& query, const Matrix32& key, const Eigen::ArrayXf& text, Matrix32& sums) const {
    attend_rows(query, key, [&](Index head, Index i, const auto& weights) {
      const KeySpan open = accounted_.open(place_, i);
      if (open.count == 0) return;
      const Eigen::ArrayXf seen =
          weights.segment(open.first, open.count).array() * text.segment(open.first, open.count);
      const float mass = seen.sum();
      if (mass > 0)
        sums.row(head * chosen_ + row_of(i)).segment(open.first, open.count) += (seen / mass).matrix().transpose();
    });
  }

  /// Draws both versions of p_pos (2): mean queries of one half with mean keys of the other.
  void draw_position() {
    const std::size_t n_documents = accounted_.documents.size();
    Random random = random_.stream(0);
    const Index draws = (position_draws + 1) / 2;
    for (std::size_t h = 0; h < 2; ++h) {
      position_[h] = Matrix32::Zero(heads_ * chosen_, site_.keys());
      for (std::size_t n = 0; n < n_documents; ++n)
        for (Index draw = 0; draw < draws; ++draw) {
          const std::size_t other = (n + static_cast<std::size_t>(draw)) % n_documents;
          const Matrix32 query = dealt_query(of_half_[h].query, n, random),
                         key = dealt_key(of_half_[1 - h].key, other, random);
          add_text(query, key, text_of(other), position_[h]);
        }
      position_[h] /= static_cast<float>(static_cast<Index>(n_documents) * draws);
    }
  }

  /// Queries or keys of all places after rotation.
  [[nodiscard]] Matrix32 turned(Matrix32 all) const {
    Turning(site_, place_).turn(all);
    return all;
  }

  /// p_pos with a document removed from the mean of its half. The change s of a score is small and taken to
  /// be the same in all draws, so p_pos exp(s) is normalised.
  [[nodiscard]] Matrix32 position_without(std::size_t n) const {
    const std::size_t own = accounted_.half(n);
    const Means &mine = of_half_[own], &others = of_half_[1 - own];
    Matrix32 sum = (position_[0] + position_[1]) / 2;
    if (mine.documents < 2) return sum;
    const LayerQueriesKeys& seen = document(n).layers[place_];
    const Index d_head = seen.query.cols() / heads_, rows = chosen_;
    const auto scale = static_cast<float>(-site_.stack->block.score_scale / static_cast<double>(mine.documents - 1));
    // The document's half gives the mean queries in one version of p_pos, and the mean keys in the other.
    const Matrix32 own_query = rows_at(turned(seen.query - mine.query), accounted_.queries),
                   own_key = turned(seen.key - mine.key);
    const std::array<const Matrix32*, 2> query{&own_query, &others.chosen_query}, key{&others.turned_key, &own_key};
    sum.setZero();
    for (std::size_t side = 0; side < 2; ++side)
      for (Index head = 0; head < heads_; ++head) {
        const Matrix32 change =
            scale * product(query[side]->middleCols(head * d_head, d_head),
                            key[side]->middleCols(site_.stack->block.key_head(head) * d_head, d_head).transpose());
        Matrix32 without = position_[side == 0 ? own : 1 - own]
                               .middleRows(head * rows, rows)
                               .cwiseProduct(change.array().exp().matrix());
        for (Index r = 0; r < rows; ++r) {
          const float all = without.row(r).sum();
          if (all > 0) sum.row(head * rows + r) += without.row(r) / (2 * all);
        }
      }
    return sum;
  }

  /// The mean of the draws of p_key of (2).
  [[nodiscard]] Matrix32 drawn_key(std::size_t n) const {
    const std::size_t n_documents = accounted_.documents.size();
    Random random = random_.stream(1 + n);
    Matrix32 sums = Matrix32::Zero(heads_ * chosen_, site_.keys());
    for (Index draw = 0; draw < word_draws; ++draw) {
      const auto step = static_cast<std::size_t>(1 + random.below(static_cast<Index>(n_documents) - 1));
      const Matrix32 query = dealt_query(of_half_[1 - accounted_.half(n)].query, (n + step) % n_documents, random);
      add_text(query, document(n).layers[place_].key, text_of(n), sums);
    }
    return sums / static_cast<float>(word_draws);
  }

  /// Equation (1) of one query. A learned sink gets what is missing from a sum of 1.
  /// @param seen  A over the keys that the query sees
  [[nodiscard]] double bits(const Eigen::ArrayXf& seen) const {
    const bool sinks = site_.stack->has_sinks();
    const double keys = static_cast<double>(seen.size()) + (sinks ? 1 : 0);
    const double nowhere = sinks ? std::max(0.0, 1 - static_cast<double>(seen.sum())) : 0;
    const double entropy = -dot_of(seen, binary_logarithms(seen)) - nowhere * std::log2(std::max(nowhere, 1e-15));
    return std::log2(keys) * (static_cast<double>(seen.sum()) + nowhere) - entropy;
  }

  /// Computes the attention of the chosen queries that take part.
  void attend(std::size_t n, AttendedDocument& one) const {
    one.text = text_of(n);
    one.strongest.assign(static_cast<std::size_t>(heads_ * chosen_), -1);
    one.bits = Matrix::Zero(heads_, chosen_);
    one.mass = Matrix32::Zero(heads_, chosen_);
    one.within = Matrix32::Zero(heads_ * chosen_, site_.keys());
    one.followed = one.trials = Vector::Zero(heads_);
    const LayerQueriesKeys& own = document(n).layers[place_];
    attend_rows(own.query, own.key, [&](Index head, Index i, const auto& weights) {
      const KeySpan open = accounted_.open(place_, i);
      const auto text = one.text.segment(open.first, open.count);
      const float even = text.sum();
      if (document(n).query_stays[static_cast<std::size_t>(i)] != 0 || even < static_cast<float>(least_text_keys))
        return;
      const Index at = row_of(i);
      if (head == 0) {
        one.queries.push_back(i);
        one.rows.push_back(at);
      }
      const Eigen::ArrayXf seen = weights.segment(open.first, open.count).array();
      Eigen::ArrayXf within = seen * text;
      one.bits(head, at) = bits(seen);
      one.mass(head, at) = within.sum();
      within /= std::max(one.mass(head, at), 1e-12F);
      one.within.row(head * chosen_ + at).segment(open.first, open.count) = within.matrix().transpose();
      // The key of the experiments is not the query's own token.
      if (const Index self = i - open.first; !site_.crosses() && self >= 0 && self < within.size()) within[self] = 0;
      Index most = 0;
      if (within.maxCoeff(&most) >= stands_out / even)
        one.strongest[static_cast<std::size_t>(head * chosen_ + at)] = open.first + most;
    });
  }

  /// Equation (6). All text keys swap contents in pairs at once. The ratio of two keys' weights does not
  /// depend on the other keys, so each query sees the same ratio as if only its pair had been swapped.
  void swap_contents(std::size_t n, AttendedDocument& one) const {
    const LayerQueriesKeys& own = document(n).layers[place_];
    const Matrix32& within = one.within;
    Random random = random_.stream(0x5ABULL + (n << 12U));
    for (Index swap = 0; swap < swaps_drawn; ++swap) {
      std::vector<Index> free = free_places(document(n).key_stays), other(static_cast<std::size_t>(site_.keys()));
      std::iota(other.begin(), other.end(), Index{0});
      for (std::size_t p = free.size(); p > 1; --p)
        std::swap(free[p - 1], free[static_cast<std::size_t>(random.below(static_cast<Index>(p)))]);
      for (std::size_t p = 0; p + 1 < free.size(); p += 2) {
        other[static_cast<std::size_t>(free[p])] = free[p + 1];
        other[static_cast<std::size_t>(free[p + 1])] = free[p];
      }
      attend_rows(own.query, dealt(layer_.mean_key, own.key, other), [&](Index head, Index i, const auto& weights) {
        const Index at = head * chosen_ + row_of(i);
        const Index y = one.strongest[static_cast<std::size_t>(at)];
        if (y < 0) return;
        const Index o = other[static_cast<std::size_t>(y)];
        const KeySpan open = accounted_.open(place_, i);
        if (o == y || o < open.first || o >= open.first + open.count || (o == i && !site_.crosses()) ||
            within(at, o) > little_beside * within(at, y))
          return;
        const auto there = static_cast<double>(weights[y]), goes = static_cast<double>(weights[o]);
        if (!(there + goes > 0)) return;
        one.followed[head] += goes / (goes + there);
        ++one.trials[head];
      });
    }
  }

  const AccountedDocuments& accounted_;
  const AccountSite& site_;
  std::size_t place_;
  Random random_;
  Index heads_, chosen_;
  std::array<Means, 2> of_half_;      ///< [half]
  std::array<Matrix32, 2> position_;  ///< [half that gives the mean queries] (heads * chosen rows, keys)  p_pos
  AttendedLayer layer_;
};

}  // namespace

AttendedLayer attended_layer(const AccountedDocuments& accounted, std::size_t place, std::uint64_t seed) {
  return LayerReader(accounted, place, seed).read();
}

}  // namespace headwave
