// The chain against numpy and scipy: tests/golden/make_wave_chain.py.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "../../analysis/waves/cross_covariance.h"
#include "../../analysis/waves/delay.h"
#include "../../analysis/waves/qk_svd.h"
#include "../reference/cross_spectrum.h"
#include "golden_json.h"

using namespace headwave;

namespace {

constexpr double tolerance = 1e-9;  // relative, as asked of every quantity in double

const nlohmann::json& golden() {
  static const nlohmann::json json = golden_json("wave_chain.json");
  return json;
}

double relative(const Matrix& found, const Matrix& expected) {
  REQUIRE(found.rows() == expected.rows());
  REQUIRE(found.cols() == expected.cols());
  return (found - expected).cwiseAbs().maxCoeff() / std::max(expected.cwiseAbs().maxCoeff(), 1e-300);
}

/// How far the nearest one of the found values is, at worst: an order that depends on rounding does not matter.
double farthest(const Eigen::VectorXcd& expected, const PhaseRotation& found) {
  REQUIRE(expected.size() == found.rank());
  std::vector<bool> taken(static_cast<std::size_t>(found.rank()), false);
  double worst = 0;
  for (const std::complex<double> value : expected) {
    Index best = -1;
    for (Index i = 0; i < found.rank(); ++i)
      if (!taken[static_cast<std::size_t>(i)] &&
          (best < 0 || std::abs(found.eigenvalue(i) - value) < std::abs(found.eigenvalue(best) - value)))
        best = i;
    taken[static_cast<std::size_t>(best)] = true;
    worst = std::max(worst, std::abs(found.eigenvalue(best) - value));
  }
  return worst;
}

struct Chain {
  ChainHead head;
  HeadWaves waves;
};

Chain chain_of(const nlohmann::json& of) {
  Chain chain;
  const Matrix x = matrix_of(of["x"]), w_query = matrix_of(of["query_weight"]), w_key = matrix_of(of["key_weight"]);
  chain.head.svd = qk_svd(w_query, w_key);
  chain.head.rank = chain.head.svd.rank();
  chain.head.rotation = phase_rotation(chain.head.svd);
  chain.waves = head_waves(0, chain.head, x * w_query, x * w_key);
  return chain;
}

}  // namespace

TEST_CASE("gains, rank and eigenvalues of small heads are numpy's") {
  for (const nlohmann::json& of : golden()["small"]) {
    const Chain chain = chain_of(of);
    const QkSvd& svd = chain.head.svd;
    const Vector gain = vector_of(of["gain"]);
    CAPTURE(gain.size());
    CHECK((svd.gain - gain).cwiseAbs().maxCoeff() < 64 * std::numeric_limits<double>::epsilon() * gain[0]);
    CHECK(svd.rank() == of["rank"].get<Index>());
    CHECK((svd.query.transpose() * svd.query - Matrix::Identity(svd.rank(), svd.rank())).norm() < 1e-13);
    CHECK((svd.key.transpose() * svd.key - Matrix::Identity(svd.rank(), svd.rank())).norm() < 1e-13);
    CHECK(farthest(complex_of(of["eigenvalues"]), chain.head.rotation) < tolerance);
    CHECK(chain.head.rotation.condition == Approx(of["condition"].get<double>()).epsilon(1e-6));
    const Matrix x = matrix_of(of["x"]);
    CHECK(relative(chain.waves.query, matrix_of(of["query"])) < tolerance);
    CHECK(relative(chain.waves.key, matrix_of(of["key"])) < tolerance);
    CHECK(relative(x * svd.query, matrix_of(of["query"])) < tolerance);
    CHECK(relative(x * svd.key, matrix_of(of["key"])) < tolerance);
  }
}

TEST_CASE("cross-covariances and weighted sums are those of direct loops") {
  for (const nlohmann::json& of : golden()["small"]) {
    const Chain chain = chain_of(of);
    const CrossCovariance found = cross_covariance(chain.waves);
    CHECK(relative(found.covariance, matrix_of(of["covariance"])) < tolerance);
    CHECK(relative(found.correlation, matrix_of(of["correlation"])) < tolerance);
    CHECK(relative(found.unbiased, matrix_of(of["unbiased"])) < tolerance);
    CHECK(relative(found.weighted, vector_of(of["weighted"])) < tolerance);
    CHECK(relative(found.weighted_centred, vector_of(of["weighted_centred"])) < tolerance);
    CHECK(weighted_sum_residual(chain.waves, found) < 1e-13);
  }
}

TEST_CASE("cross-spectra, delays and coherences are scipy's") {
  for (const nlohmann::json& of : golden()["small"]) {
    const Chain chain = chain_of(of);
    const Eigen::VectorXcd cross = cross_spectrum(chain.waves), expected = complex_of(of["cross_spectrum"]);
    CHECK((cross - expected).cwiseAbs().maxCoeff() < tolerance * expected.cwiseAbs().maxCoeff());
    const Index length = chain.waves.length();
    DelayOptions options;
    options.reach = static_cast<Index>(of["t_max"].get<double>());
    if (static_cast<double>(options.reach) != of["t_max"].get<double>()) continue;  // half a token: searched no further
    const Delay delay = delays(cross, length, options).front();
    CHECK(delay.offset == Approx(of["t_hat"].get<double>()).margin(1e-7));
    CHECK(delay.coherence == Approx(of["coherence"].get<double>()).epsilon(tolerance));
    const Vector alone = delay_by_frequency(cross, length).col(0).tail(length / 2);
    CHECK((alone - vector_of(of["delay_by_frequency"])).cwiseAbs().maxCoeff() < 1e-6);
  }
}

TEST_CASE("spectra along the rotation's directions are numpy's, on both sides of zero") {
  for (const nlohmann::json& of : golden()["small"]) {
    const Chain chain = chain_of(of);
    const Eigen::VectorXcd values = complex_of(of["eigenvalues"]);
    const Matrix query = direction_spectra(chain.waves.query_spectrum, chain.head.rotation);
    const Matrix key = direction_spectra(chain.waves.key_spectrum, chain.head.rotation);
    for (Index m = 0; m < values.size(); ++m) {
      const nlohmann::json& expected = of["phase_spectrum_query"][static_cast<std::size_t>(m)];
      if (expected.is_null()) continue;
      for (Index p = 0; p < values.size(); ++p) {
        if (std::abs(chain.head.rotation.eigenvalue(p) - values[m]) > 1e-8) continue;
        const Vector here = vector_of(expected).head(query.rows());
        const Vector there = vector_of(of["phase_spectrum_key"][static_cast<std::size_t>(m)]).head(query.rows());
        CHECK((query.col(p) - here).cwiseAbs().maxCoeff() < tolerance * (1 + here.maxCoeff()));
        CHECK((key.col(p) - there).cwiseAbs().maxCoeff() < tolerance * (1 + there.maxCoeff()));
      }
    }
  }
}
