#include "layer_account.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/attention/attend.h"
#include "../../core/attention/bias_terms.h"
#include "../attention/offset_trace.h"

namespace headwave {

namespace {

/// Sums over pairs become means; NaN where there is no pair.
Matrix mean_along(Matrix sums, const Vector& pairs) {
  for (Index t = 0; t < pairs.size(); ++t) {
    if (pairs[t] > 0)
      sums.col(t) /= pairs[t];
    else
      sums.col(t).setConstant(not_defined);
  }
  return sums;
}

/// Equation (5).
Vector alignment(const Matrix& mean_scores, const Matrix& mean_squares, const Vector& pairs) {
  Vector result(mean_scores.rows());
  for (Index head = 0; head < result.size(); ++head) {
    double along = 0, all = 0;
    for (Index t = 0; t < pairs.size(); ++t)
      if (pairs[t] > 0) {
        along += pairs[t] * mean_scores(head, t) * mean_scores(head, t);
        all += pairs[t] * mean_squares(head, t);
      }
    result[head] = all > 0 ? std::min(1.0, along / all) : 0.0;
  }
  return result;
}

}  // namespace

double explained_share(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted, bool centred) {
  std::vector<double> p, q;
  for (Index t = 0; t < measured.size(); ++t)
    if (measured[t] > 0 && predicted[t] > 0) {
      p.push_back(std::log(measured[t]));
      q.push_back(std::log(predicted[t]));
    }
  if (p.size() < 3) return not_defined;
  // Copied: a sum over memory that begins anywhere adds in an order that depends on where.
  const Vector log_measured = Eigen::Map<const Vector>(p.data(), static_cast<Index>(p.size()));
  const Vector log_predicted = Eigen::Map<const Vector>(q.data(), static_cast<Index>(q.size()));
  const double total = (log_measured.array() - log_measured.mean()).square().sum();
  // Weights are float32: what varies by no more is the same everywhere.
  if (total <= static_cast<double>(p.size()) * 1e-12) return not_defined;
  Vector difference = log_predicted - log_measured;
  if (centred) difference.array() -= difference.mean();
  return 1 - difference.squaredNorm() / total;
}

AccountSite AccountSite::layer(Index place) const {
  AccountSite site = *this;
  if (std::ranges::find(others, grid.layers[static_cast<std::size_t>(place)]) == others.end()) return site;
  site.window = other_window;
  site.added = other_added;
  return site;
}

Matrix added_kernel(const AccountSite& site) {
  Matrix kernel = Matrix::Zero(site.grid.heads, diagonals(site.length));
  for (Index head = 0; site.added != nullptr && head < site.grid.heads; ++head)
    kernel.row(head) = site.added->kernel(head, site.length - 1).transpose();
  return kernel;
}

void attend_means(const Matrix32& query, const Matrix32& key, const Matrix& kernel, const AccountSite& site,
                  Probe& probe) {
  const OffsetBiasTerm term(kernel);
  const HeadInputs<float> inputs{query, key,          {}, site.grid.heads, site.kv_heads, site.score_scale,
                                 &term, site.soft_cap};
  const Mask<float> mask{site.kind == AttentionKind::causal, -1, -1, {}, site.window};
  std::array<Probe*, 1> probes{&probe};
  attend<float>(inputs, mask, {0, site.kind, nullptr}, probes);
}

Accountant::Accountant(const AccountSite& site) : site_(site), pairs_(Vector::Zero(diagonals(site.length))) {
  const bool causal = site.kind == AttentionKind::causal;
  for (Index t = -(site.length - 1); t < (causal ? 1 : site.length); ++t)
    if (site.window == 0 || std::abs(t) < site.window)
      pairs_[t + site.length - 1] = static_cast<double>(std::max<Index>(0, site.length - 1 - std::abs(t)));
  added_ = added_kernel(site);
}

LayerAccount Accountant::account(const LayerAccountSums& sums, Index documents) const {
  const auto n = static_cast<double>(documents);
  LayerAccount account;
  account.measured = mean_along(sums.weights / n, near_pairs());
  const Look position = look(sums, documents, added_, true);
  const Matrix scores = mean_along(sums.scores / n, pairs_), squares = mean_along(sums.squares / n, pairs_);
  account.alignment = alignment(near(position.scores), near(position.squares), near_pairs());
  account.kernel[0] = position.scores;
  account.kernel[1] = with_ends(scores - position.scores);
  const Matrix& c = account.kernel[1];
  // Mean over i of (S + c)^2.
  const Matrix expected = position.squares.array() + 2 * c.array() * position.scores.array() + c.array().square();
  account.kernel[2] = with_ends((0.5 * (squares - expected)).cwiseMax(0.0));
  account.predicted[0] = position.weight;
  account.predicted[1] = profile(sums, documents, c);
  account.predicted[2] = profile(sums, documents, c + account.kernel[2]);
  return account;
}

LayerAccount Accountant::unmixed(const LayerAccountSums& sums, Index documents) const {
  LayerAccount account = this->account(sums, documents);
  if (documents > 1)
    account.predicted[0] = profile(sums, documents, account.kernel[1] / -static_cast<double>(documents - 1));
  return account;
}

Matrix Accountant::profile(const LayerAccountSums& sums, Index documents, const Matrix& bias) const {
  return look(sums, documents, added_ + bias, false).weight;
}

Accountant::Shuffled Accountant::shuffled(const LayerAccountSums& sums, Index documents, Index draws,
                                          const Random& random) const {
  ShuffledPlaces probe(site_.grid.heads, site_.length, site_.reach, site_.kind, draws, random);
  attend_sums(sums, documents, added_, probe);
  Shuffled shuffled;
  for (const ShuffledPlaces::Draw& draw : probe.draws()) {
    shuffled.alignment.push_back(
        alignment(mean_along(draw.scores, draw.pairs), mean_along(draw.squares, draw.pairs), draw.pairs));
    shuffled.predicted.push_back(mean_along(draw.weights, draw.pairs));
  }
  return shuffled;
}

Matrix Accountant::shuffled_offsets(const Matrix& kernel, Random& random) const {
  std::vector<Index> there;
  for (Index t = 0; t < pairs_.size(); ++t)
    if (pairs_[t] > 0) there.push_back(t);
  std::vector<Index> order = there;
  random.shuffle(order);
  Matrix shuffled = kernel;
  for (std::size_t t = 0; t < there.size(); ++t) shuffled.col(there[t]) = kernel.col(order[t]);
  return shuffled;
}

Matrix Accountant::near(const Matrix& lags) const {
  return lags.middleCols(site_.length - 1 - site_.reach, 2 * site_.reach + 1);
}

Vector Accountant::near_pairs() const {
  return pairs_.segment(site_.length - 1 - site_.reach, 2 * site_.reach + 1);
}

/// The two outermost offsets have no pair but the one that is left out: they take over what stands beside them. What the
/// mask forbids is never read.
Matrix Accountant::with_ends(Matrix kernel) const {
  const Index last = kernel.cols() - 1;
  for (Index t = 0; t <= last; ++t)
    if (pairs_[t] == 0) kernel.col(t).setZero();
  if (last >= 2) {
    kernel.col(0) = kernel.col(1);
    kernel.col(last) = kernel.col(last - 1);
  }
  return kernel;
}

void Accountant::attend_sums(const LayerAccountSums& sums, Index documents, const Matrix& kernel, Probe& probe) const {
  const auto n = static_cast<float>(documents);
  attend_means(sums.query / n, sums.key / n, kernel, site_, probe);
}

Accountant::Look Accountant::look(const LayerAccountSums& sums, Index documents, const Matrix& bias,
                                  bool scores) const {
  AccountProbe probe({{0}, site_.grid.heads}, site_.length, site_.reach, site_.kind, scores);
  attend_sums(sums, documents, bias, probe);
  const AccountSums seen = probe.taken();
  const LayerAccountSums& found = seen.layers.front();
  return {mean_along(found.scores, pairs_), mean_along(found.squares, pairs_), mean_along(found.weights, near_pairs())};
}

}  // namespace headwave
