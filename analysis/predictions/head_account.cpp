#include "head_account.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/numbers/threads.h"
#include "../attention/offset_trace.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"
#include "../statistics/tails.h"

namespace headwave {

namespace {

constexpr Index least_groups = 5;  ///< fewer give no interval

using Shares = std::array<std::array<Vector, account_terms>, 2>;  ///< [centred][term] (heads)

Vector row_shares(const Matrix& measured, const Matrix& predicted, bool centred) {
  Vector shares(measured.rows());
  for (Index head = 0; head < measured.rows(); ++head)
    shares[head] = explained_share(measured.row(head).transpose(), predicted.row(head).transpose(), centred);
  return shares;
}

Shares shares_of(const LayerAccount& account) {
  Shares shares;
  for (std::size_t centred = 0; centred < 2; ++centred)
    for (std::size_t term = 0; term < account_terms; ++term)
      shares[centred][term] = row_shares(account.measured, account.predicted[term], centred == 1);
  return shares;
}

void check(const std::vector<AccountSums>& groups, const AccountSite& site) {
  if (groups.empty()) throw ShapeError("head_account: there is no document");
  for (const AccountSums& group : groups) {
    if (group.documents < 1 || group.layers.size() != site.grid.layers.size())
      throw ShapeError(fmt::format("head_account: a group of {} documents and {} layers; expected at least 1 and {}",
                                   group.documents, group.layers.size(), site.grid.layers.size()));
    for (const LayerAccountSums& layer : group.layers)
      if (layer.query.rows() != site.length || layer.key.rows() != site.length ||
          layer.scores.cols() != diagonals(site.length) || layer.scores.rows() != site.grid.heads ||
          layer.weights.cols() != 2 * site.reach + 1)
        throw ShapeError(fmt::format(
            "head_account: sums over {} queries, {} keys, {} heads and {} offsets; expected {}, {}, {} and {}",
            layer.query.rows(), layer.key.rows(), layer.scores.rows(), layer.weights.cols(), site.length, site.length,
            site.grid.heads, 2 * site.reach + 1));
  }
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
  if (account.groups < 2) return AccountVerdict::undefined;
  const auto& shape = account.held_out;
  const double accounted_from = account.options.accounted;
  if (std::isnan(account.shape[0][row]) || !(account.replicated[row] >= accounted_from))
    return AccountVerdict::no_preference;
  const double accounted = std::max({shape[0][row], shape[1][row], shape[2][row]});
  if (!(accounted >= accounted_from)) return AccountVerdict::unaccounted;
  const double position = std::max(0.0, shape[0][row]) / accounted;
  const bool aligned = account.q_value[row] <= account.options.false_share;
  // Where the model knows no places their means hold what texts have in common there: content.
  const bool places = account.site.tells_places(row / account.site.grid.heads);
  if (position >= account.options.nearly_all)
    return !aligned ? AccountVerdict::no_preference : places ? AccountVerdict::positional : AccountVerdict::content;
  const bool in_part = aligned && position > 1 - account.options.nearly_all;
  return in_part && places ? AccountVerdict::mixed : AccountVerdict::content;
}

/// The parts of an account that need passes of their own, each of one layer: done on any thread, put in place in order.
class Passes {
 public:
  Passes(const std::vector<AccountSums>& groups, HeadAccount& account)
      : groups_(groups), account_(account), heads_(account.site.grid.heads) {
    for (Index l = 0; l < static_cast<Index>(account.site.grid.layers.size()); ++l)
      accountants_.emplace_back(account.site.layer(l));
    for (const AccountSums& group : groups) total_ += group;
    account.documents = total_.documents;
    account.groups = static_cast<Index>(groups.size());
  }

  void set_account() {
    const HeadAccountOptions& options = account_.options;
    const Index rows = account_.site.grid.rows(), columns = 2 * account_.site.reach + 1;
    account_.measured = Matrix(rows, columns);
    account_.alignment = Vector(rows);
    for (std::size_t term = 0; term < account_terms; ++term) {
      account_.kernel[term] = account_.predicted[term] = Matrix(rows, columns);
      account_.share[term] = account_.shape[term] = Vector(rows);
    }
    layers_.resize(total_.layers.size());
    parallel_for(layers(), options.threads, [&](Index l) {
      const auto at = static_cast<std::size_t>(l);
      layers_[at] = accountants_[at].account(total_.layers[at], total_.documents);
    });
    for (Index l = 0; l < layers(); ++l) {
      const LayerAccount& layer = layers_[static_cast<std::size_t>(l)];
      const Shares shares = shares_of(layer);
      account_.measured.middleRows(l * heads_, heads_) = layer.measured;
      account_.alignment.segment(l * heads_, heads_) = layer.alignment;
      for (std::size_t term = 0; term < account_terms; ++term) {
        account_.kernel[term].middleRows(l * heads_, heads_) =
            accountants_[static_cast<std::size_t>(l)].near(layer.kernel[term]);
        account_.predicted[term].middleRows(l * heads_, heads_) = layer.predicted[term];
        account_.share[term].segment(l * heads_, heads_) = shares[0][term];
        account_.shape[term].segment(l * heads_, heads_) = shares[1][term];
      }
    }
    for (std::size_t term = 0; term < account_terms; ++term) {
      // Of content and spread a sum over no pairs is 0, and is nothing.
      account_.kernel[term] = account_.kernel[0].array().isNaN().select(account_.kernel[0], account_.kernel[term]);
      // The means of one document are itself: position would explain all of it.
      if (account_.documents < 2) account_.share[term] = account_.shape[term] = Vector::Constant(rows, not_defined);
    }
  }

  /// Even groups explain odd ones, and odd ones even ones.
  void set_halves() {
    const Index rows = account_.site.grid.rows();
    account_.held_out.fill(Vector::Constant(rows, not_defined));
    account_.replicated = Vector::Constant(rows, not_defined);
    if (groups_.size() < 2) return;
    parallel_for(layers(), account_.options.threads, [&](Index l) {
      const auto at = static_cast<std::size_t>(l);
      std::array sums{groups_[0].layers[at], groups_[1].layers[at]};
      std::array documents{groups_[0].documents, groups_[1].documents};
      for (std::size_t g = 2; g < groups_.size(); ++g) {
        sums[g % 2] += groups_[g].layers[at];
        documents[g % 2] += groups_[g].documents;
      }
      std::array<LayerAccount, 2> halves;
      for (std::size_t h = 0; h < 2; ++h) halves[h] = accountants_[at].unmixed(sums[h], documents[h]);
      const auto& [one, other] = halves;
      const auto both = [&](const Matrix& by_one, const Matrix& by_other) {
        return Vector(0.5 * (row_shares(other.measured, by_one, true) + row_shares(one.measured, by_other, true)));
      };
      for (std::size_t term = 0; term < account_terms; ++term)
        account_.held_out[term].segment(l * heads_, heads_) = both(one.predicted[term], other.predicted[term]);
      account_.replicated.segment(l * heads_, heads_) = both(one.measured, other.measured);
    });
  }

  void set_intervals() {
    const auto count = static_cast<Index>(groups_.size());
    const Index rows = account_.site.grid.rows();
    for (auto* ends : {&account_.share_lower, &account_.share_upper, &account_.shape_lower, &account_.shape_upper})
      ends->fill(Vector::Constant(rows, not_defined));
    if (count < least_groups) return;
    std::vector<Shares> without(static_cast<std::size_t>(count * layers()));
    parallel_for(count * layers(), account_.options.threads, [&](Index i) {
      const auto group = static_cast<std::size_t>(i / layers()), layer = static_cast<std::size_t>(i % layers());
      LayerAccountSums sums = total_.layers[layer];
      sums -= groups_[group].layers[layer];
      without[static_cast<std::size_t>(i)] =
          shares_of(accountants_[layer].account(sums, total_.documents - groups_[group].documents));
    });
    const double t = student_quantile((1 - account_.options.coverage) / 2, static_cast<double>(count - 1));
    for (Index l = 0; l < layers(); ++l)
      for (std::size_t term = 0; term < account_terms; ++term)
        for (std::size_t centred = 0; centred < 2; ++centred) {
          Matrix left_out(heads_, count);
          for (Index g = 0; g < count; ++g)
            left_out.col(g) = without[static_cast<std::size_t>(g * layers() + l)][centred][term];
          const Vector spread = (left_out.colwise() - left_out.rowwise().mean()).rowwise().squaredNorm();
          const Vector error = t * (spread * (static_cast<double>(count - 1) / static_cast<double>(count))).cwiseSqrt();
          const auto at = (centred == 1 ? account_.shape : account_.share)[term].segment(l * heads_, heads_);
          (centred == 1 ? account_.shape_lower : account_.share_lower)[term].segment(l * heads_, heads_) = at - error;
          (centred == 1 ? account_.shape_upper : account_.share_upper)[term].segment(l * heads_, heads_) = at + error;
        }
  }

  void set_nulls() {
    const Index draws = account_.options.draws, rows = account_.site.grid.rows();
    std::array<Matrix, account_terms> shapes;
    shapes.fill(Matrix(rows, draws));
    Matrix alignments(rows, draws);
    const Random random(account_.options.seed);
    parallel_for(layers(), account_.options.threads, [&](Index l) {
      const auto at = static_cast<std::size_t>(l);
      const Accountant::Shuffled shuffled = accountants_[at].shuffled(total_.layers[at], total_.documents, draws,
                                                                      random.stream(static_cast<std::uint64_t>(l)));
      for (Index draw = 0; draw < draws; ++draw) {
        const auto d = static_cast<std::size_t>(draw);
        alignments.block(l * heads_, draw, heads_, 1) = shuffled.alignment[d];
        shapes[0].block(l * heads_, draw, heads_, 1) = row_shares(layers_[at].measured, shuffled.predicted[d], true);
      }
    });
    parallel_for(draws * layers(), account_.options.threads, [&](Index i) {
      const Index draw = i / layers(), l = i % layers();
      const LayerAccountSums& sums = total_.layers[static_cast<std::size_t>(l)];
      const LayerAccount& layer = layers_[static_cast<std::size_t>(l)];
      const Accountant& accountant = accountants_[static_cast<std::size_t>(l)];
      Random order = random.stream(static_cast<std::uint64_t>(layers() + i));
      const auto put = [&](std::size_t term, const Matrix& bias) {
        shapes[term].block(l * heads_, draw, heads_, 1) =
            row_shares(layer.measured, accountant.profile(sums, total_.documents, bias), true);
      };
      put(1, accountant.shuffled_offsets(layer.kernel[1], order));
      put(2, layer.kernel[1] + accountant.shuffled_offsets(layer.kernel[2], order));
    });
    for (std::size_t term = 0; term < account_terms; ++term) {
      account_.null_shape[term] = row_quantiles(shapes[term], 0.5);
      account_.null_high[term] = row_quantiles(shapes[term], 1);
    }
    account_.alignment_null = row_quantiles(alignments, 0.5);
    account_.p_value = pooled_p_values(account_.alignment, alignments, NullScale::share);
    account_.q_value = q_values(account_.p_value);
  }

 private:
  [[nodiscard]] Index layers() const { return static_cast<Index>(total_.layers.size()); }

  const std::vector<AccountSums>& groups_;
  HeadAccount& account_;
  std::vector<Accountant> accountants_;  ///< one for each layer
  Index heads_;
  AccountSums total_;
  std::vector<LayerAccount> layers_;
};

}  // namespace

HeadAccount head_account(const std::vector<AccountSums>& groups, const AccountSite& site,
                         const HeadAccountOptions& options) {
  check(groups, site);
  HeadAccount account;
  account.site = site;
  account.options = options;
  Passes passes(groups, account);
  passes.set_account();
  passes.set_halves();
  passes.set_intervals();
  passes.set_nulls();
  const bool causal = site.kind == AttentionKind::causal;
  set_peaks(account.measured, causal, account.measured_offset, account.measured_weight);
  for (std::size_t term = 0; term < account_terms; ++term)
    set_peaks(account.predicted[term], causal, account.offset[term], account.weight[term]);
  for (Index row = 0; row < site.grid.rows(); ++row) account.verdict.push_back(verdict_of(account, row));
  return account;
}

}  // namespace headwave
