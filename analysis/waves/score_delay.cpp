#include "score_delay.h"

#include <algorithm>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/bytes/append.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/scale.h"
#include "random_reading.h"

namespace headwave {

namespace {

void add_to(std::vector<MatrixC>& sums, std::vector<MatrixC>&& parts) {
  if (sums.empty()) {
    sums = std::move(parts);
    return;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) sums[i] += parts[i];
}

/// scale_of() the largest part of any entry.
double scale_of_parts(const MatrixC& values) {
  if (values.size() == 0) return 1;
  return scale_of(std::max(values.real().cwiseAbs().maxCoeff(), values.imag().cwiseAbs().maxCoeff()));
}

class ScoreDelayAnalysis : public DocumentAnalysis<DocumentCross, CrossSpectra> {
 public:
  explicit ScoreDelayAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [&site = input.site] {
          CrossSpectra none;
          none.grid = site.grid;
          none.length = site.length;
          return none;
        }) {}

  void prepare(Finished& /*finished*/) override {
    RandomReadingOptions reading;
    reading.draws = options().draws;
    reading.seed = options().seed;
    frames_ = random_frames(stack().d_model(), std::min(stack().block.d_head, stack().d_model()), reading);
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of(std::make_unique<ScoreDelayListener>(site().grid, site().length, options().draws, frames_),
                   &ScoreDelayListener::taken);
  }

  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const DelaySpectrum delay = job_delay(sum_, "delay_spectrum", "queries and keys", input());
    return before_position_term(describe(finished.keep(ScoreDelay{delay}).spectrum), stack());
  }

 private:
  void add(CrossSpectra& sum, DocumentCross&& found) const override { add_document(sum, std::move(found)); }
  void join(CrossSpectra& sum, CrossSpectra&& next) const override { join_documents(sum, std::move(next)); }

  Matrix32 frames_;
};

}  // namespace

void add_document(CrossSpectra& sum, DocumentCross&& document) {
  sum.by_document.push_back(std::move(document.cross));
  if (!document.null.empty()) ++sum.null_documents;
  add_to(sum.null, std::move(document.null));
}

void join_documents(CrossSpectra& sum, CrossSpectra&& next) {
  append(sum.by_document, std::move(next.by_document));
  sum.null_documents += next.null_documents;
  add_to(sum.null, std::move(next.null));
}

ScoreDelayListener::ScoreDelayListener(const HeadGrid& grid, Index length, Index draws, const Matrix32& frames)
    : frames_(frames), heads_(grid.heads), draws_(draws), width_(frames.cols() / std::max<Index>(1, draws)) {
  found_.cross = MatrixC::Zero(length / 2 + 1, grid.rows());
  found_.null.assign(static_cast<std::size_t>(draws), found_.cross);
  random_keys_.resize(found_.cross.rows(), 2 * draws * width_);
  gained_.resize(found_.cross.rows(), 2 * heads_ * width_);
  query_scale_ = Vector::Ones(heads_);
}

void ScoreDelayListener::begin(const WaveLayer& layer) {
  if (draws_ == 0) return;
  key_scale_ = scale_of_parts(layer.spectrum);
  multiply(random_keys_.leftCols(draws_ * width_), (layer.spectrum.real() / key_scale_).cast<float>(), frames_);
  multiply(random_keys_.rightCols(draws_ * width_), (layer.spectrum.imag() / key_scale_).cast<float>(), frames_);
  gained_.setZero();  // beyond a head's rank
}

void ScoreDelayListener::see(const HeadWaves& waves) {
  const MatrixC gained = gained_queries(waves);
  found_.cross.col(waves.row) = cross_spectrum(gained, waves.key_spectrum);
  if (draws_ == 0) return;
  const Index head = waves.row % heads_, first = head * width_;
  query_scale_[head] = scale_of_parts(gained);
  gained_.middleCols(first, gained.cols()) = (gained.real() / query_scale_[head]).cast<float>();
  gained_.middleCols(heads_ * width_ + first, gained.cols()) = (gained.imag() / query_scale_[head]).cast<float>();
}

void ScoreDelayListener::end(const WaveLayer& layer) {
  if (draws_ == 0) return;
  Matrix32 parts(2 * draws_, 2 * heads_);
  for (Index f = 0; f < gained_.rows(); ++f) {
    const MatrixView32 keys(random_keys_.row(f).data(), 2 * draws_, width_);
    const MatrixView32 queries(gained_.row(f).data(), 2 * heads_, width_);
    multiply(parts, keys, queries.transpose());
    const auto real = parts.topLeftCorner(draws_, heads_) - parts.bottomRightCorner(draws_, heads_);
    const auto imaginary = parts.topRightCorner(draws_, heads_) + parts.bottomLeftCorner(draws_, heads_);
    for (Index draw = 0; draw < draws_; ++draw)
      for (Index head = 0; head < heads_; ++head)
        found_.null[static_cast<std::size_t>(draw)](f, layer.place * heads_ + head) =
            key_scale_ * query_scale_[head] * std::complex<double>(real(draw, head), imaginary(draw, head));
  }
}

DelaySpectrum job_delay(const CrossSpectra& spectra, const char* name, const char* long_name,
                        const AnalysisInput& input) {
  DelaySpectrumOptions options;
  options.delay.reach = input.options.reach;
  options.resamples = input.options.resamples;
  options.level = input.options.false_share;
  options.seed = input.options.seed;
  options.threads = input.threads;
  return delay_spectrum(spectra, name, long_name, options);
}

const AnalysisKind& delay_spectrum_analysis() {
  static const AnalysisKind kind{.name = "delay_spectrum",
                                 .finds = "the delay between queries and keys, to parts of a token",
                                 .step = Step::prediction,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<ScoreDelayAnalysis>};
  return kind;
}

}  // namespace headwave
