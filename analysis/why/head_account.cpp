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

/// Pairs of a layer at every offset |t| <= reach, and the sums over them of what uniform attention gives.
struct NearPairs {
  Vector pairs, uniform;  ///< (2 reach + 1)
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

/// Sums over pairs become means; NaN where there is no pair.
Matrix mean_along(Matrix sums, const Vector& pairs) {
  for (Index t = 0; t < pairs.size(); ++t)
    if (pairs[t] > 0)
      sums.col(t) /= pairs[t];
    else
      sums.col(t).setConstant(not_defined);
  return sums;
}

/// Sums weights along diagonals.
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

/// Contents padded with zero rows to the longer sequence; the first token has none.
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

/// Places that keep their content in every document.
struct AlwaysStay {
  std::vector<std::uint8_t> query, key;  ///< (T), (key_length)
};

/// Profiles of one layer's heads, from one half of the documents.
struct HalfProfiles {
  std::vector<std::array<Matrix, account_terms>> dealt;  ///< [document][term]  mean weight at an offset; NaN: no pair
  std::vector<ShuffledDraw> null;                        ///< sums over the documents
};

HalfProfiles deal_half(const AccountSite& site, std::size_t place, const AccountHalf& half, const Matrix32& mean_query,
                       const Matrix32& mean_key, const AlwaysStay& always_stay, const HeadAccountOptions& options) {
  const Vector pairs = NearPairs(site, place).pairs;
  const Random random(options.seed);
  const Matrix32 shared = half.to_deal.empty()
                              ? Matrix32()
                              : Matrix32(content_kernel(site, place, half, mean_query, mean_key).cast<float>());
  ShuffledPlaces null(site.grid.heads, site.reach, site.kind, always_stay.query, always_stay.key, options.draws,
                      random.stream(0));
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
  profiles.null = null.draws();
  return profiles;
}

/// Measured and dealt profiles of the heads of one layer, from one half, perhaps with a part of the documents
/// left out.
struct Profiles {
  Matrix measured;                          ///< (heads, 2 reach + 1)
  std::array<Matrix, account_terms> dealt;  ///< [term]
};

/// [term, then replicated] (heads)  how well profiles of one half give the other half's measured profile.
using Overlaps = std::array<Vector, account_terms + 1>;

Overlaps overlaps_of(const Profiles& one, const Profiles& other, const Matrix& uniform) {
  Overlaps result;
  for (std::size_t term = 0; term < result.size(); ++term) {
    const Matrix& predicted = term < account_terms ? one.dealt[term] : one.measured;
    result[term].resize(predicted.rows());
    for (Index head = 0; head < predicted.rows(); ++head)
      result[term][head] = profile_overlap(other.measured.row(head).transpose(), predicted.row(head).transpose(),
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

/// Where each row is largest, and how large.
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
  const HeadAccountOptions& options = account.options;
  if (account.documents < 2) return AccountVerdict::undefined;
  if (!(account.strength[row] >= options.strength) || !(account.overlap.back()[row] >= options.replicated))
    return AccountVerdict::no_preference;
  const double position = account.part[0][row], self = account.part[1][row], context = account.part[2][row];
  const bool ordered = account.q_value[row] <= options.fdr;
  if (position >= context && !(self > position) && !ordered) return AccountVerdict::no_preference;
  if (account.documents < options.least_documents) return AccountVerdict::undefined;
  // Where the model knows no places, the mean of a place holds what texts have in common there.
  const bool places = account.site.tells_places(static_cast<std::size_t>(row / account.site.grid.heads));
  if (!places) {
    if (self >= options.nearly_all) return AccountVerdict::own_token;
    return position + context >= options.nearly_all ? AccountVerdict::context : AccountVerdict::mixed;
  }
  if (position >= options.nearly_all) return AccountVerdict::positional;
  if (self >= options.nearly_all) return AccountVerdict::own_token;
  return context >= options.nearly_all ? AccountVerdict::context : AccountVerdict::mixed;
}

/// Builds an account layer by layer.
class Builder {
 public:
  Builder(const AccountSums& sums, HeadAccount& account) : sums_(sums), account_(account), site_(account.site) {
    account.documents = sums.documents();
    for (const AccountHalf& half : sums.halves) account.dealt += static_cast<Index>(half.to_deal.size());
    heads_ = site_.grid.heads;
    rows_ = site_.grid.rows();
    always_stay_ = {std::vector<std::uint8_t>(static_cast<std::size_t>(site_.length), 1),
                    std::vector<std::uint8_t>(static_cast<std::size_t>(site_.keys()), 1)};
    for (const AccountHalf& half : sums.halves)
      for (const AccountDocument& document : half.to_deal) {
        for (std::size_t i = 0; i < always_stay_.query.size(); ++i) always_stay_.query[i] &= document.query_stays[i];
        for (std::size_t j = 0; j < always_stay_.key.size(); ++j) always_stay_.key[j] &= document.key_stays[j];
      }
  }

  void build() {
    set_measured();
    deal();
    set_overlaps();
    set_null();
    const bool causal = site_.kind == AttentionKind::causal;
    set_peaks(account_.measured, causal, account_.measured_offset, account_.measured_weight);
    for (std::size_t term = 0; term < account_terms; ++term)
      set_peaks(account_.profile[term], causal, account_.offset[term], account_.weight[term]);
    for (Index row = 0; row < rows_; ++row) account_.verdict.push_back(verdict_of(account_, row));
  }

 private:
  [[nodiscard]] bool two_halves() const { return sums_.halves[1].documents > 0; }

  /// Mean profile of a half over the documents of all groups but one.
  [[nodiscard]] Matrix measured_of(std::size_t half, std::size_t place, Index left_out) const {
    const AccountHalf& from = sums_.halves[half];
    Matrix sum = Matrix::Zero(heads_, 2 * site_.reach + 1);
    Index documents = 0;
    for (std::size_t g = 0; g < from.group_weights.size(); ++g) {
      if (from.group_documents[g] == 0 || (left_out >= 0 && static_cast<Index>(g) % folds_ == left_out)) continue;
      sum += from.group_weights[g].middleRows(static_cast<Index>(place) * heads_, heads_);
      documents += from.group_documents[g];
    }
    return mean_along(sum / static_cast<double>(std::max<Index>(1, documents)), pairs_[place].pairs);
  }

  [[nodiscard]] Profiles profiles_of(std::size_t half, std::size_t place, Index left_out) const {
    Profiles profiles{measured_of(half, place, left_out), {}};
    const auto& dealt = dealt_[2 * place + half].dealt;
    for (std::size_t term = 0; term < account_terms; ++term) {
      Matrix sum = Matrix::Zero(heads_, 2 * site_.reach + 1);
      Index count = 0;
      for (std::size_t d = 0; d < dealt.size(); ++d)
        if (left_out < 0 || static_cast<Index>(d) % folds_ != left_out) {
          sum += dealt[d][term];
          ++count;
        }
      profiles.dealt[term] = sum / static_cast<double>(count);
    }
    return profiles;
  }

  [[nodiscard]] Overlaps overlaps(std::size_t place, Index left_out) const {
    const Profiles even = profiles_of(0, place, left_out), odd = profiles_of(1, place, left_out);
    const Matrix uniform = account_.uniform.middleRows(static_cast<Index>(place) * heads_, heads_);
    Overlaps result = overlaps_of(even, odd, uniform);
    const Overlaps back = overlaps_of(odd, even, uniform);
    for (std::size_t term = 0; term < result.size(); ++term) result[term] = 0.5 * (result[term] + back[term]);
    return result;
  }

  void set_measured() {
    account_.measured = account_.uniform = Matrix(rows_, 2 * site_.reach + 1);
    for (std::size_t l = 0; l < site_.grid.layers.size(); ++l) {
      pairs_.emplace_back(site_, l);
      const Index first = static_cast<Index>(l) * heads_;
      Matrix sum = Matrix::Zero(heads_, 2 * site_.reach + 1);
      for (const AccountHalf& half : sums_.halves)
        for (const Matrix& weights : half.group_weights)
          if (weights.size() > 0) sum += weights.middleRows(first, heads_);
      account_.measured.middleRows(first, heads_) =
          mean_along(sum / static_cast<double>(account_.documents), pairs_[l].pairs);
      account_.uniform.middleRows(first, heads_) =
          mean_along(pairs_[l].uniform.transpose(), pairs_[l].pairs).replicate(heads_, 1);
    }
    account_.strength = Vector(rows_);
    for (Index row = 0; row < rows_; ++row)
      account_.strength[row] =
          profile_strength(account_.measured.row(row).transpose(), account_.uniform.row(row).transpose());
  }

  void deal() {
    const auto halves = static_cast<Index>(two_halves() ? 2 : 1), layers = std::ssize(site_.grid.layers);
    dealt_.resize(static_cast<std::size_t>(2 * layers));
    parallel_for(layers * halves, account_.options.threads, [&](Index i) {
      const auto place = static_cast<std::size_t>(i / halves), half = static_cast<std::size_t>(i % halves);
      const AccountHalf &own = sums_.halves[half], &other = sums_.halves[two_halves() ? 1 - half : half];
      const Matrix32 mean_query = own.layers[place].query / static_cast<float>(own.documents);
      const Matrix32 mean_key = other.layers[place].key / static_cast<float>(other.documents);
      dealt_[2 * place + half] = deal_half(site_, place, own, mean_query, mean_key, always_stay_, account_.options);
    });
    // As many folds as every half has dealt documents for, up to the groups of measured profiles.
    folds_ = std::ssize(sums_.halves[0].group_weights);
    for (std::size_t half = 0; half < 2; ++half) folds_ = std::min(folds_, std::ssize(dealt_[half].dealt));
    for (std::size_t term = 0; term < account_terms; ++term) {
      Matrix& profile = account_.profile[term] = Matrix::Zero(rows_, 2 * site_.reach + 1);
      for (std::size_t i = 0; i < dealt_.size(); ++i)
        for (const auto& document : dealt_[i].dealt)
          profile.middleRows(static_cast<Index>(i / 2) * heads_, heads_) += document[term];
      profile /= static_cast<double>(account_.dealt);
    }
  }

  /// Overlaps stay undefined where all documents are in one half.
  void set_overlaps() {
    const Vector nothing = Vector::Constant(rows_, not_defined);
    account_.overlap.fill(nothing);
    account_.overlap_lower = account_.overlap_upper = account_.overlap;
    account_.part.fill(nothing);
    account_.part_lower = account_.part_upper = account_.part;
    for (std::size_t l = 0; two_halves() && l < site_.grid.layers.size(); ++l) set_layer(l);
  }

  void set_layer(std::size_t place) {
    const Index first = static_cast<Index>(place) * heads_;
    const Overlaps all = overlaps(place, -1);
    std::vector<Overlaps> without;
    constexpr Index least_folds = 3;  // fewer do not show the spread
    for (Index fold = 0; folds_ >= least_folds && fold < folds_; ++fold) without.push_back(overlaps(place, fold));
    for (Index head = 0; head < heads_; ++head) {
      const Index row = first + head;
      for (std::size_t term = 0; term <= account_terms; ++term) {
        const double overlap = account_.overlap[term][row] = all[term][head];
        const double error = jackknife_error(without, [&](const Overlaps& one) { return one[term][head]; });
        account_.overlap_lower[term][row] = overlap - error;
        account_.overlap_upper[term][row] = overlap + error;
      }
      const auto parts = parts_of(all, head);
      for (std::size_t term = 0; term < account_terms; ++term) {
        account_.part[term][row] = parts[term];
        const double error = jackknife_error(without, [&](const Overlaps& one) { return parts_of(one, head)[term]; });
        if (std::isnan(error)) continue;
        account_.part_lower[term][row] = std::max(0.0, parts[term] - error);
        account_.part_upper[term][row] = std::min(1.0, parts[term] + error);
      }
    }
  }

  /// Half the width of an interval.
  template <class Number>
  [[nodiscard]] double jackknife_error(const std::vector<Overlaps>& without, const Number& number) const {
    if (without.empty()) return not_defined;
    Vector left(std::ssize(without));
    for (Index fold = 0; fold < left.size(); ++fold) left[fold] = number(without[static_cast<std::size_t>(fold)]);
    return headwave::jackknife_error(left, account_.options.coverage);
  }

  void set_null() {
    const Index draws = account_.options.draws;
    account_.position_strength = Vector(rows_);
    Matrix drawn(rows_, draws);
    for (Index row = 0; row < rows_; ++row)
      account_.position_strength[row] =
          profile_strength(account_.profile[0].row(row).transpose(), account_.uniform.row(row).transpose());
    for (std::size_t place = 0; place < site_.grid.layers.size(); ++place)
      for (Index draw = 0; draw < draws; ++draw) {
        const auto d = static_cast<std::size_t>(draw);
        ShuffledDraw sums = dealt_[2 * place].null[d];
        if (!dealt_[2 * place + 1].null.empty()) add_to(sums, ShuffledDraw(dealt_[2 * place + 1].null[d]));
        const Matrix profile = mean_along(sums.weights, sums.pairs);
        const Vector uniform = mean_along(sums.uniform.transpose(), sums.pairs).transpose();
        for (Index head = 0; head < heads_; ++head)
          drawn(static_cast<Index>(place) * heads_ + head, draw) =
              profile_strength(profile.row(head).transpose(), uniform);
      }
    account_.null_strength = row_quantiles(drawn, 0.5);
    account_.p_value = pooled_p_values(account_.position_strength, drawn, NullScale::share);
    account_.q_value = q_values(account_.p_value);
  }

  const AccountSums& sums_;
  HeadAccount& account_;
  const AccountSite& site_;
  Index heads_ = 0, rows_ = 0;
  Index folds_ = 0;  ///< parts of the documents that intervals leave out one at a time
  AlwaysStay always_stay_;
  std::vector<NearPairs> pairs_;     ///< [layer]
  std::vector<HalfProfiles> dealt_;  ///< [2 layer + half]
};

/// Whether nothing tells places apart: no table, or one that is the same in every row, and no term.
bool has_no_positions(const Stack& stack) {
  const MatrixView32& table = stack.embedding.positions;
  for (Index row = 1; row < table.rows(); ++row)
    if (table.row(row) != table.row(0)) return false;
  return !stack.position_term && !stack.others.position_term;
}

class HeadAccountAnalysis : public AnalysisOf<AccountSums> {
 public:
  explicit HeadAccountAnalysis(const AnalysisInput& input)
      : AnalysisOf(input),
        dealt_(dealt_documents(input.site.documents, input.site.longer(), input.options.dealt_tokens)) {
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
    return look_of<AccountProbe>(site_, number, document, is_dealt(number, site().documents, dealt_));
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(AccountSums& sum, Finished& finished) override {
    if (sum.documents() == 0) return {};  // of stored profiles that hold no dealt contents
    HeadAccountOptions how;
    how.fdr = options().fdr;
    how.draws = options().draws;
    how.seed = options().seed;
    how.threads = input().threads;
    std::vector<Field> fields = describe(finished.keep(head_account(sum, site_, how)));
    finished.keep(AccountHalves{site_, std::move(sum.halves)});
    return fields;
  }

 private:
  Index dealt_;  ///< documents that are kept whole
  AccountSite site_;
};

std::unique_ptr<Analysis> make_head_account(const AnalysisInput& input) {
  const bool enough = std::min(input.site.length, input.site.key_length) >= 3;
  return enough ? std::make_unique<HeadAccountAnalysis>(input) : nullptr;
}

}  // namespace

HeadAccount head_account(const AccountSums& sums, const AccountSite& site, const HeadAccountOptions& options) {
  HeadAccount account;
  account.site = site;
  account.options = options;
  Builder(sums, account).build();
  return account;
}

std::vector<Field> describe(const HeadAccount& account) {
  const Axis layer = layer_axis(account.site.grid.layers), head = head_axis(account.site.grid.heads);
  const Axis offset = offset_axis("offset", -account.site.reach, account.site.reach);
  const Axis term{"term", "1",
                  "what a dealt profile keeps of a head's attention: each term includes the terms before it",
                  std::vector<std::string>{"position", "own token", "context"}};
  const Axis match{"match", "1", "the profile that is held against the measured profile of other documents",
                   std::vector<std::string>{"position", "own token", "context", "replicated"}};
  const Axis cause{"cause", "1", "cause of a profile", std::vector<std::string>{"position", "own token", "context"}};
  const std::vector<Axis> heads{layer, head}, terms{term, layer, head}, matches{match, layer, head},
      parts{cause, layer, head};
  const char* const no_pair = "no pair at that offset, or the mask forbids it";
  const char* const few = "fewer than 6 documents of this length";
  const char* const no_null = "no null was drawn";
  const char* const no_profile =
      "fewer than 2 documents of this length, or the measured weight is the same at all offsets";
  const auto or_self = [&](const std::string& why) {
    return account.site.crosses() ? why + "; of own token always: in cross-attention no token meets itself" : why;
  };
  Fields fields("head_account");
  fields
      .flags("verdict", heads, "why a head looks where it looks", account.verdict,
             {"positional", "own token", "context", "mixed", "no preference", "undefined"})
      .note("least_strength", account.options.strength)
      .note("least_replicated", account.options.replicated)
      .note("nearly_all", account.options.nearly_all)
      .note("fdr", account.options.fdr)
      .note("least_documents", account.options.least_documents);
  fields.add("strength", heads, "1",
             "attention that a head draws to certain offsets beyond uniform attention: 0 none, 1 all of it",
             account.strength);
  fields.add("part", parts, "1",
             "part of what can be explained of the profile: by position, by tokens meeting themselves, by context "
             "(the tokens around: words that follow each other, and what earlier layers brought from neighbours)",
             account.part,
             or_self("fewer than 2 documents of this length, or the halves of the documents have nothing in common"));
  fields.interval("part", parts, account.part_lower, account.part_upper, or_self(few));
  fields.add(
      "overlap", matches, "1",
      "share of the mass that makes the profile of one half of the documents differ from uniform attention which "
      "this profile of the other half gives",
      account.overlap, or_self(no_profile));
  fields.interval("overlap", matches, account.overlap_lower, account.overlap_upper, or_self(few));
  fields.add("measured_profile", {layer, head, offset}, "1",
             "mean attention weight at an offset, the first token neither query nor key", account.measured, no_pair);
  fields.add("dealt_profile", {term, layer, head, offset}, "1",
             "mean attention weight at an offset with contents dealt to other places", account.profile,
             or_self(no_pair));
  fields.add("uniform_profile", {layer, head, offset}, "1", "mean attention weight at an offset of uniform attention",
             account.uniform, no_pair);
  fields.add("measured_offset", heads, "token", "offset at which the measured profile is largest",
             account.measured_offset, "it is largest at the end of the search");
  fields.add("measured_weight", heads, "1", "mean attention weight there", account.measured_weight, no_pair);
  fields.add("dealt_offset", terms, "token", "offset at which the dealt profile is largest", account.offset,
             or_self("it is largest at the end of the search"));
  fields.add("dealt_weight", terms, "1", "mean attention weight there", account.weight, or_self(no_pair));
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
      .note_all("coverage", account.options.coverage)
      .note_all("seed", static_cast<std::int64_t>(account.options.seed));
  return fields.taken();
}

const AnalysisKind& head_account_analysis() {
  static const AnalysisKind kind{.name = "head_account",
                                 .asks = "Why does each head look there: positions, itself, or its context?",
                                 .needs = {Need::attention, Need::projections, Need::equal_length},
                                 .of_sums = true,
                                 .by_default = true,
                                 .make = make_head_account};
  return kind;
}

}  // namespace headwave
