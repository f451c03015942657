#include "job_estimate.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

#include "../../analysis/waves/phase_delay.h"
#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "../../data/results/packed_size.h"
#include "job_memory.h"
#include "job_stages.h"

namespace headwave {

namespace {

// Writing the result: what a Field takes beside its numbers, with its part of the axes, and to be packed, digested and
// read back. Measured once, as the rates of analyses are.
constexpr double bytes_a_field = 3600, seconds_a_field = 2e-3, seconds_a_byte = 4.5e-8;

/// Time by the wall, and of processors.
struct Seconds {
  double wall = 0, processor = 0;

  static Seconds now() {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
            static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
  }
  /// Of this thread alone.
  static Seconds of_thread() {
    timespec time{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {now().wall, static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)};
  }
  Seconds& operator+=(const Seconds& more) {
    wall += more.wall;
    processor += more.processor;
    return *this;
  }
  friend Seconds operator-(const Seconds& a, const Seconds& b) { return {a.wall - b.wall, a.processor - b.processor}; }
  friend Seconds operator*(const Seconds& a, double times) { return {a.wall * times, a.processor * times}; }
};

/// The first documents of another source, and what reading took: what several share is read with the first of them.
class FirstDocuments : public Source {
 public:
  FirstDocuments(const Source& all, Index count) : all_(all), count_(count) {}
  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Document document(Index i) const override {
    const Seconds began = Seconds::of_thread();
    Document document = all_.document(i);
    const Seconds took = Seconds::of_thread() - began;
    const std::lock_guard lock(mutex_);
    first_.try_emplace(i, took);
    last_[i] = took;
    return document;
  }
  [[nodiscard]] Index length(Index i) const override { return all_.length(i); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

  /// Of documents begin .. end - 1, the last time that they were read.
  [[nodiscard]] Seconds read_last(Index begin, Index end) const {
    Seconds sum;
    for (Index i = begin; i < end; ++i)
      if (const auto found = last_.find(i); found != last_.end()) sum += found->second;
    return sum;
  }
  /// Of a document in the mean, the first time: after some more of them, read for so many seconds at most.
  [[nodiscard]] Seconds read_first(double seconds) const {
    constexpr Index enough = 64;
    const double until = Seconds::now().wall + seconds;
    for (Index i = count_; i < std::min(enough, all_.count()) && Seconds::now().wall < until; ++i) (void)document(i);
    Seconds sum;
    for (const auto& [i, took] : first_) sum += took;
    return sum * (1.0 / static_cast<double>(std::max<std::size_t>(1, first_.size())));
  }

 private:
  const Source& all_;
  Index count_;
  mutable std::mutex mutex_;
  mutable std::map<Index, Seconds> first_, last_;
};

/// Time of each stage, from what the job reports.
class StageTimes {
 public:
  /// @param first  documents whose share of the attention is wanted apart
  explicit StageTimes(Index first) : first_(first) {}

  void see(const JobProgress& now) {
    const Seconds time = Seconds::now();
    if (!stage_.empty()) seconds_[stage_] += time - last_;
    last_ = time;
    stage_ = now.stage;
    if (stage_ == "attention" && now.done == first_) first_seconds_ = seconds_["attention"];
  }

  [[nodiscard]] const std::map<std::string, Seconds>& seconds() const { return seconds_; }
  [[nodiscard]] Seconds first_seconds() const { return first_seconds_; }

 private:
  Index first_;
  Seconds last_;
  std::string stage_;
  std::map<std::string, Seconds> seconds_;
  Seconds first_seconds_;
};

std::map<std::string, double> costs_by_name(const std::vector<StageCost>& stages) {
  std::map<std::string, double> costs;
  for (const StageCost& stage : stages) costs[stage.name] += stage.seconds;
  return costs;
}

double sum_from(const std::vector<double>& costs, Index first) {
  return std::accumulate(costs.begin() + std::min<std::ptrdiff_t>(first, std::ssize(costs)), costs.end(), 0.0);
}

/// (1) to (3) of the header.
Seconds job_seconds(const Model& model, const Source& source, const FirstDocuments& probe, const JobOptions& options,
                    int threads, const StageTimes& times, Index first) {
  const DocumentPass all(model, source, options, threads), few(model, probe, options, threads);
  std::map<std::string, double> whole = costs_by_name(job_stages(model, all, options, threads));
  std::map<std::string, double> part = costs_by_name(job_stages(model, few, options, threads));
  // Reading, which threads share.
  const auto shared = [&](Seconds reading) { return Seconds{reading.wall / threads, reading.processor}; };
  const Seconds read_begun = shared(probe.read_last(0, first)), read = shared(probe.read_last(0, probe.count()));
  Seconds seconds, probed;
  for (const auto& [stage, measured] : times.seconds()) {
    Seconds begun, taken = measured;
    double more = part[stage] > 0 ? whole[stage] / part[stage] : 1.0;
    if (stage == "attention") {
      taken = taken - read;
      // (Documents side by side end together: those after the first say nothing by themselves.)
      if (probe.count() > first && !model.by_layer()) {
        begun = times.first_seconds() - read_begun;
        more =
            sum_from(document_costs(model, all, options), first) / sum_from(document_costs(model, few, options), first);
      }
    }
    probed += measured;
    seconds += begun;
    seconds += (taken - begun) * more;
  }
  constexpr double share_for_reading = 0.2, usual = 0.5;
  seconds +=
      shared(probe.read_first(std::max(usual, share_for_reading * probed.wall))) * static_cast<double>(source.count());
  return seconds;
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
  job.threads = thread_count(options.threads);
  const Index first = std::max<Index>(PhaseDelayOptions().null_documents, job.threads);
  job.probed = std::min<Index>(job.documents, first + job.threads);

  const FirstDocuments probe(source, job.probed);
  Index probe_longest = 0;
  for (Index i = 0; i < job.probed; ++i) probe_longest = std::max(probe_longest, source.length(i));
  StageTimes times(first);
  (void)probe.document(0);  // before anybody else reads it, so that what that takes is seen
  const JobMemory memory = job_memory(model, source, with_together(model, source, options, job.threads));
  job.probe = run_job_by_kind(model, probe, options, [&](const JobProgress& now) { times.see(now); });

  const Field& offset = job.probe.front().result.at("measured_offset/offset");
  job.layers = offset.axis("layer").size();
  job.heads = offset.axis("head").size();
  const Seconds seconds = job_seconds(model, source, probe, options, job.threads, times, first);
  job.memory_bytes = std::max(memory.bytes(job.threads), most_resident_bytes());
  job.kept_bytes = memory.unfinished_bytes();
  double fields = 0.0, bytes = 0.0;
  for (const KindResult& kind : job.probe)
    for (const Field& field : kind.result.fields) {
      ++fields;
      bytes += bytes_a_field + bytes_of(field, job, probe_longest);
    }
  job.result_bytes = static_cast<std::int64_t>(std::min(bytes, 1e18));
  const double writing = fields * seconds_a_field + bytes * seconds_a_byte;
  job.seconds = seconds.wall + writing;
  job.processor_seconds = seconds.processor + writing;
  return job;
}

}  // namespace headwave
