#pragma once

// Documents of one head whose queries and keys are built from known parts: waves, words, noise.

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "../../analysis/why/head_account.h"
#include "../../core/attention/attend.h"
#include "../../core/numbers/random.h"

namespace headwave {

struct DrawnHead {
  Index length = 96, reach = 24;
  bool causal = false;
  Index queries = 0;               ///< of cross-attention: the first of `length` places ask; 0: one sequence
  std::vector<double> amplitudes;  ///< of up to 8 waves with 5, 6, 7, ... periods in the positions
  double offset = 0;               ///< where these waves point, tokens
  double random_positions = 0;     ///< deviation of scores between positions without order; 0: none
  double self = 0;                 ///< score of a query with a key that holds the same word
  double next = 0;   ///< score of a query with a key that holds the word that the table puts after its own
  double noise = 0;  ///< deviation of scores between contents drawn anew for every token
  double sink = 0;   ///< score of every query with the first key
  Index words = 24;
  double followed = 0.8;  ///< share of tokens after which the word of the table stands
};

/// Queries and keys of one document, (T, width) each: score = query . key.
struct DrawnQueriesKeys {
  Matrix32 query, key;
};

class DrawnDocuments {
  static constexpr Index waves = 16;  ///< channels for them: 8 waves at most

 public:
  DrawnDocuments(const DrawnHead& head, const Random& random) : head_(head), random_(random) {
    Random own = random.stream(0);
    width_ = waves + 2 * head.words + 17;
    query_ = key_ = Matrix32::Zero(head.length, width_);
    for (Index n = 0; n < head.length; ++n)
      for (Index m = 0; m < std::ssize(head.amplitudes); ++m) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(5 + m) / static_cast<double>(head.length);
        const double a = head.amplitudes[static_cast<std::size_t>(m)];
        const double at = turn * static_cast<double>(n), to = turn * (static_cast<double>(n) - head.offset);
        query_(n, 2 * m) = static_cast<float>(a * std::cos(at));
        query_(n, 2 * m + 1) = static_cast<float>(a * std::sin(at));
        key_(n, 2 * m) = static_cast<float>(std::cos(to));
        key_(n, 2 * m + 1) = static_cast<float>(std::sin(to));
      }
    const Index places = waves + 2 * head.words;  // 8 channels of random positions, 8 of noise, 1 of the sink
    for (Index n = 0; n < head.length; ++n) {
      for (Index c = 0; c < 8; ++c) {
        query_(n, places + c) = static_cast<float>(head.random_positions * own.normal() / std::sqrt(8.0));
        key_(n, places + c) = static_cast<float>(own.normal());
      }
      query_(n, width_ - 1) = 1;
    }
    key_(0, width_ - 1) = static_cast<float>(head.sink);
  }

  [[nodiscard]] DrawnQueriesKeys document(Index number) const {
    Random own = random_.stream(1 + static_cast<std::uint64_t>(number));
    DrawnQueriesKeys drawn{query_, key_};
    const Index noise = width_ - 9;
    Index word = own.below(head_.words);
    for (Index n = 0; n < head_.length; ++n) {
      if (n > 0) word = own.uniform() < head_.followed ? next(word) : own.below(head_.words);
      drawn.query(n, waves + word) = static_cast<float>(head_.self);
      drawn.key(n, waves + word) = 1;
      drawn.query(n, waves + head_.words + next(word)) = static_cast<float>(head_.next);
      drawn.key(n, waves + head_.words + word) = 1;
      for (Index c = 0; c < 8; ++c) {
        drawn.query(n, noise + c) = static_cast<float>(head_.noise * own.normal() / std::sqrt(8.0));
        drawn.key(n, noise + c) = static_cast<float>(own.normal());
      }
    }
    return drawn;
  }

  [[nodiscard]] Index width() const { return width_; }

 private:
  /// The word that the table puts after a word. All heads have the same table, so that they can be compared.
  [[nodiscard]] Index next(Index word) const { return (word + 1) % head_.words; }

  DrawnHead head_;
  Random random_;
  Index width_ = 0;
  Matrix32 query_, key_;  ///< the same in every document
};

/// A stack of one head a layer whose scores are products of queries and keys as they are.
inline Stack drawn_stack(Index width, bool causal) {
  Stack stack;
  stack.block.heads = stack.block.kv_heads = 1;
  stack.block.d_head = width;
  stack.block.causal = causal;
  return stack;
}

/// What a job would sum up of these documents: every head is the only one of its layer, and all are of one shape.
struct DrawnJob {
  Stack stack;
  AccountSite site;
  AccountSums sums;

  DrawnJob(const std::vector<DrawnHead>& heads, Index documents, Random random, Index dealt_tokens = Index{1} << 24) {
    std::vector<DrawnDocuments> drawn;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      drawn.emplace_back(heads[h], random.stream(h));
      site.grid.layers.push_back(static_cast<Index>(h));
    }
    const DrawnHead& first = heads.front();
    stack = drawn_stack(drawn.front().width(), first.causal);
    site.grid.heads = 1;
    site.kind = first.queries > 0 ? AttentionKind::cross : first.causal ? AttentionKind::causal : AttentionKind::self;
    site.length = first.queries > 0 ? first.queries : first.length;
    site.key_length = first.length;
    site.reach = first.reach;
    for (Index number = 0; number < documents; ++number) {
      AccountProbe probe(site_here(), number, {}, is_dealt(number, documents, first.length, dealt_tokens));
      for (std::size_t h = 0; h < heads.size(); ++h) {
        const DrawnQueriesKeys one = drawn[h].document(number);
        const HeadInputs<float> inputs{one.query.topRows(site.length), one.key, {}, 1, 1, 1.0};
        std::array<Probe*, 1> probes{&probe};
        attend<float>(inputs, {first.causal, {}, 0}, {static_cast<Index>(h), site.kind}, probes);
      }
      add_to(sums, probe.taken());
    }
  }

  [[nodiscard]] AccountSite site_here() const {
    AccountSite here = site;
    here.stack = &stack;
    return here;
  }
  [[nodiscard]] HeadAccount account(const HeadAccountOptions& options = {}) const {
    return head_account(sums, site_here(), options);
  }
};

}  // namespace headwave
