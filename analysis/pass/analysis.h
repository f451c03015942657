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

/// Input of an analysis of one kind of attention in a job. What it refers to must outlive the analysis.
struct AnalysisInput {
  const Model& model;
  const Document& first;
  const Site& site;
  const JobOptions& options;
  Index longest = 0;               ///< number of tokens of the longest document
  int threads = 1;                 ///< threads before and after the documents; results do not depend on it
  const Source* source = nullptr;  ///< documents for analyses that run the model again; null: they cannot

  [[nodiscard]] const Stack& stack() const { return model.stack_of(site.kind); }
  /// Whether it is known which positions the model has, if any. Stored states without a checkpoint hide this.
  [[nodiscard]] bool knows_positions() const { return first.stored.empty() || !stack().embedding.words.empty(); }
};

/// Results of the analyses of one site, kept for later analyses. A result is found by its type.
class Finished {
 public:
  template <class Result>
  const Result& keep(Result result) {
    auto kept = std::make_shared<const Result>(std::move(result));
    results_[typeid(Result)] = kept;
    return *kept;
  }

  /// @returns nullptr if no analysis has kept a result of this type
  template <class Result>
  [[nodiscard]] const Result* find() const {
    const auto found = results_.find(typeid(Result));
    return found == results_.end() ? nullptr : static_cast<const Result*>(found->second.get());
  }

  /// The result of an analysis that the caller lists in its AnalysisKind::reads.
  /// @throws ShapeError if no analysis has kept a result of this type
  template <class Result>
  [[nodiscard]] const Result& get() const {
    if (const Result* found = find<Result>()) return *found;
    throw_missing(typeid(Result).name());
  }

 private:
  [[noreturn]] static void throw_missing(const char* type);

  std::map<std::type_index, std::shared_ptr<const void>> results_;
};

/// Watches one document during its forward pass.
class Look {
 public:
  Look() = default;
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  virtual ~Look() = default;
  /// The probe that sees hidden states, tiles of attention and values; null if this Look needs none.
  virtual Probe* probe() { return nullptr; }
  /// The listener that sees redefined queries and keys, or null. Called only where there is a wave chain.
  virtual WaveListener* waves() { return nullptr; }
  /// The sum of this document. Called after the document has passed through the model.
  virtual std::unique_ptr<DocumentSum> taken() = 0;
};

/// Look made of a Probe or a WaveListener. The Looker's taken() returns the sum of one document.
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

/// Makes a LookOf from arguments of the Looker's constructor.
template <class Looker, class... Arguments>
std::unique_ptr<Look> look_of(Arguments&&... arguments) {
  return std::make_unique<LookOf<Looker>>(std::make_unique<Looker>(std::forward<Arguments>(arguments)...));
}

/// One analysis of one kind of attention in a job. It may first compute something from the model's weights.
/// Then it watches the forward passes of documents, and it describes the sum over documents as Fields.
class Analysis {
 public:
  explicit Analysis(const AnalysisInput& input) : input_(input) {}
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;
  virtual ~Analysis() = default;

  /// Called once, before the first document. The analyses that this one reads are prepared earlier.
  virtual void prepare(Finished& /*finished*/) {}

  /// Makes a Look at one document. Several threads may call this function at once.
  /// @param i  number of the document in the job, from 0
  /// @returns null if the analysis does not need this document
  [[nodiscard]] virtual std::unique_ptr<Look> look(const Document& /*document*/, Index /*i*/) const { return nullptr; }

  /// The sum over no documents.
  /// @throws FormatError if the analysis keeps no sums; a stored sum is then from another job
  [[nodiscard]] virtual std::unique_ptr<DocumentSum> no_documents() const;

  /// Adds the sum of one document to the sum of a block of documents. Called in the order of documents.
  /// @param block  null if the block has no documents yet
  void add(std::unique_ptr<DocumentSum>& block, DocumentSum& document) const;
  /// Adds the sum of a block to the sum of the job. Called in the order of blocks.
  void join(DocumentSum& block) { add(sum_, block); }
  /// Writes the sum of all blocks so far, so that another process can continue with the next block.
  void write_sum(ByteWriter& bytes) const;
  /// Reads what write_sum() wrote.
  /// @throws FormatError if the bytes are not a sum of this analysis
  void read_sum(ByteReader& bytes);

  /// Makes the Fields of the result, after all documents. Keeps results for other analyses in `finished`.
  [[nodiscard]] virtual std::vector<Field> finish(Finished& finished) = 0;

 protected:
  [[nodiscard]] const AnalysisInput& input() const { return input_; }
  [[nodiscard]] const JobOptions& options() const { return input_.options; }
  [[nodiscard]] const Site& site() const { return input_.site; }
  [[nodiscard]] const Stack& stack() const { return input_.stack(); }

  std::unique_ptr<DocumentSum> sum_;  ///< sum over all blocks so far; null: no documents yet

 private:
  AnalysisInput input_;
};

/// Base of analyses that keep one Sum over documents and compute their Fields from it.
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
  /// Makes the Fields of the result from the sum over all documents.
  [[nodiscard]] virtual std::vector<Field> finish_sum(Sum& sum, Finished& finished) = 0;
};

/// Makes an analysis of type Kind at every site; a value for AnalysisKind::make.
template <class Kind>
std::unique_ptr<Analysis> make_of(const AnalysisInput& input) {
  return std::make_unique<Kind>(input);
}

/// Static description of an analysis: all that is known before it runs.
struct AnalysisKind {
  std::string_view name = {};                   ///< name for users, for example "head_types"
  std::string_view asks = {};                   ///< the question that it answers, in one line
  bool projections = false;                     ///< runs only at sites that have queries, keys and scores
  bool equal_length = false;                    ///< looks only at documents of the most common length
  std::vector<const AnalysisKind*> reads = {};  ///< analyses whose results this one uses; they run first
  std::vector<const OwnOption*> options = {};   ///< options that are declared for this analysis
  bool chain = false;                           ///< runs only where the wave chain can be followed, see Site::no_chain
  bool of_sums = false;       ///< also runs on stored profiles, which contain only sums over documents
  bool one_sequence = false;  ///< does not run in cross-attention
  bool all_weights = false;   ///< has no result if weights are read layer by layer
  bool always = false;        ///< runs in every job, whichever analyses are chosen
  bool by_default = false;    ///< runs if no analyses are chosen; others must be chosen, or read by a chosen one
  /// Called only if applies() is true. @returns null if the analysis has nothing to do at this site
  std::unique_ptr<Analysis> (*make)(const AnalysisInput&) = nullptr;
};

/// Whether an analysis can run at a site: it suits the kind of attention, and all that it needs is known.
bool applies(const AnalysisKind& kind, const Site& site);

}  // namespace headwave
