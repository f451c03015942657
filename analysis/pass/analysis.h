#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "document_sum.h"
#include "job_options.h"
#include "site.h"

namespace headwave {

class WaveListener;  // waves/wave_chain.h

/// Input of an analysis: one kind of attention in one job. Everything referred to outlives the analysis.
struct AnalysisInput {
  const Model& model;
  const Document& first;
  const Site& site;
  const JobOptions& options;
  Index longest = 0;               ///< tokens of the longest document
  int threads = 1;                 ///< for work before and after the documents; results are identical
  const Source* source = nullptr;  ///< for analyses that run some documents through the model again

  [[nodiscard]] const Stack& stack() const { return model.stack_of(site.kind); }
  /// Whether it is known which positions the model has, or that it has none. Stored states alone do not tell.
  [[nodiscard]] bool knows_positions() const { return first.stored.empty() || !stack().embedding.words.empty(); }
};

/// Results of the analyses of one site, for analyses that read them. Results are found by their type.
class Finished {
 public:
  template <class Result>
  const Result& keep(Result result) {
    auto kept = std::make_shared<const Result>(std::move(result));
    results_[typeid(Result)] = kept;
    return *kept;
  }

  /// @returns nullptr if no analysis has kept one
  template <class Result>
  [[nodiscard]] const Result* find() const {
    const auto found = results_.find(typeid(Result));
    return found == results_.end() ? nullptr : static_cast<const Result*>(found->second.get());
  }

  /// The result of an analysis that the caller lists in its `reads`.
  /// @throws ShapeError if no analysis has kept one
  template <class Result>
  [[nodiscard]] const Result& get() const {
    if (const Result* found = find<Result>()) return *found;
    throw_missing(typeid(Result).name());
  }

 private:
  [[noreturn]] static void throw_missing(const char* type);

  std::map<std::type_index, std::shared_ptr<const void>> results_;
};

/// Watches one document on its way through the model.
class Look {
 public:
  Look() = default;
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  virtual ~Look() = default;
  /// Sees hidden states, tiles of attention, values; null: nothing.
  virtual Probe* probe() { return nullptr; }
  /// Sees redefined queries and keys; null: nothing. Called only if the wave chain can be followed.
  virtual WaveListener* waves() { return nullptr; }
  /// The sum of this document, after it has passed.
  virtual std::unique_ptr<DocumentSum> taken() = 0;
};

/// Look of a Probe or WaveListener whose taken() returns the sum of one document.
template <class Looker>
class LookOf : public Look {
 public:
  explicit LookOf(std::unique_ptr<Looker> looker) : looker_(std::move(looker)) {}
  Probe* probe() override {
    if constexpr (std::is_base_of_v<Probe, Looker>) return looker_.get();
    return nullptr;
  }
  WaveListener* waves() override {
    if constexpr (std::is_base_of_v<Probe, Looker>)
      return nullptr;
    else
      return looker_.get();
  }
  std::unique_ptr<DocumentSum> taken() override {
    return std::make_unique<DocumentSumOf<std::decay_t<decltype(looker_->taken())>>>(looker_->taken());
  }

 private:
  std::unique_ptr<Looker> looker_;
};

/// @param arguments  of the Looker's constructor
template <class Looker, class... Arguments>
std::unique_ptr<Look> look_of(Arguments&&... arguments) {
  return std::make_unique<LookOf<Looker>>(std::make_unique<Looker>(std::forward<Arguments>(arguments)...));
}

/// One analysis of one kind of attention in a job. It can prepare something from the weights, watches
/// documents pass, and describes the sum over documents as Fields.
class Analysis {
 public:
  explicit Analysis(const AnalysisInput& input) : input_(input) {}
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;
  virtual ~Analysis() = default;

  /// Called once before the documents, after the same call to the analyses that this one reads.
  virtual void prepare(Finished& /*finished*/) {}

  /// A Look at one document. Called from several threads.
  /// @param i  number of the document in the job, from 0
  /// @returns null if the analysis does not need this document
  [[nodiscard]] virtual std::unique_ptr<Look> look(const Document& /*document*/, Index /*i*/) const { return nullptr; }

  /// The sum of no documents.
  /// @throws FormatError if the analysis looks at no documents: stored bytes of its sum are from another job
  [[nodiscard]] virtual std::unique_ptr<DocumentSum> no_documents() const;

  /// Adds the sum of a document to that of a block. Called in the order of documents.
  /// @param block  null: no documents yet
  void add(std::unique_ptr<DocumentSum>& block, DocumentSum& document) const;
  /// Adds the sum of a block to the sum of the job. Called in the order of blocks.
  void join(DocumentSum& block) { add(sum_, block); }
  /// Writes the sum of all blocks so far, so that another process can go on with the next block.
  void write_sum(ByteWriter& bytes) const;
  /// @throws FormatError if the bytes are not those of such a sum
  void read_sum(ByteReader& bytes);

  /// Fields of the result, after all documents. Keeps results that other analyses read in `finished`.
  [[nodiscard]] virtual std::vector<Field> finish(Finished& finished) = 0;

 protected:
  [[nodiscard]] const AnalysisInput& input() const { return input_; }
  [[nodiscard]] const JobOptions& options() const { return input_.options; }
  [[nodiscard]] const Site& site() const { return input_.site; }
  [[nodiscard]] const Stack& stack() const { return input_.stack(); }

  std::unique_ptr<DocumentSum> sum_;  ///< null: no documents

 private:
  AnalysisInput input_;
};

/// Base of analyses that keep one Sum over documents and make their Fields from it.
template <class Sum>
class AnalysisOf : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::unique_ptr<DocumentSum> no_documents() const final {
    return std::make_unique<DocumentSumOf<Sum>>();
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) final {
    if (!sum_) sum_ = no_documents();
    return finish_sum(static_cast<DocumentSumOf<Sum>&>(*sum_).value, finished);
  }

 protected:
  /// @param sum  over all documents
  [[nodiscard]] virtual std::vector<Field> finish_sum(Sum& sum, Finished& finished) = 0;
};

/// Function for AnalysisKind::make that makes the analysis at every site.
template <class Kind>
std::unique_ptr<Analysis> make_of(const AnalysisInput& input) {
  return std::make_unique<Kind>(input);
}

/// Constant description of an analysis: what is known without running it.
struct AnalysisKind {
  std::string_view name = {};                   ///< for users: "head_types"
  std::string_view asks = {};                   ///< the question that it answers, in one line
  bool projections = false;                     ///< runs only where there are queries, keys and scores
  bool equal_length = false;                    ///< looks only at documents of the most common length
  std::vector<const AnalysisKind*> reads = {};  ///< analyses whose results it reads; they run before it
  std::vector<const OwnOption*> options = {};   ///< options that only this analysis reads
  bool chain = false;                           ///< runs only where the wave chain can be followed, see Site::no_chain
  bool of_sums = false;                         ///< also runs on stored profiles, from their sums over documents
  bool one_sequence = false;                    ///< does not run in cross-attention
  bool always = false;                          ///< runs whatever is asked for
  bool by_default = false;  ///< runs if nothing is asked for; others only if they are asked for or read
  /// Called only if applies(). @returns null if the analysis has nothing to do at this site
  std::unique_ptr<Analysis> (*make)(const AnalysisInput&) = nullptr;
};

/// Whether an analysis can run at a site: whether it suits the kind of attention and what it needs is there.
bool applies(const AnalysisKind& kind, const Site& site);

}  // namespace headwave
