#include <algorithm>
#include <memory>
#include <utility>

#include "../../core/fields/fields.h"
#include "head_account.h"

namespace headwave {

namespace {

constexpr Index account_groups = 8;  ///< of documents: each is kept apart, for the intervals

/// Documents by turns in groups that can be left out: each group is like the whole.
struct AccountGroups {
  std::vector<AccountSums> groups;
  Index documents = 0;

  /// @param of  so many documents
  explicit AccountGroups(Index of) : groups(static_cast<std::size_t>(std::min(account_groups, of))) {}
  AccountSums& turn(std::size_t number) {
    return groups[(static_cast<std::size_t>(documents) + number) % groups.size()];
  }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.groups, self.documents);
  }
};

/// Even groups and odd ones.
std::array<AccountSums, 2> halves_of(std::vector<AccountSums>&& groups) {
  std::array<AccountSums, 2> halves;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g < 2)
      halves[g] = std::move(groups[g]);
    else
      halves[g % 2] += groups[g];
    groups[g] = {};
  }
  return halves;
}

/// Whether nothing tells places apart: no table, or one that is the same in every row, and no term.
bool has_no_positions(const Stack& stack) {
  const MatrixView32& table = stack.embedding.positions;
  for (Index row = 1; row < table.rows(); ++row)
    if (table.row(row) != table.row(0)) return false;
  return stack.position_term == nullptr && stack.others.position_term == nullptr;
}

class HeadAccountAnalysis : public DocumentAnalysis<AccountSums, AccountGroups> {
 public:
  explicit HeadAccountAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [documents = input.site.documents] { return AccountGroups(documents); }) {
    const BlockSpec& block = input.stack().block;
    site_.grid = input.site.grid;
    site_.kind = input.site.kind;
    site_.length = input.site.length;
    site_.reach = std::min(input.options.reach, (site_.length - 1) / 2);  // as measured_offset() searches
    site_.kv_heads = block.kv_heads;
    site_.window = block.window;
    site_.score_scale = block.score_scale;
    site_.soft_cap = block.soft_cap;
    const auto added = [](const PositionTerm* term) {
      return term != nullptr && term->use() == PositionUse::added ? term : nullptr;
    };
    site_.added = added(input.stack().position_term.get());
    site_.no_positions = input.knows_positions() && has_no_positions(input.stack());
    const OtherLayers& others = input.stack().others;
    site_.others = others.layers;
    site_.other_window = others.window;
    site_.other_added = added(others.position_term.get());
  }

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of(std::make_unique<AccountProbe>(site().grid, site_.length, site_.reach, site_.kind),
                   &AccountProbe::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    HeadAccountOptions how;
    how.false_share = options().false_share;
    how.draws = options().draws;
    how.seed = options().seed;
    how.threads = input().threads;
    std::vector<Field> fields = describe(finished.keep(head_account(sum_.groups, site_, how)));
    finished.keep(AccountHalves{site_, halves_of(std::move(sum_.groups))});
    return fields;
  }

 private:
  void add(AccountGroups& sum, AccountSums&& found) const override {
    sum.turn(0) += found;
    ++sum.documents;
  }
  /// The next documents took turns from their own first on.
  void join(AccountGroups& sum, AccountGroups&& next) const override {
    for (std::size_t g = 0; g < next.groups.size(); ++g)
      if (next.groups[g].documents > 0) sum.turn(g) += next.groups[g];
    sum.documents += next.documents;
  }

  AccountSite site_;
};

std::unique_ptr<Analysis> make_head_account(const AnalysisInput& input) {
  // Mean queries and keys would have to meet each layer's vectors of relative positions: not accounted for.
  const PositionTerm* term = input.stack().position_term.get();
  if (term != nullptr && term->use() == PositionUse::compared) return nullptr;
  return input.site.length < 3 ? nullptr : std::make_unique<HeadAccountAnalysis>(input);
}

AnalysisCost head_account_cost(const AnalysisSizes& sizes, const DocumentSizes& document, const JobOptions& options) {
  AnalysisCost cost;
  const double pairs = sizes.rows * sizes.length * sizes.length, near = 2 * static_cast<double>(options.reach) + 1;
  const double groups = std::min(static_cast<double>(account_groups), sizes.alike);
  const double sums = sizes.rows * (8 * sizes.d_head * sizes.length + 32 * sizes.length + 8 * near);
  if (document.number >= 0) {
    cost.document = 1.6e-9 * pairs;
    cost.looking = sums;
  }
  cost.kept = groups * sums;
  cost.finishing = sums + 48 * sizes.rows * sizes.length;
  // Passes over means: three terms, of each half too and less what content leaves in them, with each group left out, and
  // the nulls. A causal mask takes half as long as none: the rate lies between.
  const double looks =
      3 + (groups > 1 ? 8 : 0) + (groups < 5 ? 0 : 3 * groups) + 3 * static_cast<double>(options.draws);
  cost.after = looks * pairs * (0.9e-9 + 1.8e-11 * sizes.d_head);
  cost.entries = 7 * sizes.rows * near + 40 * sizes.rows;
  return cost;
}

}  // namespace

std::vector<Field> describe(const HeadAccount& account) {
  const Axis layer = layer_axis(account.site.grid.layers), head = head_axis(account.site.grid.heads);
  const Axis offset = offset_axis("account_offset", -account.site.reach, account.site.reach);
  const Axis term{"term", "1", "what is taken together: each term with those before it",
                  std::vector<std::string>{"position", "content", "spread"}};
  const std::vector<Axis> heads{layer, head}, terms{term, layer, head}, profiles{term, layer, head, offset};
  const char* const no_pair = "no pair at that offset, or the mask forbids it";
  const char* const few = "fewer than 5 documents";
  const char* const no_null = "no null was drawn";
  const char* const no_profile =
      "one document; or the measured weight is the same at all offsets, or fewer than 3 have pairs";
  Fields fields("head_account");
  fields
      .flags("verdict", heads, "what a head's offset profile comes from", account.verdict,
             {"positional", "content", "mixed", "not accounted for", "no preferred offset", "undefined"})
      .note("accounted_for_from", account.options.accounted)
      .note("nearly_all_from", account.options.nearly_all)
      .note("false_share", account.options.false_share);
  fields
      .add("measured_profile", {layer, head, offset}, "1",
           "mean attention weight at an offset, the first token neither query nor key", account.measured)
      .undefined(no_pair);
  fields.add("predicted_profile", profiles, "1", "the same from the terms taken together", account.predicted)
      .undefined(no_pair);
  fields
      .add("kernel", profiles, "1",
           "what each term by itself adds to the scaled score at an offset, less its mean over each query's keys",
           account.kernel)
      .undefined(no_pair);
  fields
      .add("measured_offset", heads, "token", "offset at which the measured profile is largest",
           account.measured_offset)
      .undefined("it is largest at the end of the search");
  fields.add("measured_weight", heads, "1", "mean attention weight there", account.measured_weight).undefined(no_pair);
  fields.add("predicted_offset", terms, "token", "offset at which the predicted profile is largest", account.offset)
      .undefined("it is largest at the end of the search");
  fields.add("predicted_weight", terms, "1", "mean attention weight predicted there", account.weight)
      .undefined(no_pair);
  fields
      .add("explained_share", terms, "1", "share of the logarithmic profile that is explained, level included",
           account.share)
      .undefined(no_profile);
  fields.add("share_lower", terms, "1", "lower end of its interval over documents", account.share_lower).undefined(few);
  fields.add("share_upper", terms, "1", "upper end of its interval over documents", account.share_upper).undefined(few);
  fields
      .add("explained_shape", terms, "1",
           "share of the logarithmic profile's shape that is explained, whatever its level", account.shape)
      .undefined(no_profile);
  fields.add("shape_lower", terms, "1", "lower end of its interval over documents", account.shape_lower).undefined(few);
  fields.add("shape_upper", terms, "1", "upper end of its interval over documents", account.shape_upper).undefined(few);
  fields
      .add("held_out_shape", terms, "1",
           "shape of the profile of one half of the documents that terms measured on the other half explain",
           account.held_out)
      .undefined(no_profile);
  fields.add("replicated_shape", heads, "1", "... that the other half's profile itself explains", account.replicated)
      .undefined(no_profile);
  fields
      .add("null_shape", terms, "1", "explained shape with the term's offsets in random order: median of the draws",
           account.null_shape)
      .undefined(no_null);
  fields.add("null_high", terms, "1", "... the largest of the draws", account.null_high).undefined(no_null);
  fields.add("alignment", heads, "1", "share of the position term's square that depends on the offset alone",
             account.alignment);
  fields
      .add("alignment_null", heads, "1", "the same with positions in random order: median of the draws",
           account.alignment_null)
      .undefined(no_null);
  fields.add("p_value", heads, "1", "chance of such an alignment with positions in random order", account.p_value)
      .undefined(no_null);
  fields.add("q_value", heads, "1", "p_value adjusted for the number of heads", account.q_value).undefined(no_null);
  fields.note_all("documents", account.documents)
      .note_all("length", account.site.length)
      .note_all("groups", account.groups)
      .note_all("draws", account.options.draws)
      .note_all("coverage", account.options.coverage)
      .note_all("seed", static_cast<std::int64_t>(account.options.seed));
  return fields.taken();
}

const AnalysisKind& head_account_analysis() {
  static const AnalysisKind kind{.name = "head_account",
                                 .finds = "position, content and spread: what a head's offset profile comes from",
                                 .step = Step::prediction,
                                 .needs = {Need::attention, Need::projections, Need::equal_length},
                                 .one_sequence = true,
                                 .make = make_head_account,
                                 .cost = head_account_cost};
  return kind;
}

}  // namespace headwave
