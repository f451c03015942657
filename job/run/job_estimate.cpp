#include "job_estimate.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include "../../analysis/attention/attention_map.h"
#include "../../core/process/threads.h"
#include "document_pass.h"
#include "memory_limit.h"

namespace headwave {

namespace {

/// Some documents of another source.
class SomeDocuments : public Source {
 public:
  SomeDocuments(const Source& all, const std::set<Index>& chosen) : all_(all), chosen_(chosen.begin(), chosen.end()) {}
  [[nodiscard]] Index count() const override { return std::ssize(chosen_); }
  [[nodiscard]] Document document(Index i) const override { return all_.document(place_of(i)); }
  [[nodiscard]] Index length(Index i) const override { return all_.length(place_of(i)); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  [[nodiscard]] Index place_of(Index i) const { return chosen_[static_cast<std::size_t>(i)]; }

  const Source& all_;
  std::vector<Index> chosen_;
};

/// About so many documents, spread evenly, the longest and the one whose attention maps are kept among them.
std::set<Index> chosen_documents(const Source& source, Index count, Index map_document) {
  const Index all = source.count();
  std::set<Index> chosen{map_document};
  for (Index i = 0; i < std::min(count, all); ++i) chosen.insert(i * all / std::min(count, all));
  Index longest = 0;
  for (Index i = 0; i < all; ++i)
    if (source.length(i) > source.length(longest)) longest = i;
  if (source.length(longest) > source.length(*chosen.begin())) chosen.insert(longest);
  return chosen;
}

struct Trial {
  double documents = 0, seconds = 0, processor_seconds = 0;
  double sums = 0, result = 0;           // bytes
  double memory = 0, memory_at_end = 0;  // bytes at most; the same once half of the documents were through
  std::vector<KindResult> results;
};

double wall_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_time() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double bytes_of_sums(const DocumentPass& pass) {
  double bytes = 0;
  ByteWriter counting([&](std::string_view piece) { bytes += static_cast<double>(piece.size()); });
  pass.write_sums(counting);
  counting.flush();
  return bytes;
}

Trial trial_of(const Model& model, const Source& source, JobOptions options, Index count,
               const std::function<std::int64_t(const std::vector<KindResult>&)>& written) {
  const std::set<Index> chosen = chosen_documents(source, count, options[map_document_option]);
  options[map_document_option] = std::distance(chosen.begin(), chosen.find(options[map_document_option]));
  const SomeDocuments some(source, chosen);
  Trial trial;
  trial.documents = static_cast<double>(some.count());
  const double began = wall_time(), processor_began = processor_time();
  MemoryWatch memory;
  bool half = false;
  const auto progress = [&](const JobProgress& now) {
    if (half || now.stage != "attention" || 2 * now.done < now.total) return;
    half = true;
    trial.memory = static_cast<double>(memory.most());
  };
  trial.results = run_job_by_kind(model, some, options, progress, [&](DocumentPass& pass, StageReport& report) {
    pass.run(report);
    trial.sums = bytes_of_sums(pass);
  });
  trial.result = static_cast<double>(written(trial.results));
  trial.memory_at_end = static_cast<double>(memory.most());
  trial.memory = std::max(trial.memory, trial.memory_at_end);
  trial.seconds = wall_time() - began;
  trial.processor_seconds = processor_time() - processor_began;
  return trial;
}

/// What a quantity grows by from the last trial to all documents: (1) of the header without y(m).
double growth(double Trial::*quantity, const Trial& before, const Trial& last, double documents) {
  const double more = documents - last.documents, between = last.documents - before.documents;
  if (more <= 0) return 0;
  return more * std::clamp((last.*quantity - before.*quantity) / between, 0.0, last.*quantity / last.documents);
}

std::int64_t whole_bytes(double bytes) {
  return static_cast<std::int64_t>(std::min(bytes, 1e18));  // and sums of a few are numbers still
}

}  // namespace

JobEstimate estimate_job(const Model& model, const Source& source, const JobOptions& options,
                         const std::function<std::int64_t(const std::vector<KindResult>&)>& written, double enough) {
  if (source.count() < 1) throw ShapeError("estimate_job: the source has no documents; expected at least one");
  JobEstimate job;
  job.documents = source.count();
  job.shortest = job.longest = source.length(0);
  for (Index i = 0; i < job.documents; ++i) {
    job.shortest = std::min(job.shortest, source.length(i));
    job.longest = std::max(job.longest, source.length(i));
  }
  job.threads = thread_count(options.threads);
  const auto all = static_cast<double>(job.documents);

  Index count = std::max<Index>(2, job.threads);
  Trial before, last = trial_of(model, source, options, count, written);
  const auto is_enough = [&] {
    // With fewer documents nothing is resampled, and the time that takes would be missing.
    constexpr double resampled = 8, patience = 10;
    return last.seconds >= (last.documents < resampled ? patience : 1) * enough && before.documents > 0;
  };
  while (last.documents < all && !is_enough()) {
    before = std::move(last);
    count *= 2;
    last = trial_of(model, source, options, count, written);
  }

  job.tried = static_cast<Index>(last.documents);
  job.seconds = last.seconds + growth(&Trial::seconds, before, last, all);
  job.processor_seconds = last.processor_seconds + growth(&Trial::processor_seconds, before, last, all);
  const double sums = growth(&Trial::sums, before, last, all);
  job.memory_bytes = whole_bytes(std::max(last.memory, last.memory_at_end + sums));
  job.result_bytes = whole_bytes(last.result + growth(&Trial::result, before, last, all));
  job.unfinished_bytes = whole_bytes(last.sums + sums);
  const Field& offset = last.results.front().result.at("measured_offset/offset");
  job.layers = offset.axis("layer").size();
  job.heads = offset.axis("head").size();
  job.trial = std::move(last.results);
  return job;
}

}  // namespace headwave
