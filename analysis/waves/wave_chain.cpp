#include "wave_chain.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "../../core/numbers/random.h"

namespace headwave {

namespace {

constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();

/// x W in double, without bias, whichever way W is stored.
Matrix projected(const Matrix& x, const Linear& linear) {
  if (linear.in_out) return x * linear.weight.cast<double>();
  return x * linear.weight.cast<double>().transpose();
}

void add_to(std::vector<MatrixC>& sums, const std::vector<MatrixC>& parts) {
  if (sums.empty()) sums.assign(parts.size(), {});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (sums[i].size() == 0)
      sums[i] = parts[i];
    else
      sums[i] += parts[i];
  }
}

}  // namespace

WaveProbe::WaveProbe(const WaveChainPlan& plan, Index number) : plan_(plan), number_(number) {
  const Index rows = plan.grid.rows(), components = plan.stack->block.d_head;
  if (plan.options.covariances) found_.covariances = DocumentCovariances(rows, components, plan.options.reach);
  if (plan.options.spectra)
    found_.spectra = DocumentWaveSpectra(static_cast<Index>(plan.grid.layers.size()), rows, components, plan.length);
  const MatrixC none = MatrixC::Zero(plan.length / 2 + 1, plan.grid.rows());
  found_.cross = found_.phase_cross = none;
  const auto draws = static_cast<std::size_t>(plan.options.draws);
  if (plan.options.delays) found_.null.assign(draws, none);
  if (plan.options.phases) {
    found_.phases = phase_spectra(plan.grid, plan.length, plan.options.bins);
    found_.phases.documents = 1;
    if (number < plan.options.phase_documents) found_.phase_null.assign(draws, none);
  }
  if (number == 0 && plan.options.spectra) {
    found_.shown.query = found_.shown.key =
        Matrix::Constant(plan.grid.rows() * plan.options.waves, plan.length, not_defined);
    found_.shown.component = Matrix::Constant(plan.grid.rows(), plan.options.waves, not_defined);
  }
}

void WaveProbe::see(const LayerInput& input) {
  const auto& layers = plan_.grid.layers;
  const auto place = std::find(layers.begin(), layers.end(), input.layer);
  if (input.kind != plan_.kind || place == layers.end() || input.states.rows() != plan_.length) return;
  const BlockSpec& block = plan_.stack->block;
  const AttentionWeights& weights = plan_.stack->blocks[static_cast<std::size_t>(input.layer)].self;
  const Matrix states = input.states.cast<double>();
  const Matrix query = projected(states, weights.query), key = projected(states, weights.key);
  const MatrixC random_keys = plan_.options.delays ? real_dft(Matrix(states * plan_.frames)) : MatrixC();

  // The largest amplitude over all heads' columns, in order and with the positions shuffled.
  std::vector<Index> order(static_cast<std::size_t>(plan_.length));
  std::iota(order.begin(), order.end(), Index{0});
  Random random = Random(plan_.options.seed).stream(2000000 + static_cast<std::uint64_t>(number_));
  random.shuffle(order);
  const Index nf = plan_.length / 2 + 1, width = block.heads * block.d_head;
  Matrix query_amplitude = Matrix::Zero(nf, width), key_amplitude = query_amplitude;
  Matrix query_shuffled = query_amplitude, key_shuffled = query_amplitude;

  for (Index h = 0; h < block.heads; ++h) {
    const Index row = plan_.grid.first_row(input.layer) + h;
    const Index key_head = h / (block.heads / block.kv_heads);
    Vector bias;
    if (!weights.query.bias.empty()) bias = weights.query.bias.segment(h * block.d_head, block.d_head).cast<double>();
    const HeadWaves waves =
        head_waves(row, plan_.heads[static_cast<std::size_t>(row)], query.middleCols(h * block.d_head, block.d_head),
                   key.middleCols(key_head * block.d_head, block.d_head), bias);
    add_head(waves, random_keys);
    if (!plan_.options.spectra) continue;
    const Index first = h * block.d_head, k = waves.rank();
    query_amplitude.middleCols(first, k) = waves.query_spectrum.cwiseAbs();
    key_amplitude.middleCols(first, k) = waves.key_spectrum.cwiseAbs();
    query_shuffled.middleCols(first, k) = amplitude_spectrum(Matrix(waves.query(order, Eigen::all)));
    key_shuffled.middleCols(first, k) = amplitude_spectrum(Matrix(waves.key(order, Eigen::all)));
  }
  if (!plan_.options.spectra) return;
  const Index at = place - layers.begin(), count = plan_.spectra.settings().count;
  const auto largest = [&](const Matrix& amplitude) { return expected_maximum(amplitude, count).transpose().eval(); };
  found_.spectra.query.row(at) = largest(query_amplitude);
  found_.spectra.key.row(at) = largest(key_amplitude);
  found_.spectra.state.row(at) = largest(amplitude_spectrum(states));
  found_.spectra.query_shuffled.row(at) = largest(query_shuffled);
  found_.spectra.key_shuffled.row(at) = largest(key_shuffled);
  found_.spectra.state_shuffled.row(at) = largest(amplitude_spectrum(Matrix(states(order, Eigen::all))));
}

void WaveProbe::add_head(const HeadWaves& waves, const MatrixC& random_keys) {
  if (plan_.options.covariances) found_.covariances.add(waves, plan_.stack->block.d_head, number_ == 0);
  if (plan_.options.delays) {
    found_.cross.col(waves.row) = cross_spectrum(waves);
    const Index width = plan_.frames.cols() / std::max<Index>(1, plan_.options.draws);
    for (std::size_t draw = 0; draw < found_.null.size(); ++draw)
      found_.null[draw].col(waves.row) = cross_spectrum(waves, random_keys, static_cast<Index>(draw) * width);
  }
  if (plan_.options.phases) add_phases(waves);
  if (plan_.options.spectra) add_columns(waves);
}

void WaveProbe::add_phases(const HeadWaves& waves) {
  if (waves.rank() == 0) return;
  const PhaseRotation& rotation = waves.head->rotation;
  const Matrix query = direction_spectra(waves.query_spectrum, rotation);
  const Matrix key = direction_spectra(waves.key_spectrum, rotation);
  headwave::add_head(found_.phases, waves.row, rotation, query, key);
  found_.phase_cross.col(waves.row) = phase_cross_spectrum(rotation, waves.head->svd.gain, query);
  for (std::size_t draw = 0; draw < found_.phase_null.size(); ++draw) {
    const Index drawn = plan_.drawn[static_cast<std::size_t>(waves.row)][draw];
    const PhaseRotation& random =
        plan_.rotations[static_cast<std::size_t>(waves.rank())][static_cast<std::size_t>(drawn)];
    found_.phase_null[draw].col(waves.row) =
        phase_cross_spectrum(random, waves.head->svd.gain, direction_spectra(waves.query_spectrum, random));
  }
}

void WaveProbe::add_columns(const HeadWaves& waves) {
  const WaveSpectra& settings = plan_.spectra.settings();
  std::vector<PeakShare> query_peaks;
  for (Index j = 0; j < waves.rank(); ++j) {
    const PeakShare query = peak_share(waves.query_spectrum.col(j), plan_.length);
    const PeakShare key = peak_share(waves.key_spectrum.col(j), plan_.length);
    query_peaks.push_back(query);
    found_.spectra.periodic_query[waves.row] +=
        is_periodic(query, plan_.length, settings.threshold, settings.periodic) ? 1 : 0;
    found_.spectra.periodic_key[waves.row] +=
        is_periodic(key, plan_.length, settings.threshold, settings.periodic) ? 1 : 0;
    const Index at = component_row(waves.row, j, settings.components);
    found_.spectra.share.row(at) << query.share, key.share;
    found_.spectra.frequency.row(at) << static_cast<double>(query.frequency), static_cast<double>(key.frequency);
  }
  if (number_ == 0) show(waves, query_peaks);
}

void WaveProbe::show(const HeadWaves& waves, const std::vector<PeakShare>& peaks) {
  std::vector<Index> order(peaks.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto in_band = [&](Index j) {
    return is_periodic(peaks[static_cast<std::size_t>(j)], plan_.length, 0, plan_.options.periodic);
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (in_band(a) != in_band(b)) return in_band(a);
    return peaks[static_cast<std::size_t>(a)].share > peaks[static_cast<std::size_t>(b)].share;
  });
  const Index shown = std::min<Index>(plan_.options.waves, static_cast<Index>(order.size()));
  for (Index w = 0; w < shown; ++w) {
    const Index j = order[static_cast<std::size_t>(w)], at = waves.row * plan_.options.waves + w;
    found_.shown.query.row(at) = waves.query.col(j).transpose();
    found_.shown.key.row(at) = waves.key.col(j).transpose();
    found_.shown.component(waves.row, w) = static_cast<double>(j + 1);
  }
}

WaveChainSum::WaveChainSum(const WaveChainPlan& plan)
    : plan_(plan),
      covariances_(plan.grid, plan.stack->block.d_head, plan.options.reach, plan.length, plan.stack->block.score_scale),
      spectra_(plan.spectra) {
  chain_.scores.grid = chain_.phases.grid = plan.grid;
  chain_.scores.length = chain_.phases.length = plan.length;
  if (plan.options.phases) chain_.phase_spectra = phase_spectra(plan.grid, plan.length, plan.options.bins);
}

void WaveChainSum::add(DocumentWaves&& document) {
  if (plan_.options.covariances) covariances_.add(std::move(document.covariances));
  if (plan_.options.delays) {
    chain_.scores.by_document.push_back(std::move(document.cross));
    add_to(chain_.scores.null, document.null);
  }
  if (plan_.options.phases) {
    chain_.phases.by_document.push_back(std::move(document.phase_cross));
    if (!document.phase_null.empty()) ++chain_.phases.null_documents;
    add_to(chain_.phases.null, document.phase_null);
    chain_.phase_spectra.query += document.phases.query;
    chain_.phase_spectra.key += document.phases.key;
    ++chain_.phase_spectra.documents;
  }
  if (plan_.options.spectra) spectra_.add(document.spectra);
  if (documents_++ == 0) chain_.shown = std::move(document.shown);
}

WaveChain WaveChainSum::chain() const {
  WaveChain result = chain_;
  result.covariances = covariances_.covariances();
  result.spectra = spectra_.spectra();
  return result;
}

std::vector<Field> describe(const ShownWaves& shown, const HeadGrid& grid) {
  const Index waves = shown.component.cols(), length = shown.query.cols();
  const std::vector<Axis> axes{layer_axis(grid.layers), head_axis(grid.heads),
                               counting_axis("wave", "1", "the most periodic columns first", 1, waves),
                               counting_axis("position", "token", "position in the first document", 0, length - 1)};
  const auto list = [](const Matrix& m) { return std::vector<double>(m.data(), m.data() + m.size()); };
  std::vector<Field> fields{
      make_field("redefined/query", axes, "1", "a redefined query column over the first document", list(shown.query)),
      make_field("redefined/key", axes, "1", "the redefined key column that goes with it", list(shown.key)),
      make_field("redefined/component", {axes[0], axes[1], axes[2]}, "1", "which column that is, by descending gain",
                 list(shown.component))};
  for (Field& field : fields) field.attributes["undefined"] = std::string("the head has fewer columns");
  return fields;
}

}  // namespace headwave
