#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "../../core/bytes/append.h"
#include "../../core/fields/fields.h"
#include "rotary_wave.h"

namespace headwave {

namespace {

class RotaryWaveAnalysis : public DocumentAnalysis<DocumentRotary, std::vector<DocumentRotary>> {
 public:
  using DocumentAnalysis::DocumentAnalysis;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0 || !turns()) return nullptr;
    return look_of(
        std::make_unique<RotaryProbe>(site().grid, site().length, stack().block.d_head, *stack().rotary(), site().kind),
        &RotaryProbe::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    if (!turns()) {
      Fields fields("rotary_wave");
      fields.absent("predicted_offset", "token", "offset at which the position kernel is largest",
                    "no rotary positions");
      return fields.taken();
    }
    RotaryWaveOptions how;
    how.reach = std::min(options().reach, (site().length - 1) / 2);  // as measured_offset() searches
    how.causal = site().kind == AttentionKind::causal;
    how.length = site().length;
    how.score_scale = stack().block.score_scale;
    how.draws = 50 * options().draws;  // each costs next to nothing
    how.level = options().false_share;
    how.resamples = options().resamples;
    how.seed = options().seed;
    how.threads = input().threads;
    std::vector<const RotaryTerm*> terms;
    for (const Index layer : site().grid.layers) terms.push_back(stack().rotary(layer));
    return describe(finished.keep(rotary_wave(sum_, site().grid, terms, how)));
  }

 private:
  /// Whether one of the layers does.
  [[nodiscard]] bool turns() const {
    return std::ranges::any_of(site().grid.layers, [&](Index layer) { return stack().rotary(layer) != nullptr; });
  }
  void add(std::vector<DocumentRotary>& sum, DocumentRotary&& found) const override { sum.push_back(std::move(found)); }
  void join(std::vector<DocumentRotary>& sum, std::vector<DocumentRotary>&& next) const override {
    append(sum, std::move(next));
  }
};

std::unique_ptr<Analysis> make_rotary_wave(const AnalysisInput& input) {
  return input.site.length < 3 ? nullptr : std::make_unique<RotaryWaveAnalysis>(input);
}

}  // namespace

std::vector<Field> describe(const RotaryWave& wave) {
  const RotaryWaveOptions& options = wave.options;
  const Axis layer = layer_axis(wave.grid.layers), head = head_axis(wave.grid.heads);
  const Axis pair =
      counting_axis("pair", "1", "pair of channels that turn together, fastest first", 0, wave.frequency.size() - 1);
  const std::vector<Axis> heads{layer, head}, pairs{layer, head, pair};
  const std::string at_end = "the position kernel is largest at the end of the search, |t| = reach";
  const std::string no_interval = "fewer than 5 documents, or no estimate";
  const std::string no_null = "no null was drawn", silent = "the mean query or the mean key is zero, or nothing turns";
  Fields fields("rotary_wave");
  fields
      .add("predicted_offset", heads, "token",
           "offset at which the position kernel is largest, where pairs agree more than chance", wave.offset)
      .undefined("pairs agree no more than with random phases (q_value above level); or " + at_end)
      .note("level", options.level);
  fields.add("estimate", heads, "token", "offset at which the position kernel is largest", wave.estimate)
      .undefined(silent + "; or " + at_end);
  fields.add("lower", heads, "token", "lower end of the interval of estimate", wave.lower).undefined(no_interval);
  fields.add("upper", heads, "token", "upper end of the interval of estimate", wave.upper).undefined(no_interval);
  fields
      .add("predicted_weight", heads, "1", "softmax of the position kernel there, over the offsets searched",
           wave.weight)
      .undefined(silent);
  fields
      .add("kernel", {layer, head, offset_axis("rotary_offset", -options.reach, options.reach)}, "1",
           "position kernel kappa(t): scaled score of the mean query and the mean key at an offset, the first token "
           "left out",
           wave.kernel)
      .undefined("the causal mask forbids the offset, or nothing turns");
  fields
      .add("constant", heads, "1", "the part of it that channels which do not turn give to every offset", wave.constant)
      .undefined_if_any("the layer turns nothing");
  fields
      .add("agreement", heads, "1",
           "coherence of the pairs that turn by half a turn or more within the search: 1 where all ask for one offset",
           wave.agreement)
      .undefined(silent + "; or no pair turns as far");
  fields.interval("agreement", heads, wave.agreement_lower, wave.agreement_upper, no_interval);
  fields.add("null_median", heads, "1", "median of the agreement with random phases", wave.null_median)
      .undefined(no_null);
  fields.add("null_quantile", heads, "1", "quantile 1 - level of the agreement with random phases", wave.null_quantile)
      .undefined(no_null);
  fields.add("p_value", heads, "1", "chance of such an agreement with random phases", wave.p_value).undefined(no_null);
  fields.add("q_value", heads, "1", "p_value adjusted for the number of heads", wave.q_value).undefined(no_null);
  fields
      .add("coherence", heads, "1",
           "largest position kernel over the sum of the pairs' moduli, pairs that hardly turn counted", wave.coherence)
      .undefined(silent);
  fields.add("frequency", {pair}, "radian/token", "by which a pair turns from one token to the next", wave.frequency);
  if (wave.layer_frequency.size() > 0)
    fields.add("layer_frequency", {layer, pair}, "radian/token",
               "the same in each layer, which differ: `frequency` is that of the first that turns; 0: nothing turns",
               wave.layer_frequency);
  fields.add("cycles", {pair}, "cycles/T", "the same over a document of T tokens", wave.cycles);
  fields.add("coefficient_real", pairs, "1", "scale conj(mean query) mean key of a pair, real part",
             wave.coefficient.real());
  fields.add("coefficient_imaginary", pairs, "1", "scale conj(mean query) mean key of a pair, imaginary part",
             wave.coefficient.imag());
  fields
      .add("pair_offset", pairs, "token", "offset that a pair asks for, nearest to 0 of those a period apart",
           wave.pair_offset)
      .undefined_if_any("the layer turns nothing");
  fields.add("use", pairs, "1", "mean modulus of a pair's queries times that of its keys, scaled", wave.use);
  fields
      .add("layer_use", {layer, pair}, "1", "use of a pair summed over the heads of a layer, as a share of all pairs",
           wave.layer_use)
      .undefined("queries or keys are zero");
  add_status(fields, heads, wave.status);
  fields.note_all("documents", wave.documents)
      .note_all("length", options.length)
      .note_all("reach", options.reach)
      .note_all("draws", options.draws)
      .note_all("resamples", options.resamples)
      .note_all("coverage", options.coverage)
      .note_all("seed", static_cast<std::int64_t>(options.seed));
  return fields.taken();
}

const AnalysisKind& rotary_wave_analysis() {
  static const AnalysisKind kind{.name = "rotary_wave",
                                 .finds = "the wave built into rotary positions, and where it points",
                                 .step = Step::prediction,
                                 .needs = {Need::attention, Need::projections, Need::rotary, Need::equal_length},
                                 .one_sequence = true,
                                 .make = make_rotary_wave};
  return kind;
}

}  // namespace headwave
