#include "job_estimate.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include <sys/resource.h>

#include "../../analysis/waves/phase_delay.h"
#include "../../core/numbers/error.h"
#include "../../core/numbers/threads.h"
#include "../../data/results/packed_size.h"
#include "job_stages.h"

namespace headwave {

namespace {

/// The first documents of another source.
class FirstDocuments : public Source {
 public:
  FirstDocuments(const Source& all, Index count) : all_(all), count_(count) {}
  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Document document(Index i) const override { return all_.document(i); }
  [[nodiscard]] Index length(Index i) const override { return all_.length(i); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  const Source& all_;
  Index count_;
};

/// Wall time of each stage, from what the job reports.
class StageTimes {
 public:
  /// @param first  documents whose share of the attention is wanted apart
  explicit StageTimes(Index first) : first_(first) {}

  void see(const JobProgress& now) {
    const Clock::time_point time = Clock::now();
    if (!stage_.empty()) seconds_[stage_] += std::chrono::duration<double>(time - last_).count();
    last_ = time;
    stage_ = now.stage;
    if (stage_ == "attention" && now.done == first_) first_seconds_ = seconds_["attention"];
  }

  [[nodiscard]] const std::map<std::string, double>& seconds() const { return seconds_; }
  [[nodiscard]] double first_seconds() const { return first_seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Index first_;
  Clock::time_point last_;
  std::string stage_;
  std::map<std::string, double> seconds_;
  double first_seconds_ = 0.0;
};

std::map<std::string, double> costs_by_name(const std::vector<StageCost>& stages) {
  std::map<std::string, double> costs;
  for (const StageCost& stage : stages) costs[stage.name] += stage.seconds;
  return costs;
}

double sum_from(const std::vector<double>& costs, Index first) {
  return std::accumulate(costs.begin() + std::min<std::ptrdiff_t>(first, std::ssize(costs)), costs.end(), 0.0);
}

/// (1) and (2) of the header.
double job_seconds(const Model& model, const Source& source, const Source& probe, const JobOptions& options,
                   int threads, const StageTimes& times, Index first) {
  const DocumentPass all(model, source, options, threads), few(model, probe, options, threads);
  std::map<std::string, double> whole = costs_by_name(job_stages(model, all, options, threads));
  std::map<std::string, double> part = costs_by_name(job_stages(model, few, options, threads));
  double seconds = 0.0;
  for (const auto& [stage, measured] : times.seconds()) {
    double begun = 0.0, more = part[stage] > 0 ? whole[stage] / part[stage] : 1.0;
    if (stage == "attention" && probe.count() > first) {
      begun = times.first_seconds();
      more =
          sum_from(document_costs(model, all, options), first) / sum_from(document_costs(model, few, options), first);
    }
    seconds += begun + (measured - begun) * more;
  }
  return seconds;
}

std::int64_t resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// Bytes that a Field takes in the file once its axes have the lengths that the whole job gives them.
double bytes_of(const Field& field, const JobEstimate& job, Index probe_longest) {
  const double entry =
      std::visit([](const auto& values) { return static_cast<double>(sizeof(*values.data())); }, field.values);
  double bytes = entry * packed_share(field) * static_cast<double>(field.size());
  for (const Axis& axis : field.axes) {
    if (axis.name == "document") bytes *= static_cast<double>(job.documents) / static_cast<double>(job.probed);
    if (axis.name == "offset")
      bytes *= static_cast<double>(2 * job.longest - 1) / static_cast<double>(2 * probe_longest - 1);
  }
  return bytes;
}

}  // namespace

JobEstimate estimate_job(const Model& model, const Source& source, const JobOptions& options) {
  if (source.count() < 1) throw ShapeError("estimate_job: the source has no documents; expected at least one");
  JobEstimate job;
  job.documents = source.count();
  job.shortest = job.longest = source.length(0);
  for (Index i = 0; i < job.documents; ++i) {
    job.shortest = std::min(job.shortest, source.length(i));
    job.longest = std::max(job.longest, source.length(i));
  }
  const int threads = thread_count(options.threads);
  const Index first = std::max<Index>(PhaseDelayOptions().null_documents, threads);
  job.probed = std::min<Index>(job.documents, first + threads);

  const FirstDocuments probe(source, job.probed);
  Index probe_longest = 0;
  for (Index i = 0; i < job.probed; ++i) probe_longest = std::max(probe_longest, source.length(i));
  StageTimes times(first);
  const std::vector<KindResult> results =
      run_job_by_kind(model, probe, options, [&](const JobProgress& now) { times.see(now); });

  const Field& offset = results.front().result.at("measured_offset/offset");
  job.layers = offset.axis("layer").size();
  job.heads = offset.axis("head").size();
  job.seconds = job_seconds(model, source, probe, options, threads, times, first);

  // Traces and weighted sums, and two cross-spectra, of every document.
  const auto rows = static_cast<double>(job.layers * job.heads);
  const double near = 8.0 * rows * static_cast<double>(2 * options.reach + 1);
  const double spectra = 2 * 16.0 * rows * static_cast<double>(job.longest / 2 + 1);
  job.memory_bytes =
      resident_bytes() + static_cast<std::int64_t>((4 * near + spectra) * static_cast<double>(job.documents));
  double bytes = 0.0;
  for (const KindResult& kind : results)
    for (const Field& field : kind.result.fields) {
      job.fields.push_back(field.name);
      bytes += bytes_of(field, job, probe_longest);
    }
  job.result_bytes = static_cast<std::int64_t>(bytes);
  return job;
}

}  // namespace headwave
