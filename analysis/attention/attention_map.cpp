#include "attention_map.h"

#include <algorithm>
#include <utility>

#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"

namespace headwave {

std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document) {
  const Index length = tokens.ids.empty() ? document.length() : static_cast<Index>(tokens.ids.size());
  std::vector<std::string> labels = tokens.tokens;
  labels.resize(static_cast<std::size_t>(length));
  for (std::size_t i = tokens.tokens.size(); i < labels.size(); ++i)
    labels[i] = i < tokens.ids.size() ? std::to_string(tokens.ids[i]) : std::to_string(i);
  return labels;
}

namespace {

/// Attention maps of one document: all heads' weights in a window, and the largest and the mean weight of
/// tiles that cover the document. In the mean alone a diagonal one token wide would fade. A row of the window
/// sums to less than 1 if attention also goes outside.
struct AttentionMaps {
  Index first = 0;              ///< position of the window's first token, the same for queries and keys
  std::vector<Matrix> weights;  ///< one per head, (n', n) of the window: rows are queries, columns keys; float values
  Index query_tile = 1;         ///< tokens of a tile; the last one may have fewer
  Index key_tile = 1;
  std::vector<Matrix> largest;          ///< one per head, (query tiles, key tiles); empty if the window is the document
  std::vector<Matrix> mean;             ///< mean weight over all pairs of a tile, masked pairs included
  std::vector<std::string> tokens;      ///< (T') text of the queries
  std::vector<std::string> key_tokens;  ///< (T) text of the keys; another text only in cross-attention
  std::vector<std::uint8_t> special;    ///< (T') 1: a special token; empty: unknown
  std::vector<std::uint8_t> key_special;  ///< (T)
  std::string document;
};

constexpr Index window_tokens = 64;
constexpr Index most_tiles = 64;  // along a side

Index whole_tiles(Index tokens, Index tile) {
  return (tokens + tile - 1) / tile;
}

/// First tokens of the candidate windows: evenly spaced, at most eight; in cross-attention one.
std::vector<Index> begins_of(AttentionKind kind, Index length) {
  constexpr Index most = 8;
  const Index last = std::max<Index>(length - window_tokens, 0);
  const Index count = kind == AttentionKind::cross ? 1 : std::min(most, whole_tiles(length, window_tokens));
  std::vector<Index> begins{0};
  for (Index i = 1; i < count; ++i) begins.push_back(i * last / (count - 1));
  return begins;
}

/// Means along the diagonals of a square, t = key - query = 1 - n .. n - 1.
Vector diagonal_means(const Matrix32& weights) {
  const Index n = weights.rows();
  Vector means(2 * n - 1);
  for (Index t = 1 - n; t < n; ++t) means[t + n - 1] = weights.diagonal(t).cast<double>().mean();
  return means;
}

/// Number of the window that is most like the whole document: its mean weights by offset differ least from
/// the document's, summed over |t| <= n / 2 and all heads. Ties go to the first.
/// @param windows   per window and head, (n, n): rows are queries, columns keys
/// @param document  per head, (2 n - 1): mean weight over the document's pairs at t = 1 - n .. n - 1
std::size_t typical_of(const std::vector<std::vector<Matrix32>>& windows, const std::vector<Vector>& document) {
  std::size_t least = 0;
  double least_difference = 0;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    double difference = 0;
    for (std::size_t head = 0; head < document.size(); ++head) {
      const Index n = windows[w][head].rows(), half = n / 2;
      difference +=
          (diagonal_means(windows[w][head]) - document[head]).segment(n - 1 - half, 2 * half + 1).cwiseAbs().sum();
    }
    if (w == 0 || difference < least_difference) {
      least = w;
      least_difference = difference;
    }
  }
  return least;
}

class AttentionMapProbe : public Probe {
 public:
  AttentionMapProbe(const Site& site, const Document& document) : kind_(site.kind), grid_(site.grid) {
    maps_.document = document.name;
    maps_.tokens = token_labels(document.query_tokens(kind_), document);
    maps_.key_tokens = token_labels(document.key_tokens(kind_), document);
    maps_.special = document.query_tokens(kind_).special;
    maps_.key_special = document.key_tokens(kind_).special;
    queries_ = std::ssize(maps_.tokens);
    keys_ = std::ssize(maps_.key_tokens);
    const Index rows = std::min(window_tokens, queries_), columns = std::min(window_tokens, keys_);
    const auto heads = static_cast<std::size_t>(grid_.rows());
    begins_ = begins_of(kind_, queries_);
    windows_.assign(begins_.size(), std::vector<Matrix32>(heads, Matrix32::Zero(rows, columns)));
    if (begins_.size() > 1) profile_.assign(heads, Vector::Zero(2 * rows - 1));
    if (rows == queries_ && columns == keys_) return;
    maps_.query_tile = whole_tiles(queries_, most_tiles);
    maps_.key_tile = whole_tiles(keys_, most_tiles);
    maps_.largest.assign(heads,
                         Matrix::Zero(whole_tiles(queries_, maps_.query_tile), whole_tiles(keys_, maps_.key_tile)));
    maps_.mean = maps_.largest;
  }

  using Probe::see;
  void see(const Tile& tile) override {
    if (tile.kind != kind_) return;
    for (Index head = 0; head < tile.heads(); ++head) {
      const auto map = static_cast<std::size_t>(grid_.first_row(tile.layer) + head);
      const MatrixView32& seen = tile.weights[static_cast<std::size_t>(head)];
      for (std::size_t w = 0; w < begins_.size(); ++w) {
        Matrix32& weights = windows_[w][map];
        const Index first = std::max(tile.first_row, begins_[w]);
        const Index rows = std::min(tile.first_row + tile.rows(), begins_[w] + weights.rows()) - first;
        if (rows > 0)
          weights.middleRows(first - begins_[w], rows) =
              seen.block(first - tile.first_row, begins_[w], rows, weights.cols());
      }
      for (Index row = 0; row < tile.rows(); ++row) {
        if (!maps_.largest.empty()) pool(map, tile.first_row + row, seen.row(row));
        if (!profile_.empty()) add_to_profile(map, tile.first_row + row, seen.row(row));
      }
    }
  }

  [[nodiscard]] First<AttentionMaps> taken() {
    std::size_t shown = 0;
    if (!profile_.empty()) {
      for (Vector& mean : profile_)
        for (Index i = 0, reach = mean.size() / 2; i < mean.size(); ++i)
          mean[i] /= static_cast<double>(queries_ - std::abs(i - reach));
      shown = typical_of(windows_, profile_);
    }
    maps_.first = begins_[shown];
    for (const Matrix32& weights : windows_[shown]) maps_.weights.push_back(weights.cast<double>());
    for (Matrix& mean : maps_.mean)
      for (Index i = 0; i < mean.rows(); ++i)
        for (Index j = 0; j < mean.cols(); ++j) {
          const Index pairs = std::min(maps_.query_tile, queries_ - i * maps_.query_tile) *
                              std::min(maps_.key_tile, keys_ - j * maps_.key_tile);
          mean(i, j) = static_cast<float>(mean(i, j) / static_cast<double>(pairs));  // a float compresses better
        }
    return {std::move(maps_)};
  }

 private:
  using Row = Eigen::Ref<const Eigen::RowVectorXf>;

  void add_to_profile(std::size_t map, Index query, const Row& seen) {
    Vector& sums = profile_[map];
    const Index reach = sums.size() / 2, first = std::max<Index>(query - reach, 0);
    const Index count = std::min(query + reach + 1, seen.size()) - first;
    if (count > 0) sums.segment(first - query + reach, count) += seen.segment(first, count).cast<double>().transpose();
  }

  void pool(std::size_t map, Index query, const Row& seen) {
    const Index at = query / maps_.query_tile;
    for (Index key = 0; key < maps_.mean[map].cols(); ++key) {
      const Index first = key * maps_.key_tile, count = std::min(maps_.key_tile, seen.size() - first);
      if (count <= 0) break;
      const auto part = seen.segment(first, count);
      double& largest = maps_.largest[map](at, key);
      largest = std::max(largest, static_cast<double>(part.maxCoeff()));
      maps_.mean[map](at, key) += part.cast<double>().sum();
    }
  }

  AttentionKind kind_;
  HeadGrid grid_;
  Index queries_ = 0, keys_ = 0;
  AttentionMaps maps_;                          // its means are sums until taken()
  std::vector<Index> begins_;                   // first tokens of the candidate windows
  std::vector<std::vector<Matrix32>> windows_;  // per candidate and head
  std::vector<Vector> profile_;                 // per head, sums by offset; empty if there is one window
};

/// Tokens of the queries or of the keys: of the window, and with tiles of the whole document.
struct Side {
  std::string prefix;  ///< of Field names: "", "key_"
  std::string one;     ///< "query", "key"
  const std::vector<std::string>& tokens;
  const std::vector<std::uint8_t>& special;
  Index first, shown;  ///< the window

  [[nodiscard]] Axis axis(const std::string& name, Index from, Index count) const {
    return counting_axis(name + one, "token", one + " position", from, from + count - 1);
  }
  [[nodiscard]] Axis window() const { return axis("", first, shown); }
  /// Coordinates are positions of the tiles' first tokens.
  [[nodiscard]] Axis tiles(Index count, Index tile) const {
    std::vector<std::int64_t> begins;
    for (Index i = 0; i < count; ++i) begins.push_back(i * tile);
    return {one + "_tile", "token", one + " position where the tile begins", std::move(begins)};
  }

  void add_tokens(Fields& fields, bool all) const {
    const std::vector<std::string> meanings{"ordinary", "special"};
    const std::string text = "text of the " + one, is_special = "whether the " + one + " is [CLS], </s> or the like";
    const auto part = [&](const auto& whole) {
      return std::vector(whole.begin() + first, whole.begin() + first + shown);
    };
    fields.add(prefix + "token", {window()}, "1", text, part(tokens));
    if (!special.empty()) fields.flags(prefix + "special", {window()}, is_special, part(special), meanings);
    if (!all) return;
    const Axis document = axis("document_", 0, std::ssize(tokens));
    fields.add("document_" + prefix + "token", {document}, "1", text, tokens);
    if (!special.empty()) fields.flags("document_" + prefix + "special", {document}, is_special, special, meanings);
  }
};

struct AttentionMapAnalysis : AnalysisOf<First<AttentionMaps>> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index i) const override {
    return i == options()[map_document_option] ? look_of<AttentionMapProbe>(site(), document) : nullptr;
  }
  [[nodiscard]] std::vector<Field> finish_sum(First<AttentionMaps>& sum, Finished& /*finished*/) override {
    const AttentionMaps maps = sum.value.value_or(AttentionMaps{});
    const Matrix window = maps.weights.empty() ? Matrix() : maps.weights.front();
    const Side queries{"", "query", maps.tokens, maps.special, maps.first, window.rows()};
    const Side keys{"key_", "key", maps.key_tokens, maps.key_special, maps.first, window.cols()};
    const bool tiled = !maps.largest.empty();
    const Axis head =
        head_name_axis("map_head", "head", maps.weights.empty() ? std::vector<HeadName>() : heads_of(site().grid));
    Fields fields("attention_map");
    fields.add("weight", {head, queries.window(), keys.window()}, "1",
               "attention weight of a query token on a key token", maps.weights);
    queries.add_tokens(fields, tiled);
    keys.add_tokens(fields, tiled);
    if (tiled) {
      const std::vector<Axis> tiles{head, queries.tiles(maps.largest.front().rows(), maps.query_tile),
                                    keys.tiles(maps.largest.front().cols(), maps.key_tile)};
      fields.add("largest", tiles, "1", "largest weight in a tile of the document", maps.largest);
      fields.add("mean", tiles, "1", "mean weight in a tile of the document", maps.mean);
      fields.note_all("query_tile", maps.query_tile).note_all("key_tile", maps.key_tile);
    }
    fields.note_all("document", maps.document);
    return fields.taken();
  }
};

}  // namespace

extern const AnalysisKind attention_map_analysis{
    .name = "attention_map",
    .asks = "What does attention look like, weight by weight, in one document?",
    .options = {&map_document_option},
    .by_default = true,
    .make = make_of<AttentionMapAnalysis>};

}  // namespace headwave
