#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/bytes/bytes.h"
#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "finished.h"
#include "job_options.h"
#include "site.h"

namespace headwave {

class WaveListener;  // waves/wave_probe.h

/// What an analysis works on: one kind of attention of one job. All of it outlives the analysis.
struct AnalysisInput {
  const Model& model;
  const Document& first;  ///< of the documents
  const Site& site;
  const JobOptions& options;
  Index documents = 0;             ///< how many there are, of any length
  Index longest = 0;               ///< tokens of the longest
  int threads = 1;                 ///< for what is done once; change no digit
  const Source* source = nullptr;  ///< for what takes some documents through the model once more

  [[nodiscard]] const Stack& stack() const { return model.stack_of(site.kind); }
  /// Whether the model's positions, or that it has none, are known: of states stored without their model they are not.
  [[nodiscard]] bool knows_positions() const {
    const Embedding& embedding = stack().embedding;
    return first.stored.empty() || !embedding.words.empty() || !embedding.reads_words();
  }
};

/// What one document gave to one analysis.
class Finding {
 public:
  Finding() = default;
  Finding(const Finding&) = delete;
  Finding& operator=(const Finding&) = delete;
  virtual ~Finding() = default;
};

template <class Found>
class FindingOf : public Finding {
 public:
  explicit FindingOf(Found found) : value(std::move(found)) {}
  Found value;
};

/// What a block of documents came to in one analysis. It can be written down, and read again by the analysis, in another
/// process or on another machine of the same kind: a job that is resumed, divided or put together needs nothing else.
class BlockSum {
 public:
  BlockSum() = default;
  BlockSum(const BlockSum&) = delete;
  BlockSum& operator=(const BlockSum&) = delete;
  virtual ~BlockSum() = default;
  virtual void write(ByteWriter& bytes) const = 0;
};

template <class Sum>
class BlockSumOf : public BlockSum {
 public:
  explicit BlockSumOf(Sum sum) : value(std::move(sum)) {}
  void write(ByteWriter& bytes) const override { bytes.write(value); }
  Sum value;
};

/// Looks on while one document passes through the model.
class Look {
 public:
  Look() = default;
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  virtual ~Look() = default;
  /// What is to be shown hidden states, tiles of attention, values; null: nothing.
  virtual Probe* probe() { return nullptr; }
  /// What is to be shown redefined queries and keys; null: nothing. Only where the wave chain can be followed.
  virtual WaveListener* waves() { return nullptr; }
  /// What was found, once the document is through.
  virtual std::unique_ptr<Finding> taken() = 0;
};

/// One analysis in a job, of one kind of attention: it may prepare something from the weights, look on while each
/// document passes, add up what documents gave in their order, and makes Fields of it.
class Analysis {
 public:
  explicit Analysis(const AnalysisInput& input) : input_(input) {}
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;
  virtual ~Analysis() = default;

  /// Once, before the documents; analyses that this one reads have prepared themselves.
  virtual void prepare(Finished& /*finished*/) {}

  /// @param i  number of the document in the job, from 0. Called from several threads.
  /// @returns null: this document has nothing for the analysis
  [[nodiscard]] virtual std::unique_ptr<Look> look(const Document& /*document*/, Index /*i*/) const { return nullptr; }

  /// Adds what a document gave to a block of documents, in the order of documents: that order and where blocks end decide
  /// the last digits.
  /// @param block  of no documents yet: null
  virtual void add(std::unique_ptr<BlockSum>& /*block*/, Finding& /*finding*/) const {}
  /// Adds what a block came to, in the order of blocks.
  virtual void join(BlockSum& /*block*/) {}
  /// A block, as BlockSum::write() left it.
  /// @throws FormatError if it is none
  [[nodiscard]] virtual std::unique_ptr<BlockSum> read_block(ByteReader& bytes) const;

  /// What blocks until now came to, so that another process goes on with the next as this one would have.
  virtual void write_sum(ByteWriter& /*bytes*/) const {}
  /// @throws FormatError if the bytes are none
  virtual void read_sum(ByteReader& /*bytes*/) {}

  /// What was found, once all documents are in. Results that others read are kept in `finished`.
  [[nodiscard]] virtual std::vector<Field> finish(Finished& finished) = 0;

 protected:
  [[nodiscard]] const AnalysisInput& input() const { return input_; }
  [[nodiscard]] const JobOptions& options() const { return input_.options; }
  [[nodiscard]] const Site& site() const { return input_.site; }
  [[nodiscard]] const Stack& stack() const { return input_.stack(); }

 private:
  AnalysisInput input_;
};

/// An analysis of what documents give, a `Found` each, of which it keeps a `Sum`: of every block under way, and of the
/// blocks before.
template <class Found, class Sum>
class DocumentAnalysis : public Analysis {
 public:
  /// @param empty  the sum of no documents
  explicit DocumentAnalysis(
      const AnalysisInput& input, std::function<Sum()> empty = [] { return Sum(); })
      : Analysis(input), sum_(empty()), empty_(std::move(empty)) {}
  void add(std::unique_ptr<BlockSum>& block, Finding& finding) const final {
    if (!block) block = std::make_unique<BlockSumOf<Sum>>(empty_());
    add(sum_of(*block), std::move(static_cast<FindingOf<Found>&>(finding).value));
  }
  void join(BlockSum& block) final { join(sum_, std::move(sum_of(block))); }
  [[nodiscard]] std::unique_ptr<BlockSum> read_block(ByteReader& bytes) const final {
    auto block = std::make_unique<BlockSumOf<Sum>>(empty_());
    bytes.read(block->value);
    return block;
  }

  void write_sum(ByteWriter& bytes) const final { bytes.write(sum_); }
  void read_sum(ByteReader& bytes) final { bytes.read(sum_); }

 protected:
  virtual void add(Sum& sum, Found&& found) const = 0;
  /// Adds what the documents behind those of `sum` came to.
  virtual void join(Sum& sum, Sum&& next) const = 0;
  Sum sum_;

 private:
  static Sum& sum_of(BlockSum& block) { return static_cast<BlockSumOf<Sum>&>(block).value; }

  std::function<Sum()> empty_;
};

/// The look of an analysis whose Probe, or WaveListener, gives what it found by a member function.
template <class Looker, class Take>
class LookOf : public Look {
 public:
  LookOf(std::unique_ptr<Looker> looker, Take take) : looker_(std::move(looker)), take_(take) {}
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
  std::unique_ptr<Finding> taken() override {
    using Found = std::decay_t<decltype(((*looker_).*take_)())>;
    return std::make_unique<FindingOf<Found>>(((*looker_).*take_)());
  }

 private:
  std::unique_ptr<Looker> looker_;
  Take take_;
};

/// @param take  member function of the Looker that gives what it found, after the document
template <class Looker, class Take>
std::unique_ptr<Look> look_of(std::unique_ptr<Looker> looker, Take take) {
  return std::make_unique<LookOf<Looker, Take>>(std::move(looker), take);
}

}  // namespace headwave
