#include "head_account.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../attention/offset_trace.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

double profile_strength(Eigen::Ref<const Vector> profile, Eigen::Ref<const Vector> uniform) {
  double mass = 0, even = 0, strength = 0;
  for (Index t = 0; t < profile.size(); ++t) {
    if (std::isnan(profile[t] - uniform[t])) continue;
    mass += profile[t];
    even += uniform[t];
  }
  const double level = std::min(1.0, mass / even);
  for (Index t = 0; t < profile.size(); ++t)
    if (const double more = profile[t] - level * uniform[t]; more > 0) strength += more;
  return strength;
}

double profile_overlap(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted,
                       Eigen::Ref<const Vector> uniform) {
  double missed = 0, mass = 0;
  for (Index t = 0; t < measured.size(); ++t) {
    const double miss = std::abs(measured[t] - predicted[t]);
    if (std::isnan(miss)) continue;
    missed += miss;
    mass += std::abs(measured[t] - uniform[t]);
  }
  // Weights are float32: a profile that differs from uniform attention by no more than rounding is uniform.
  return mass > 1e-6 ? 1 - missed / mass : not_defined;
}

namespace {

constexpr double least_replicated = 0.5;      // least o_replicated of a head with a preference
constexpr double nearly_all = 0.75;           // least part that names the verdict
constexpr Index least_account_documents = 8;  // fewer give no verdict

/// Query-key pairs of a layer at every offset |t| <= reach, without the first token.
struct NearPairs {
  Vector pairs, uniform;  ///< (2 reach + 1)  number of pairs, and sum of uniform weights over them
  NearPairs(const AccountSite& site, std::size_t place)
      : pairs(Vector::Zero(2 * site.reach + 1)), uniform(Vector::Zero(2 * site.reach + 1)) {
    for (Index i = 1; i < site.length; ++i) {
      const KeySpan open = allowed_keys(i, site.keys(), site.kind == AttentionKind::causal, site.window(place));
      const Index first = std::max({Index{1}, open.first, i - site.reach});
      const Index end = std::min(open.end(), i + site.reach + 1);
      for (Index j = first; j < end; ++j) {
        pairs[j - i + site.reach] += 1;
        uniform[j - i + site.reach] += 1 / static_cast<double>(open.count);
      }
    }
  }
};

/// Divides sums by numbers of pairs; NaN where there is no pair.
Matrix mean_along(Matrix sums, const Vector& pairs) {
  for (Index t = 0; t < pairs.size(); ++t)
    if (pairs[t] > 0)
      sums.col(t) /= pairs[t];
    else
      sums.col(t).setConstant(not_defined);
  return sums;
}

/// Sums weights along diagonals, see add_near_weights().
class NearWeights : public Probe {
 public:
  NearWeights(Index heads, Index reach) : sums_(Matrix::Zero(heads, 2 * reach + 1)), reach_(reach) {}
  using Probe::see;
  void see(const Tile& tile) override { add_near_weights(tile, reach_, sums_); }
  [[nodiscard]] const Matrix& sums() const { return sums_; }

 private:
  Matrix sums_;
  Index reach_;
};

/// Contents padded with zero rows to `rows`. The first token's content is set to 0, so it does not count.
Matrix padded(const Matrix32& content, Index rows) {
  Matrix result = Matrix::Zero(rows, content.cols());
  result.topRows(content.rows()) = content.cast<double>();
  result.row(0).setZero();
  return result;
}

/// Equation (4).
Matrix content_kernel(const AccountSite& site, std::size_t place, const AccountHalf& half, const Matrix32& mean_query,
                      const Matrix32& mean_key) {
  const BlockSpec& spec = site.stack->block;
  const RotaryTerm* rotary = site.term(place).turned.get();
  const Index length = site.longer(), zero = length - 1;
  Matrix sums = Matrix::Zero(spec.heads, diagonals(length));
  for (const AccountDocument& document : half.to_deal) {
    Matrix query = padded(document.layers[place].query - mean_query, length);
    Matrix key = padded(document.layers[place].key - mean_key, length);
    if (rotary != nullptr) {
      rotary->turn(query, spec.d_head);
      rotary->turn(key, spec.d_head);
    }
    for (Index shared = 0; shared < spec.kv_heads; ++shared) {
      const Matrix own = key.middleCols(shared * spec.d_head, spec.d_head);
      const MatrixC key_spectrum = padded_spectrum(own);
      for (Index head = 0; head < spec.heads; ++head) {
        if (spec.key_head(head) != shared) continue;
        const Matrix asked = query.middleCols(head * spec.d_head, spec.d_head);
        sums.row(head) += spec.score_scale * lagged_sums(padded_spectrum(asked), key_spectrum).transpose();
      }
    }
  }
  const bool causal = site.kind == AttentionKind::causal;
  const Index window = site.window(place), near = std::min<Index>(8, length / 8);
  const auto documents = static_cast<double>(half.to_deal.size());
  Matrix kernel = Matrix::Zero(sums.rows(), sums.cols());
  std::vector<Index> offsets, far;
  for (Index t = -(length / 2) + 1; t < length / 2; ++t) {
    const Index pairs = std::min(site.length, site.keys() - t) - std::max<Index>(1, 1 - t);
    if ((t == 0 && !site.crosses()) || pairs < 1 || (causal && t > 0) || (window > 0 && std::abs(t) >= window))
      continue;
    offsets.push_back(t);
    if (std::abs(t) > near) far.push_back(t);
    kernel.col(t + zero) = sums.col(t + zero) / (documents * static_cast<double>(pairs));
  }
  for (Index head = 0; head < kernel.rows() && !far.empty(); ++head) {
    std::vector<double> level;
    for (const Index t : far) level.push_back(kernel(head, t + zero));
    const double median = quantile(level, 0.5);
    for (const Index t : offsets) kernel(head, t + zero) -= median;
  }
  return kernel;
}

/// Sums of one draw of ShuffledPlaces at every offset t = -reach .. reach. The first token does not count.
struct ShuffledDraw {
  Matrix weights;  ///< (heads, 2 reach + 1)
  Vector uniform;  ///< (2 reach + 1)  weights of uniform attention
  Vector pairs;    ///< (2 reach + 1)  number of pairs
};

/// Null for the claim that profiles depend on the distance of query and key: profiles with shuffled places.
///
/// A draw permutes the places that do not stay by p, the same for all documents. The weight of query i on key
/// j counts at offset t = p(j) - p(i). This destroys a dependence on distance, but keeps other dependences on
/// the two places, such as those of a position table without order. A causal mask applies to the true places,
/// so under it only the distance is drawn: t = -|p(j) - p(i)|. In cross-attention queries and keys have
/// separate permutations, since no token meets itself.
class ShuffledPlaces : public Probe {
 public:
  /// @param query_stays  (T)     1: this place stays in every draw
  /// @param key_stays    (keys)  the same for keys; read only in cross-attention
  ShuffledPlaces(const AccountSite& site, const std::vector<std::uint8_t>& query_stays,
                 const std::vector<std::uint8_t>& key_stays, Index draws, const Random& random)
      : draws_seen(static_cast<std::size_t>(draws)), reach_(site.reach), causal_(site.kind == AttentionKind::causal) {
    const Vector none = Vector::Zero(2 * reach_ + 1);
    for (std::size_t draw = 0; draw < draws_seen.size(); ++draw) {
      Random own = random.stream(draw);
      place_.push_back(dealt_places(query_stays, own));
      const std::vector<Index> of_keys = site.crosses() ? dealt_places(key_stays, own) : place_.back();
      std::vector<Index>& position = position_.emplace_back(of_keys.size());
      for (std::size_t i = 0; i < of_keys.size(); ++i)
        position[static_cast<std::size_t>(of_keys[i])] = static_cast<Index>(i);
      draws_seen[draw] = {Matrix::Zero(site.grid.heads, 2 * reach_ + 1), none, none};
    }
  }

  using Probe::see;
  void see(const Tile& tile) override {
    Reads reads;
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index i = tile.first_row + r;
      if (i == 0) continue;
      const KeySpan open = tile.allowed_keys(i);
      for (std::size_t draw = 0; draw < draws_seen.size(); ++draw) {
        ShuffledDraw& sums = draws_seen[draw];
        find_reads(draw, i, open, reads);
        for (const Index column : reads.column) {
          sums.pairs[column] += 1;
          sums.uniform[column] += 1 / static_cast<double>(open.count);
        }
        for (Index head = 0; head < tile.heads(); ++head) {
          const float* weights = tile.weights[static_cast<std::size_t>(head)].row(r).data();
          double* sum = sums.weights.row(head).data();
          for (std::size_t k = 0; k < reads.key.size(); ++k)
            sum[reads.column[k]] += static_cast<double>(weights[reads.key[k]]);
        }
      }
    }
  }

  std::vector<ShuffledDraw> draws_seen;

 private:
  /// Keys that a draw puts within reach of one query, and the columns (t + reach) at which they count.
  struct Reads {
    std::vector<Index> key, column;
  };
  void find_reads(std::size_t draw, Index query, KeySpan open, Reads& reads) const {
    reads.key.clear();
    reads.column.clear();
    const std::vector<Index>& position = position_[draw];
    const Index place = place_[draw][static_cast<std::size_t>(query)];
    for (Index t = std::max(-reach_, 1 - place); t <= std::min(reach_, std::ssize(position) - 1 - place); ++t) {
      const Index key = position[static_cast<std::size_t>(place + t)];
      if (key < std::max<Index>(1, open.first) || key >= open.end()) continue;
      reads.key.push_back(key);
      reads.column.push_back(reach_ + (causal_ ? -std::abs(t) : t));
    }
  }

  Index reach_;
  bool causal_;
  std::vector<std::vector<Index>> place_;     ///< [draw] (T)  p of queries
  std::vector<std::vector<Index>> position_;  ///< [draw] (keys)  inverse of p of keys
};

/// Marks the places that stay in every dealt document. @returns (places)  1: stays
std::vector<std::uint8_t> always_stay(const std::array<AccountHalf, 2>& halves, Index places,
                                      std::vector<std::uint8_t> AccountDocument::*stays) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(places), 1);
  for (const AccountHalf& half : halves)
    for (const AccountDocument& document : half.to_deal)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] &= (document.*stays)[i];
  return all;
}

/// Profiles of one layer's heads over one half of the documents.
struct HalfProfiles {
  std::vector<std::array<Matrix, account_terms>> dealt;  ///< [document][term]  profiles; NaN: no pair
  std::vector<ShuffledDraw> null;                        ///< [draw]  sums over documents
};

HalfProfiles deal_half(const AccountSite& site, std::size_t place, const AccountHalf& half, const Matrix32& mean_query,
                       const Matrix32& mean_key, const std::array<std::vector<std::uint8_t>, 2>& always,
                       const HeadAccountOptions& options) {
  const Vector pairs = NearPairs(site, place).pairs;
  const Random random(options.seed);
  const Matrix32 shared = half.to_deal.empty()
                              ? Matrix32()
                              : Matrix32(content_kernel(site, place, half, mean_query, mean_key).cast<float>());
  ShuffledPlaces null(site, always[0], always[1], options.draws, random.stream(0));
  HalfProfiles profiles;
  for (const AccountDocument& document : half.to_deal) {
    Random own = random.stream(1 + static_cast<std::uint64_t>(document.number));
    const std::vector<Index> apart = dealt_places(document.query_stays, own);
    const std::vector<Index> together = dealt_places(document.key_stays, own);
    const LayerQueriesKeys& layer = document.layers[place];
    const Matrix32 key = dealt(mean_key, layer.key, together);
    std::array<Matrix, account_terms>& found = profiles.dealt.emplace_back();
    for (std::size_t term = 0; term < account_terms; ++term) {
      const bool position = term == static_cast<std::size_t>(AccountTerm::position);
      const bool with_context = term == static_cast<std::size_t>(AccountTerm::context);
      if (site.crosses() && !position && !with_context) {  // nothing meets itself
        found[term] = Matrix::Constant(site.grid.heads, 2 * site.reach + 1, not_defined);
        continue;
      }
      NearWeights weights(site.grid.heads, site.reach);
      std::vector<Probe*> probes{&weights};
      if (position && options.draws > 0) probes.push_back(&null);
      attend_layer(site, place, dealt(mean_query, layer.query, position || site.crosses() ? apart : together), key,
                   with_context ? shared : Matrix32(), probes);
      found[term] = mean_along(weights.sums(), pairs);
    }
  }
  profiles.null = std::move(null.draws_seen);
  return profiles;
}

/// [term, then measured] (heads, 2 reach + 1)  mean profiles over one half, or over one half without a fold.
using Profiles = std::array<Matrix, account_terms + 1>;

/// [term, then replicated] (heads)  overlaps with the measured profile of the other half.
using Overlaps = std::array<Vector, account_terms + 1>;

Overlaps overlaps_of(const Profiles& one, const Profiles& other, const Matrix& uniform) {
  Overlaps result;
  for (std::size_t term = 0; term < result.size(); ++term) {
    result[term].resize(uniform.rows());
    for (Index head = 0; head < uniform.rows(); ++head)
      result[term][head] = profile_overlap(other.back().row(head).transpose(), one[term].row(head).transpose(),
                                           uniform.row(head).transpose());
  }
  return result;
}

/// Equation (6) of one head.
std::array<double, account_terms> parts_of(const Overlaps& overlaps, Index head) {
  const double ceiling = overlaps.back()[head];
  if (!(ceiling > 0)) return {not_defined, not_defined, not_defined};
  const auto within = [&](std::size_t term) { return std::clamp(overlaps[term][head] / ceiling, 0.0, 1.0); };
  const double position = within(0);
  if (std::isnan(overlaps[1][head])) return {position, not_defined, 1 - position};  // cross-attention
  const double self = std::max(position, within(1));
  return {position, self - position, 1 - self};
}

/// Offset and weight of the maximum of each row.
void set_peaks(const Matrix& profile, bool causal, Vector& offset, Vector& weight) {
  offset = weight = Vector::Constant(profile.rows(), not_defined);
  for (Index row = 0; row < profile.rows(); ++row) {
    const auto peak = offset_peak(profile.row(row).transpose(), causal);
    if (!peak) continue;
    if (!peak->at_edge) offset[row] = static_cast<double>(peak->offset);
    weight[row] = profile(row, peak->offset + profile.cols() / 2);
  }
}

AccountVerdict verdict_of(const HeadAccount& account, Index row) {
  if (account.documents < 2) return AccountVerdict::undefined;
  if (!(account.strength[row] >= HeadAccount::least_strength) ||
      !(account.overlap.back().value[row] >= least_replicated))
    return AccountVerdict::no_preference;
  const double position = account.part[0].value[row], self = account.part[1].value[row],
               context = account.part[2].value[row];
  const bool ordered = account.q_value[row] <= account.options.fdr;
  if (position >= context && !(self > position) && !ordered) return AccountVerdict::no_preference;
  if (account.documents < least_account_documents) return AccountVerdict::undefined;
  // Without positions, the mean of a place holds only what texts have in common there.
  const bool places = account.site.tells_places(static_cast<std::size_t>(row / account.site.grid.heads));
  if (!places) {
    if (self >= nearly_all) return AccountVerdict::own_token;
    return position + context >= nearly_all ? AccountVerdict::context : AccountVerdict::mixed;
  }
  if (position >= nearly_all) return AccountVerdict::positional;
  if (self >= nearly_all) return AccountVerdict::own_token;
  return context >= nearly_all ? AccountVerdict::context : AccountVerdict::mixed;
}

/// Half the width of a number's jackknife interval.
/// @param without  [fold]  overlaps without the fold's documents
template <class Number>
double error_of(const std::vector<Overlaps>& without, const Number& number) {
  if (without.empty()) return not_defined;
  Vector left(std::ssize(without));
  for (Index fold = 0; fold < left.size(); ++fold) left[fold] = number(without[static_cast<std::size_t>(fold)]);
  return jackknife_error(left, interval_coverage);
}

/// Computes the accounts of one layer's heads.
class LayerAccount {
 public:
  LayerAccount(const AccountSums& sums, std::size_t place, HeadAccount& account)
      : sums_(sums),
        account_(account),
        site_(account.site),
        place_(place),
        heads_(site_.grid.heads),
        width_(2 * site_.reach + 1),
        pairs_(site_, place) {}

  /// Deals one half of the documents, with the mean keys of the other. Several threads may call it.
  /// @param always  always_stay() of queries, and of keys
  void deal(std::size_t half, const std::array<std::vector<std::uint8_t>, 2>& always) {
    const AccountHalf &own = sums_.halves[half], &other = sums_.halves[two_halves() ? 1 - half : half];
    const Matrix32 mean_query = own.layers[place_].query / static_cast<float>(own.documents);
    const Matrix32 mean_key = other.layers[place_].key / static_cast<float>(other.documents);
    halves_[half] = deal_half(site_, place_, own, mean_query, mean_key, always, account_.options);
  }

  /// Writes the numbers of the heads to their rows.
  /// @param drawn  (rows, draws)  receives the strengths of the null
  void put(Matrix& drawn) const {
    const auto own = [&](Matrix& all) { return all.middleRows(first_row(), heads_); };
    Matrix measured = Matrix::Zero(heads_, width_);
    for (const AccountHalf& half : sums_.halves)
      for (const Matrix& weights : half.group_weights)
        if (weights.size() > 0) measured += weights.middleRows(first_row(), heads_);
    own(account_.measured) = mean_along(measured / static_cast<double>(account_.documents), pairs_.pairs);
    own(account_.uniform) = mean_along(pairs_.uniform.transpose(), pairs_.pairs).replicate(heads_, 1);
    for (std::size_t term = 0; term < account_terms; ++term) {
      Matrix profile = Matrix::Zero(heads_, width_);
      for (const HalfProfiles& half : halves_)
        for (const auto& document : half.dealt) profile += document[term];
      own(account_.profile[term]) = profile / static_cast<double>(account_.dealt);
    }
    if (two_halves()) put_overlaps();
    for (Index draw = 0; draw < drawn.cols(); ++draw) {
      const auto d = static_cast<std::size_t>(draw);
      ShuffledDraw sums = halves_[0].null[d];
      if (!halves_[1].null.empty()) add_to(sums, ShuffledDraw(halves_[1].null[d]));
      const Matrix profile = mean_along(sums.weights, sums.pairs);
      const Vector uniform = mean_along(sums.uniform.transpose(), sums.pairs).transpose();
      for (Index head = 0; head < heads_; ++head)
        drawn(first_row() + head, draw) = profile_strength(profile.row(head).transpose(), uniform);
    }
  }

 private:
  [[nodiscard]] bool two_halves() const { return sums_.halves[1].documents > 0; }
  [[nodiscard]] Index first_row() const { return static_cast<Index>(place_) * heads_; }

  /// Mean profiles of a half without the documents of one fold; below 0: over all documents.
  [[nodiscard]] Profiles profiles_of(std::size_t half, Index folds, Index left_out) const {
    const AccountHalf& from = sums_.halves[half];
    const auto& dealt = halves_[half].dealt;
    const auto is_in = [&](std::size_t i) { return left_out < 0 || static_cast<Index>(i) % folds != left_out; };
    Profiles sums;
    sums.fill(Matrix::Zero(heads_, width_));
    Index measured = 0, count = 0;
    for (std::size_t g = 0; g < from.group_weights.size(); ++g)
      if (from.group_documents[g] > 0 && is_in(g)) {
        sums.back() += from.group_weights[g].middleRows(first_row(), heads_);
        measured += from.group_documents[g];
      }
    sums.back() = mean_along(sums.back() / static_cast<double>(std::max<Index>(1, measured)), pairs_.pairs);
    for (std::size_t d = 0; d < dealt.size(); ++d)
      if (is_in(d)) {
        for (std::size_t term = 0; term < account_terms; ++term) sums[term] += dealt[d][term];
        ++count;
      }
    for (std::size_t term = 0; term < account_terms; ++term) sums[term] /= static_cast<double>(count);
    return sums;
  }

  [[nodiscard]] Overlaps overlaps(Index folds, Index left_out) const {
    const Profiles even = profiles_of(0, folds, left_out), odd = profiles_of(1, folds, left_out);
    const Matrix uniform = account_.uniform.middleRows(first_row(), heads_);
    Overlaps result = overlaps_of(even, odd, uniform);
    const Overlaps back = overlaps_of(odd, even, uniform);
    for (std::size_t term = 0; term < result.size(); ++term) result[term] = 0.5 * (result[term] + back[term]);
    return result;
  }

  void put_overlaps() const {
    // At most account_groups folds, each with a dealt document in both halves.
    Index folds = std::ssize(sums_.halves[0].group_weights);
    for (const HalfProfiles& half : halves_) folds = std::min(folds, std::ssize(half.dealt));
    const Overlaps all = overlaps(folds, -1);
    std::vector<Overlaps> without;
    constexpr Index least_folds = 3;  // fewer do not show the spread
    for (Index fold = 0; folds >= least_folds && fold < folds; ++fold) without.push_back(overlaps(folds, fold));
    for (Index head = 0; head < heads_; ++head) {
      const Index row = first_row() + head;
      for (std::size_t term = 0; term <= account_terms; ++term) {
        HeadNumber& overlap = account_.overlap[term];
        const double error = error_of(without, [&](const Overlaps& one) { return one[term][head]; });
        overlap.value[row] = all[term][head];
        overlap.lower[row] = all[term][head] - error;
        overlap.upper[row] = all[term][head] + error;
      }
      const auto parts = parts_of(all, head);
      for (std::size_t term = 0; term < account_terms; ++term) {
        HeadNumber& part = account_.part[term];
        part.value[row] = parts[term];
        const double error = error_of(without, [&](const Overlaps& one) { return parts_of(one, head)[term]; });
        if (std::isnan(error)) continue;
        part.lower[row] = std::max(0.0, parts[term] - error);
        part.upper[row] = std::min(1.0, parts[term] + error);
      }
    }
  }

  const AccountSums& sums_;
  HeadAccount& account_;
  const AccountSite& site_;
  std::size_t place_;
  Index heads_, width_;
  NearPairs pairs_;
  std::array<HalfProfiles, 2> halves_;
};

/// Whether a stack encodes no positions: no position term, and no table or one with equal rows.
bool has_no_positions(const Stack& stack) {
  const MatrixView32& table = stack.embedding.positions;
  for (Index row = 1; row < table.rows(); ++row)
    if (table.row(row) != table.row(0)) return false;
  return !stack.position_term && !stack.others.position_term;
}

class HeadAccountAnalysis : public AnalysisOf<AccountSums> {
 public:
  explicit HeadAccountAnalysis(const AnalysisInput& input) : AnalysisOf(input) {
    const Site& site = input.site;
    const Stack& keys = site.kind == AttentionKind::cross ? input.model.stack : input.stack();
    site_ = {site.grid,      site.kind,
             site.length,    std::min(input.options.reach, (site.longer() - 1) / 2),  // as measured_offset()
             &input.stack(), input.knows_positions() && has_no_positions(keys),
             site.key_length};
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    const bool dealt = is_dealt(number, site().documents, site().longer(), options().dealt_tokens);
    return look_of<AccountProbe>(site_, number, document, dealt);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(AccountSums& sum, Finished& finished) override {
    if (sum.documents() == 0) return {};  // of stored profiles that hold no dealt contents
    const HeadAccountOptions how{options().fdr, options().draws, options().seed, input().threads};
    std::vector<Field> fields = describe(finished.keep(head_account(sum, site_, how)));
    finished.keep(AccountHalves{site_, std::move(sum.halves)});
    return fields;
  }

 private:
  AccountSite site_;
};

std::unique_ptr<Analysis> make_head_account(const AnalysisInput& input) {
  const bool enough = std::min(input.site.length, input.site.key_length) >= 3;
  return enough ? std::make_unique<HeadAccountAnalysis>(input) : nullptr;
}

}  // namespace

HeadAccount head_account(const AccountSums& sums, const AccountSite& site, const HeadAccountOptions& options) {
  const Index rows = site.grid.rows(), width = 2 * site.reach + 1;
  HeadAccount account;
  account.site = site;
  account.options = options;
  account.documents = sums.documents();
  for (const AccountHalf& half : sums.halves) account.dealt += static_cast<Index>(half.to_deal.size());
  account.measured = account.uniform = Matrix(rows, width);
  account.profile.fill(account.measured);
  account.overlap.fill(HeadNumber(rows));
  account.part.fill(HeadNumber(rows));
  std::vector<LayerAccount> layers;
  for (std::size_t place = 0; place < site.grid.layers.size(); ++place) layers.emplace_back(sums, place, account);
  const std::array always{always_stay(sums.halves, site.length, &AccountDocument::query_stays),
                          always_stay(sums.halves, site.keys(), &AccountDocument::key_stays)};
  const Index halves = sums.halves[1].documents > 0 ? 2 : 1;
  parallel_for(std::ssize(layers) * halves, options.threads, [&](Index i) {
    layers[static_cast<std::size_t>(i / halves)].deal(static_cast<std::size_t>(i % halves), always);
  });
  Matrix drawn(rows, options.draws);
  for (const LayerAccount& layer : layers) layer.put(drawn);
  account.strength = account.position_strength = Vector(rows);
  for (Index row = 0; row < rows; ++row) {
    const Vector uniform = account.uniform.row(row).transpose();
    account.strength[row] = profile_strength(account.measured.row(row).transpose(), uniform);
    account.position_strength[row] = profile_strength(account.profile[0].row(row).transpose(), uniform);
  }
  account.null_strength = row_quantiles(drawn, 0.5);
  account.p_value = pooled_p_values(account.position_strength, drawn, NullScale::share);
  account.q_value = q_values(account.p_value);
  const bool causal = site.kind == AttentionKind::causal;
  set_peaks(account.measured, causal, account.measured_offset, account.measured_weight);
  for (std::size_t term = 0; term < account_terms; ++term)
    set_peaks(account.profile[term], causal, account.offset[term], account.weight[term]);
  for (Index row = 0; row < rows; ++row) account.verdict.push_back(verdict_of(account, row));
  return account;
}

std::vector<Field> describe(const HeadAccount& account) {
  const Axis layer = layer_axis(account.site.grid.layers), head = head_axis(account.site.grid.heads);
  const Axis offset = offset_axis("offset", -account.site.reach, account.site.reach);
  const Axis term{"term", "1",
                  "what a dealt profile keeps of a head's attention: each term includes the terms before it",
                  std::vector<std::string>{"position", "own token", "context"}};
  const Axis match{"match", "1", "the profile that is compared with the measured profile of other documents",
                   std::vector<std::string>{"position", "own token", "context", "replicated"}};
  const Axis cause{"cause", "1", "cause of a profile", std::vector<std::string>{"position", "own token", "context"}};
  const std::vector<Axis> heads{layer, head}, terms{term, layer, head}, matches{match, layer, head},
      parts{cause, layer, head};
  const char* const no_pair = "no pair at that offset, or the mask forbids it";
  const char* const few = "fewer than 6 documents of this length";
  const char* const no_null = "no null was drawn";
  const auto or_self = [&](const std::string& why) {
    return account.site.crosses() ? why + "; own token always: in cross-attention no token meets itself" : why;
  };
  Fields fields("head_account");
  fields
      .flags("verdict", heads, "why a head looks where it looks", account.verdict,
             {"positional", "own token", "context", "mixed", "no preference", "undefined"})
      .note("least_strength", HeadAccount::least_strength)
      .note("least_replicated", least_replicated)
      .note("nearly_all", nearly_all)
      .note("fdr", account.options.fdr)
      .note("least_documents", least_account_documents);
  fields.add("strength", heads, "1",
             "attention that a head draws to certain offsets beyond uniform attention: 0 none, 1 all of it",
             account.strength);
  add_numbers(fields, "part", parts, "1",
              "part of what can be explained of the profile: by position, by tokens meeting themselves, by context "
              "(the tokens around: words that follow each other, and what earlier layers brought from neighbours)",
              account.part,
              or_self("fewer than 2 documents of this length, or the halves of the documents have nothing in common"),
              or_self(few));
  add_numbers(
      fields, "overlap", matches, "1",
      "share of what makes one half of the documents differ from uniform attention that this profile of the other "
      "half reproduces",
      account.overlap,
      or_self("fewer than 2 documents of this length, or the measured weight is the same at all offsets"),
      or_self(few));
  fields.add("measured_profile", {layer, head, offset}, "1",
             "mean attention weight at an offset, the first token neither query nor key", account.measured, no_pair);
  fields.add("dealt_profile", {term, layer, head, offset}, "1",
             "mean attention weight at an offset with contents dealt to other places", account.profile,
             or_self(no_pair));
  fields.add("uniform_profile", {layer, head, offset}, "1", "mean attention weight at an offset of uniform attention",
             account.uniform, no_pair);
  fields.add("measured_offset", heads, "token", "offset at which the measured profile is largest",
             account.measured_offset, "the profile is largest at the end of the search");
  fields.add("measured_weight", heads, "1", "mean attention weight at measured_offset", account.measured_weight,
             no_pair);
  fields.add("dealt_offset", terms, "token", "offset at which the dealt profile is largest", account.offset,
             or_self("the profile is largest at the end of the search"));
  fields.add("dealt_weight", terms, "1", "mean attention weight at dealt_offset", account.weight, or_self(no_pair));
  fields.add("position_strength", heads, "1", "strength of the profile that positions give", account.position_strength);
  fields.add("null_strength", heads, "1", "position_strength with places in random order: median of the draws",
             account.null_strength, no_null);
  describe_p_values(fields, heads, account.p_value, account.q_value,
                    {"position_strength", "with places in random order, heads pooled", no_null});
  fields.note_all("documents", account.documents)
      .note_all("dealt_documents", account.dealt)
      .note_all("length", account.site.length)
      .note_all("key_length", account.site.keys())
      .note_all("draws", account.options.draws)
      .note_all("coverage", interval_coverage)
      .note_all("seed", static_cast<std::int64_t>(account.options.seed));
  return fields.taken();
}

extern const AnalysisKind head_account_analysis{
    .name = "head_account",
    .asks = "Why does each head look there: positions, itself, or its context?",
    .projections = true,
    .equal_length = true,
    .of_sums = true,
    .by_default = true,
    .make = make_head_account};

}  // namespace headwave
