#include "profile_measures.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

double explained_share(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted, bool centred) {
  std::vector<double> p, q;
  for (Index t = 0; t < measured.size(); ++t)
    if (measured[t] > 0 && predicted[t] > 0) {
      p.push_back(std::log(measured[t]));
      q.push_back(std::log(predicted[t]));
    }
  if (p.size() < 3) return not_defined;
  // Copied, so that the order of the sums does not depend on where the numbers lie in memory.
  const Vector log_measured = Eigen::Map<const Vector>(p.data(), static_cast<Index>(p.size()));
  const Vector log_predicted = Eigen::Map<const Vector>(q.data(), static_cast<Index>(q.size()));
  const double total = (log_measured.array() - log_measured.mean()).square().sum();
  // Weights are float32: what varies by no more than rounding is the same everywhere.
  if (total <= static_cast<double>(p.size()) * 1e-12) return not_defined;
  Vector difference = log_predicted - log_measured;
  if (centred) difference.array() -= difference.mean();
  return 1 - difference.squaredNorm() / total;
}

}  // namespace headwave
