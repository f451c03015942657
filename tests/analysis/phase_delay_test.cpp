// The chain on heads whose truth is known because they were built that way.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

#include "../../analysis/statistics/quantile.h"
#include "../../analysis/waves/cross_covariance.h"
#include "../../analysis/why/position_atlas.h"
#include "../reference/direct_dft.h"
#include "../reference/multi_head.h"
#include "../test_numbers.h"
#include "golden_json.h"
#include "planted_waves.h"
#include "test_pass.h"

using namespace headwave;

namespace {

Matrix normal_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Matrix made(rows, columns);
  for (double& entry : made.reshaped()) entry = random.normal();
  return made;
}

/// Waves from slow to fast, on the bins: no leakage, and no delay that could pass for a phase.
WaveSpec wide_band() {
  WaveSpec spec;
  spec.frequencies = {7, 13, 21, 30, 37, 42, 46, 50, 54, 62};
  spec.amplitudes.assign(10, 1.0);
  return delayed(spec, 0);
}

/// Rows u further down, the last ones first.
Matrix shifted(const Matrix& rows, Index u) {
  Matrix result(rows.rows(), rows.cols());
  for (Index n = 0; n < rows.rows(); ++n) result.row((n + u + rows.rows()) % rows.rows()) = rows.row(n);
  return result;
}

/// Share of the modulus of C that adds up at t: delay.h's (2) for any t, with f = 0 or without.
double agreement(const Followed& head, double t, Index first_frequency = 1) {
  const auto length = static_cast<double>(head.waves.length());
  double modulus = 0, sum = 0;
  for (Index f = first_frequency; f < head.cross.size(); ++f) {
    const double times = f == 0 || 2 * f == head.waves.length() ? 1 : 2;
    modulus += times * std::abs(head.cross[f]);
    sum += times * (head.cross[f] * std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(f) * t / length)).real();
  }
  return sum / modulus;
}

/// All that the chain says about a layer, over documents of its states.
std::vector<Field> fields_of(const WaveStack& heads, const std::vector<Matrix32>& documents) {
  std::vector<ShownDocument> shown;
  for (const Matrix32& states : documents) shown.push_back(shown_states(states));
  const TestPass pass{.grid = heads.grid(), .stack = heads.stack, .options = {.draws = 3, .resamples = 10}};
  std::vector<Field> fields;
  for (const char* name :
       {"qk_svd", "cross_covariance", "phase_delay", "wave_spectra", "periodic_columns", "redefined"})
    append(fields, pass.fields(name, shown));
  return fields;
}

}  // namespace

TEST_CASE("the chain finds both fixtures as they were planted, and as numpy does") {
  const bool first = GENERATE(true, false);
  const WaveSpec spec = first ? fixture_1() : fixture_2();
  static const nlohmann::json all = golden_json("wave_chain.json");
  const nlohmann::json& golden = all[first ? "fixture1" : "fixture2"];
  const double offset = golden["t_star"].get<double>();
  const WaveMatrices made = wave_matrices(spec);
  const Followed head = followed(made, {.reach = 8});
  SECTION("singular values come in pairs, as many as the waves have planes") {
    const QkSvd& svd = head.head->svd;
    REQUIRE(svd.rank() == 12);
    std::vector<double> planted;
    for (const double a : spec.amplitudes) planted.insert(planted.end(), 2, a * std::sqrt(32.0) * 6 / 96);
    std::sort(planted.begin(), planted.end(), std::greater<>());
    const Vector numpy = vector_of(golden["gain"]);
    for (Index j = 0; j < 12; ++j) {
      CHECK(svd.gain[j] == Approx(planted[static_cast<std::size_t>(j)]).epsilon(64 * eps));
      CHECK(svd.gain[j] == Approx(numpy[j]).epsilon(64 * eps));
    }
    CHECK(svd.gain.tail(20).maxCoeff() < 96 * eps * svd.gain[0]);
  }
  SECTION("eigenvalues are e^{+-i w t*}, with nothing lost") {
    const PhaseRotation& rotation = head.head->rotation;
    CHECK(apart(head.eigenvalues(), planted_eigenvalues(spec)) < 256 * eps);
    CHECK((rotation.retention.array() - 1).abs().maxCoeff() < 256 * eps);
    CHECK(rotation.condition == Approx(1).epsilon(1e-9));
    std::vector<double> phase(rotation.phase.begin(), rotation.phase.end());
    std::sort(phase.begin(), phase.end(), std::greater<>());
    const Vector numpy = vector_of(golden["phase"]);
    for (Index j = 0; j < 12; ++j) CHECK(phase[static_cast<std::size_t>(j)] == Approx(numpy[j]).epsilon(1e-12));
  }
  SECTION("the delay and its coherence") {
    CHECK(head.delay.offset == Approx(golden["t_hat"].get<double>()).margin(1e-9));
    CHECK(head.delay.coherence == Approx(golden["coherence"].get<double>()).epsilon(1e-10));
    CHECK(head.delay.coherence == Approx(first ? 0.998 : 1.0).margin(5e-4));
    CHECK(std::abs(head.delay.offset - offset) < 7.0 / 512);
    const Delay phases = delays(head.phase_cross(), 512).front();
    CHECK(phases.offset == Approx(offset).margin(7.0 / 512));
    CHECK(phases.coherence == Approx(head.delay.coherence).margin(1e-3));
  }
  SECTION("scores summed along diagonals peak at t*") {
    const CrossCovariance found = cross_covariance(head.waves);
    Index at = 0;
    const double largest = found.weighted.maxCoeff(&at);
    CHECK(at - 511 == static_cast<Index>(offset));
    const Vector near = found.weighted.segment(511 - 10, 21) / largest;
    CHECK((near - vector_of(golden["weighted"])).cwiseAbs().maxCoeff() < 1e-11);
    CHECK(weighted_sum_residual(head.waves, found) < 1e-12);
  }
  SECTION("scores depend on the offset alone") {
    const Matrix scores = made.states * made.query * (made.states * made.key).transpose();
    double rest = 0;
    for (Index t = -511; t <= 511; ++t) {
      const Vector diagonal = scores.diagonal(t);
      rest += (diagonal.array() - diagonal.mean()).square().sum();
    }
    CHECK(rest / scores.squaredNorm() < 1e-24);
    const HeadWeights weights{made.query, made.key, Vector::Zero(32)};
    const PositionKernel kernel = position_kernel(made.states, weights, {made.states, 32, 0});
    // Row means, which the kernel takes away, vanish only where all waves fill whole periods.
    CHECK(kernel.toeplitz_r2 == Approx(1).margin(first ? 1e-3 : 1e-11));
  }
}

TEST_CASE("every redefined column of a planted head is periodic, and its phases lie on the ridge of the delay") {
  const WaveSpec spec = fixture_1();
  const Followed head = followed(wave_matrices(spec));
  const WaveMatrices made = wave_matrices(spec);
  const std::vector<Field> fields = fields_of(WaveStack({made.query}, {made.key}), {made.states.cast<float>()});
  CHECK(field_of(fields, "periodic_columns/query").doubles()[0] == 12);
  CHECK(field_of(fields, "periodic_columns/key").doubles()[0] == 12);
  Matrix query = Matrix::Zero(1, 257 * 64), key = query;
  add_phases(query, 0, head.head->rotation, direction_spectra(head.waves.query_spectrum, head.head->rotation), 64);
  add_phases(key, 0, head.head->rotation, direction_spectra(head.waves.key_spectrum, head.head->rotation), 64);
  for (Index m = 0; m < spec.waves(); ++m) {
    const auto line = static_cast<Index>(std::lround(spec.frequencies[static_cast<std::size_t>(m)]));
    for (const Matrix* side : {&query, &key}) {
      Index bin = 0;
      side->row(0).segment(line * 64, 64).maxCoeff(&bin);
      CHECK(bin == phase_bin(2 * spec.angular(m), 64));  // theta = 2 pi f Delta / T, Delta = -t*
    }
  }
}

TEST_CASE("a key bias changes nothing after the softmax") {
  const WaveMatrices made = wave_matrices(fixture_1());
  MultiHeadWeights weights;
  weights.query = made.query;
  weights.key = made.key;
  weights.value = normal_matrix(96, 32, 1);
  weights.output = Matrix::Identity(32, 32);
  const Matrix states = made.states.topRows(100);
  const Attention before = multi_head_attention(states, states, weights);
  weights.key_bias = normal_matrix(32, 1, 2);
  const Attention after = multi_head_attention(states, states, weights);
  CHECK((after.scores[0] - before.scores[0]).cwiseAbs().maxCoeff() > 0.1);
  const double largest = after.scores[0].cwiseAbs().maxCoeff();
  CHECK((after.weights[0] - before.weights[0]).cwiseAbs().maxCoeff() < 16 * eps * (1 + largest));
}

TEST_CASE("a tilt between query and key planes shrinks the retention to its cosine and keeps the phases") {
  WaveSpec spec = fixture_1();
  spec.tilt = GENERATE(0.3, 1.0, 1.5);
  const Followed head = followed(wave_matrices(spec));
  REQUIRE(head.head->rank == 12);
  CHECK((head.head->rotation.retention.array() - std::cos(spec.tilt)).abs().maxCoeff() < 256 * eps);
  CHECK(apart(head.eigenvalues(), planted_eigenvalues(spec)) < 256 * eps);
  CHECK(head.delay.offset == Approx(-2).margin(7.0 / 512));
  CHECK(delays(head.phase_cross(), 512).front().offset == Approx(-2).margin(7.0 / 512));
}

TEST_CASE("a delay of two tokens and a half is found between the tokens") {
  CHECK(followed(wave_matrices(delayed(fixture_2(), -2.5))).delay.offset == Approx(-2.5).margin(1e-9));
  const Followed head = followed(wave_matrices(delayed(fixture_1(), -2.5)));
  CHECK(head.delay.offset == Approx(-2.5).margin(7.0 / 512));
  CHECK(delays(head.phase_cross(), 512).front().offset == Approx(-2.5).margin(7.0 / 512));
}

TEST_CASE("no delay is zero, and its eigenvalues are one") {
  const Followed head = followed(wave_matrices(delayed(fixture_1(), 0)));
  CHECK(std::abs(head.delay.offset) < 1e-9);
  CHECK(head.delay.coherence == Approx(1));
  CHECK(apart(head.eigenvalues(), Eigen::VectorXcd::Ones(12)) < 256 * eps);
}

TEST_CASE("waves with delays in conflict are less coherent than random directions are") {
  WaveSpec spec = fixture_1();
  constexpr std::array<double, 6> offsets{-5, 3, -1, 4, -3, 1};
  for (std::size_t m = 0; m < 6; ++m) spec.turns[m] = -spec.angular(static_cast<Index>(m)) * offsets[m];
  const WaveMatrices made = wave_matrices(spec);
  const Followed head = followed(made);
  CHECK(apart(head.eigenvalues(), planted_eigenvalues(spec)) < 256 * eps);  // each wave is found for itself
  CHECK(head.delay.coherence < 0.7);
  CHECK(head.delay.coherence < quantile(null_coherences(head, made.states, 20), 0.5));
  CHECK(head.delay.runner_up_share > 0.9);
}

TEST_CASE("one phase at all frequencies is no delay") {
  SECTION("over a wide band nothing adds up") {
    for (const double phase : {2.5, 3.0, std::numbers::pi}) {
      WaveSpec spec = wide_band();
      spec.turns.assign(10, phase);
      const WaveMatrices made = wave_matrices(spec);
      const Followed head = followed(made);
      CAPTURE(phase, head.delay.offset, head.delay.coherence);
      CHECK(head.delay.coherence < quantile(null_coherences(head, made.states, 20), 0.95));
    }
  }
  SECTION("opposite waves have two delays, equally good") {
    WaveSpec spec = fixture_2();
    spec.turns.assign(6, std::numbers::pi);
    const Followed head = followed(wave_matrices(spec));
    CHECK(head.delay.runner_up_share == Approx(1).epsilon(1e-9));
    CHECK(head.delay.runner_up == Approx(-head.delay.offset).epsilon(1e-6));
  }
  SECTION("a small phase looks like a small delay, but not frequency by frequency") {
    WaveSpec spec = wide_band();
    spec.turns.assign(10, 1.0);
    const Followed head = followed(wave_matrices(spec));
    const Matrix alone = delay_by_frequency(head.cross, 512);
    for (Index m = 0; m < spec.waves(); ++m) {
      const double f = spec.frequencies[static_cast<std::size_t>(m)];
      CHECK(alone(static_cast<Index>(f), 0) * 2 * std::numbers::pi * f / 512 == Approx(-1).epsilon(1e-9));
    }
  }
}

TEST_CASE("with the positions shuffled nothing is left of a planted delay but each token's match with itself") {
  const WaveMatrices made = wave_matrices(fixture_1());
  std::vector<Index> order(512);
  std::iota(order.begin(), order.end(), Index{0});
  Random(6).shuffle(order);
  const Followed head = followed(Matrix(made.states(order, Eigen::seqN(0, made.states.cols()))), made.query, made.key);
  CHECK(std::abs(agreement(head, -2)) < 4 / std::sqrt(512.0));
  CHECK(std::abs(head.delay.offset) < 0.5);
  CHECK(apart(head.eigenvalues(), planted_eigenvalues(fixture_1())) < 256 * eps);  // the weights know nothing of it
}

TEST_CASE("keys shifted in a circle move the delay by as much, whatever the head") {
  const bool planted = GENERATE(true, false);
  const WaveMatrices made = wave_matrices(fixture_1());
  const Matrix query = planted ? made.query : normal_matrix(96, 32, 1);
  const Matrix key = planted ? made.key : normal_matrix(96, 32, 2);
  const Matrix states = made.states + (planted ? 0.0 : 1.0) * normal_matrix(512, 96, 3);
  const Followed head = followed(states, query, key, {.reach = 200});
  for (const Index u : {-7, 3, 20}) {
    const HeadWaves moved = head_waves(0, *head.head, states * query, shifted(states * key, u));
    const Delay delay = delays(cross_spectrum(moved), 512, {.reach = 200}).front();
    CHECK(delay.offset == Approx(head.delay.offset + static_cast<double>(u)).margin(1e-7));
    CHECK(delay.coherence == Approx(head.delay.coherence).epsilon(1e-10));
  }
}

TEST_CASE("a constant is left out of the coherence, or it would fall from 0.998 to 0.23") {
  const WaveMatrices made = wave_matrices(fixture_1());
  const Followed before = followed(made);
  // A direction without waves, the same at every token, that queries and keys read with opposite signs.
  const double modulus = 2 * before.cross.tail(256).cwiseAbs().sum();
  const double wanted = modulus * (before.delay.coherence - 0.23) / 1.23;
  const Vector beside = made.basis.col(12);
  Matrix states = made.states, query = made.query, key = made.key;
  states.rowwise() += beside.transpose();
  query.col(31) = std::sqrt(wanted) / 512 * beside;
  key.col(31) = -query.col(31);
  const Followed after = followed(states, query, key);
  CHECK(after.head->rank == 13);
  CHECK(after.delay.offset == Approx(before.delay.offset).margin(1e-9));
  CHECK(after.delay.coherence == Approx(0.998).margin(5e-4));
  CHECK(agreement(after, after.delay.offset, 0) == Approx(0.23).margin(0.01));
}

TEST_CASE("keys ahead of queries mean attention behind: t* = -Delta") {
  const WaveSpec spec = fixture_1();
  const Followed head = followed(wave_matrices(spec));
  const PhaseRotation& rotation = head.head->rotation;
  const MatrixC query = head.waves.query * rotation.direction, key = head.waves.key * rotation.direction;
  const MatrixC spectrum = direct_dft(query, 512);
  for (Index p = 0; p < rotation.rank(); ++p) {
    // (K p)[n] = lambda (Q p)[n] = (Q p)[n + 2]
    CHECK((key.col(p) - rotation.eigenvalue(p) * query.col(p)).norm() < 1e-12 * query.norm());
    CHECK((key.col(p).head(510) - query.col(p).tail(510)).norm() < 1e-11 * query.norm());
    Index f = 0;
    spectrum.col(p).cwiseAbs().maxCoeff(&f);
    const double signed_f = f > 256 ? static_cast<double>(f) - 512 : static_cast<double>(f);
    CHECK(512 * rotation.phase[p] / (2 * std::numbers::pi * signed_f) == Approx(2).margin(0.03));
  }
}

TEST_CASE("one frequency alone takes a delay for its alias, all together do not") {
  const Followed head = followed(wave_matrices(delayed(fixture_2(), -6)));
  CHECK(delay_by_frequency(head.cross, 512)(50, 0) == Approx(-6 + 512.0 / 50).margin(1e-9));
  CHECK(delay_by_frequency(head.cross, 512)(41, 0) == Approx(-6).margin(1e-9));
  CHECK(head.delay.offset == Approx(-6).margin(1e-9));
}

TEST_CASE("weights that lack rank lose nothing of the cross-spectrum") {
  const WaveMatrices made = wave_matrices(fixture_1());
  const Matrix states = made.states + normal_matrix(512, 96, 3);
  Matrix query = normal_matrix(96, 32, 1), key = normal_matrix(96, 32, 2);
  query.col(31) = 2 * query.col(0) - query.col(7);
  query.col(30) = query.col(3);
  key.col(5).setZero();
  const Followed head = followed(states, query, key);
  CHECK(head.head->rank == 29);
  const MatrixC q = real_dft(Matrix(states * query)), k = real_dft(Matrix(states * key));
  const Eigen::VectorXcd raw = q.conjugate().cwiseProduct(k).rowwise().sum();
  CHECK((raw - head.cross).cwiseAbs().maxCoeff() < 1e-12 * raw.cwiseAbs().maxCoeff());
  CHECK(head.head->rotation.retention.maxCoeff() < 1 + 64 * eps);
  CHECK(weighted_sum_residual(head.waves, cross_covariance(head.waves)) < 1e-12);
}

TEST_CASE("delays are found at odd and prime lengths") {
  for (const Index length : {127, 255, 509}) {
    WaveSpec spec = fixture_1();
    spec.length = length;
    for (double& f : spec.frequencies) f *= static_cast<double>(length) / 512;
    const Followed head = followed(wave_matrices(delayed(spec, -2)));
    CAPTURE(length);
    CHECK(head.delay.offset == Approx(-2).margin(7.0 / static_cast<double>(length)));
    CHECK(head.delay.coherence > 0.98);
    CHECK(apart(head.eigenvalues(), planted_eigenvalues(delayed(spec, -2))) < 256 * eps);
  }
}

TEST_CASE("a document of 8192 tokens is followed like a short one") {
  WaveSpec spec = fixture_1();
  spec.length = 8192;
  spec.d_model = 24;
  spec.d_head = 12;
  for (double& f : spec.frequencies) f *= 16;
  const Followed head = followed(wave_matrices(delayed(spec, -2)));
  CHECK(head.delay.offset == Approx(-2).margin(7.0 / 8192));
  CHECK(head.delay.coherence > 0.999);
  const CrossCovariance found = cross_covariance(head.waves);
  Index at = 0;
  found.weighted.maxCoeff(&at);
  CHECK(at - 8191 == -2);
}

TEST_CASE("what the chain cannot know of short, constant or empty input is NaN and says why") {
  WaveSpec spec;
  spec.d_model = 12;
  spec.d_head = 4;
  spec.frequencies = {0.3};
  spec.amplitudes = {1};
  const Index length = GENERATE(1, 2, 3, 7, 31, 64);
  spec.length = length;
  const WaveMatrices made = wave_matrices(delayed(spec, -1));
  Matrix lacking = normal_matrix(12, 4, 1);
  lacking.col(3) = lacking.col(0);
  const Matrix zero = Matrix::Zero(12, 4);
  const WaveStack heads({made.query, lacking, zero, normal_matrix(12, 4, 2)},
                        {made.key, normal_matrix(12, 4, 3), zero, normal_matrix(12, 4, 4)});
  const Matrix32 waves = made.states.cast<float>(), same = waves.row(0).replicate(length, 1);
  const Matrix32 noise = normal_matrix(length, 12, 5).cast<float>();
  CAPTURE(length);
  for (const auto& documents : {std::vector<Matrix32>{waves}, std::vector<Matrix32>{same, same},
                                std::vector<Matrix32>(6, Matrix32::Zero(length, 12)),
                                std::vector<Matrix32>{noise, waves, noise, same, noise, waves}}) {
    const std::vector<Field> fields = fields_of(heads, documents);
    CHECK(unannounced(fields) == std::vector<std::string>());
    CHECK(std::isnan(field_of(fields, "phase_delay/estimate").doubles()[2]));  // the head of zeros
    CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "qk_svd/rank").values) ==
          std::vector<std::int64_t>{2, 3, 0, 4});
    const std::vector<double> estimates = field_of(fields, "phase_delay/estimate").doubles();
    if (documents.size() == 2)  // a constant has no frequency above 0
      for (const double estimate : estimates) CHECK(std::isnan(estimate));
  }
}

TEST_CASE("phases 0 and pi lie in the middle of their bins, and rounding moves neither out") {
  for (const Index bins : {7, 16, 64}) {
    CAPTURE(bins);
    const Axis axis = phase_axis(bins);
    const auto& middles = std::get<std::vector<double>>(axis.values);
    REQUIRE(static_cast<Index>(middles.size()) == bins);
    for (Index bin = 0; bin < bins; ++bin) {
      const double middle = middles[static_cast<std::size_t>(bin)];
      CHECK(middle > -std::numbers::pi);
      CHECK(middle <= std::numbers::pi);
      for (const double off : {-0.49, -1e-12, 0.0, 1e-12, 0.49})
        CHECK(phase_bin(middle + off * 2 * std::numbers::pi / static_cast<double>(bins), bins) == bin);
    }
    CHECK(middles[static_cast<std::size_t>(phase_bin(0, bins))] == 0);
    CHECK(phase_bin(1e-15, bins) == phase_bin(-1e-15, bins));
    if (bins % 2 == 0) CHECK(phase_bin(-std::numbers::pi, bins) == phase_bin(std::numbers::pi, bins));
  }
}

TEST_CASE("a delay beyond the search is undefined: the end of a search is no estimate") {
  WaveSpec spec = wide_band();
  spec.frequencies = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // slow waves: the flank of the peak reaches far
  const Eigen::VectorXcd cross = followed(wave_matrices(delayed(spec, -40))).cross;
  CrossSpectra spectra;
  spectra.by_document.emplace_back(cross);
  for (const Index reach : {20, 32, 39, 64, 200}) {
    CAPTURE(reach);
    PhaseDelayOptions options;
    options.delay.reach = reach;
    const PhaseDelay found = phase_delay(spectra, 512, options);
    const Delay delay = delays(cross, 512, options.delay).front();
    CHECK(delay.at_edge == (reach < 40));
    if (reach < 40) {
      CHECK(std::isnan(found.estimate[0]));
      CHECK(std::abs(delay.runner_up) != static_cast<double>(reach));
    } else {
      CHECK(found.estimate[0] == Approx(-40).epsilon(1e-6));
    }
  }
}

TEST_CASE("a delay that is told from chance but lies at the end of the search says edge, and is given none") {
  WaveSpec spec = wide_band();
  spec.frequencies = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Eigen::VectorXcd far = followed(wave_matrices(delayed(spec, -40))).cross;
  const Eigen::VectorXcd near = followed(wave_matrices(delayed(spec, -4))).cross;
  CrossSpectra spectra;
  spectra.by_document.emplace_back(far.size(), 2);
  spectra.by_document[0] << far, near;
  Random random(3);
  for (Index draw = 0; draw < 20; ++draw) {
    MatrixC null = spectra.by_document[0];
    for (auto& entry : null.reshaped()) entry *= std::polar(1.0, 6.28318530717958648 * random.uniform());
    spectra.null.push_back(std::move(null));
  }
  PhaseDelayOptions options;
  options.delay.reach = 38;
  const PhaseDelay found = phase_delay(spectra, 512, options);
  CHECK(found.q_value[0] <= 0.05);
  CHECK(found.status[0] == PredictedStatus::edge);
  CHECK(std::isnan(found.offset[0]));
  CHECK(found.status[1] == PredictedStatus::offset);
  CHECK(found.offset[1] == Approx(-4).epsilon(1e-6));
}

TEST_CASE("a planted head with negative coherences among its draws is defined") {
  // Random readings of the keys whose slow waves meet half a document away: nowhere within the search are they positive.
  WaveSpec spec = wide_band();
  const Eigen::VectorXcd planted = followed(wave_matrices(delayed(spec, -2))).cross;
  CrossSpectra spectra;
  spectra.by_document.emplace_back(planted.size(), 8);
  Random random(4);
  for (Index row = 0; row < 8; ++row) spectra.by_document[0].col(row) = planted;
  Index negative = 0;
  for (Index draw = 0; draw < 20; ++draw) {
    MatrixC null = MatrixC::Zero(planted.size(), 8);
    for (Index row = 0; row < 8; ++row)
      for (Index f = 1; f < 40; ++f) null(f, row) = std::polar(1.0, 6.28318530717958648 * random.uniform());
    null.col(0).setZero();
    null(1, 0) = -1.0;  // D(t) = -cos(2 pi t / T), largest at the ends: -0.71
    for (Index f = 2; f < 40 && draw % 3 != 0; ++f)
      null(f, 0) = std::polar(1.0, 6.28318530717958648 * random.uniform());
    negative += delays(null, 512).front().coherence < 0 ? 1 : 0;
    spectra.null.push_back(std::move(null));
  }
  REQUIRE(negative >= 6);
  const PhaseDelay found = phase_delay(spectra, 512);
  for (Index row = 0; row < 8; ++row) {
    CAPTURE(row, found.coherence[row], found.q_value[row]);
    CHECK(found.status[static_cast<std::size_t>(row)] == PredictedStatus::offset);
    CHECK(found.offset[row] == Approx(-2).epsilon(1e-6));
  }
}
