#include "mean_keys.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../attention/probe.h"
#include "../process/threads.h"
#include "changed_model.h"
#include "model_pass.h"

namespace headwave {

namespace {

/// A key head of one layer.
struct KeyHead {
  Index layer, head;
  auto operator<=>(const KeyHead&) const = default;
};

using Keys = std::map<KeyHead, Matrix32>;

/// Keeps the keys of some heads of one document.
class KeyProbe : public Probe {
 public:
  /// @param keys  heads that are looked at; takes their (T, d_head)
  KeyProbe(AttentionKind kind, Index d_head, Keys& keys) : kind_(kind), d_head_(d_head), keys_(keys) {}

  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const LayerProjections& projections) override {
    if (projections.kind != kind_) return;
    for (auto& [head, keys] : keys_)
      if (head.layer == projections.layer) keys = projections.key.middleCols(head.head * d_head_, d_head_);
  }
  void see(const Tile& /*tile*/) override {}

 private:
  AttentionKind kind_;
  Index d_head_;
  Keys& keys_;
};

/// Keys of one head summed over documents, and how many documents reach a position.
struct KeySum {
  Matrix sum;
  Vector documents;

  void add(const Matrix32& keys) {
    if (const Index before = sum.rows(); keys.rows() > before) {
      sum.conservativeResize(keys.rows(), keys.cols());
      sum.bottomRows(keys.rows() - before).setZero();
      documents.conservativeResize(keys.rows());
      documents.tail(keys.rows() - before).setZero();
    }
    sum.topRows(keys.rows()) += keys.cast<double>();
    documents.head(keys.rows()).array() += 1;
  }
  [[nodiscard]] Matrix32 mean() const { return (sum.array().colwise() / documents.array()).cast<float>(); }
};

/// The key heads that these heads read.
Keys key_heads(const Stack& stack, const std::vector<HeadName>& heads) {
  const Index group = stack.block.heads / stack.block.kv_heads;
  Keys keys;
  for (const HeadName& head : heads) {
    require_head(stack, head, "mean_keys");
    const KeyHead read{head.layer, head.head / group};
    std::string all, others;
    for (Index sharing = read.head * group; sharing < (read.head + 1) * group; ++sharing) {
      const HeadName other{head.layer, sharing};
      const std::string name = head_name(other.layer, other.head);
      all += (all.empty() ? "" : ",") + name;
      if (std::find(heads.begin(), heads.end(), other) == heads.end()) others += (others.empty() ? "" : ", ") + name;
    }
    if (!others.empty())
      throw ShapeError(fmt::format("mean_keys: {} reads the same keys as {}; name all of them: {}",
                                   head_name(head.layer, head.head), others, all));
    keys[read] = {};
  }
  return keys;
}

}  // namespace

Model mean_keys(const Model& model, const Source& documents, const std::vector<HeadName>& heads,
                const MeanKeysOptions& options) {
  ChangedModel changed(model);
  const Stack& stack = changed.stack_of(options.kind);
  const Keys wanted = key_heads(stack, heads);
  if (documents.count() < 2)
    throw ShapeError("mean_keys: the mean over a single document is its own key; give two or more");
  const AttentionKind kind = model.decoder ? options.kind : model.kinds().front();
  std::map<KeyHead, KeySum> sums;
  parallel_in_order(documents.count(), thread_count(options.threads), [&](Index i) -> std::function<void()> {
    Keys keys = wanted;
    KeyProbe probe(kind, stack.block.d_head, keys);
    const std::array<Probe*, 1> probes{&probe};
    model_pass(model, documents.document(i), probes);
    return [&sums, keys = std::move(keys)] {
      for (const auto& [head, of_document] : keys)
        if (of_document.size() > 0) sums[head].add(of_document);
    };
  });
  for (const auto& [head, nothing] : wanted) {
    const auto found = sums.find(head);
    if (found == sums.end())
      throw ShapeError(fmt::format("mean_keys: no document has keys of layer {}; was it stored?", head.layer));
    changed.attention_of(options.kind, head.layer)
        .fixed_keys.push_back({head.head, changed.kept(found->second.mean())});
  }
  return changed.taken();
}

}  // namespace headwave
