#include "reproduction.h"

#include <array>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/waves/cross_covariance.h"
#include "../../core/fields/fields.h"
#include "../inputs/intervention_text.h"
#include "carried_waves.h"
#include "paper_quantities.h"
#include "published.h"
#include "run_readings.h"

namespace headwave {

namespace {

Result run_with(const std::function<JobInput()>& open, const std::string& intervention, JobOptions options,
                const ProgressCallback& progress) {
  JobInput input = open();
  if (!intervention.empty()) {
    intervene(input, {intervention}, {options.seed, 1});
    options.only.clear();
    for (const auto& kind : {measured_offset_analysis, cross_covariance_analysis})
      options.only.emplace_back(kind().name);
  }
  Result result = run_job(input.model, *input.source, options, progress);
  result.provenance.insert(input.provenance.begin(), input.provenance.end());
  return result;
}

}  // namespace

Reproduction reproduction(const std::function<JobInput()>& open, const JobOptions& options,
                          const ProgressCallback& progress) {
  Reproduction found;
  bool positions = false;
  {
    const JobInput input = open();
    if (input.model.decoder)
      throw ShapeError(
          fmt::format("a {} is an encoder-decoder, with three kinds of attention; the paper's list is "
                      "about one",
                      input.model.family));
    found.model = published_model(input.model);
    positions = !input.model.stack.embedding.positions.empty();
  }
  found.result = run_with(open, "", options, progress);
  const RunReadings run(found.result);
  QuantityTable table(found.model);
  const bool named = found.model == "roberta-base";
  add_paper_quantities(table, run, named);

  const std::vector<HeadName> heads = named ? std::vector<HeadName>{{7, 8}, {1, 2}, {0, 0}, {6, 4}} : run.clearest(4);
  const std::string name = heads.empty() ? "the clearest head" : head_name(heads[0].layer, heads[0].head);
  const double offset = heads.empty() ? not_defined : run.offset(heads[0]);
  if (!heads.empty() && !named) table.add("offset of " + name + ", the clearest head", "token", offset);
  CarriedWaves carried(heads, 30);
  carried.add("as it is", found.result);
  const std::vector<std::pair<std::string, std::string>> conditions{
      {"positions-only", "positions only"}, {"words-only", "words only"}, {"shuffled-words", "words shuffled"}};
  for (const auto& [intervention, words] : conditions) {
    double share = not_defined;
    if (!heads.empty() && (positions || intervention != "positions-only")) {
      const Result changed = run_with(open, intervention, options, with_prefix(progress, words));
      carried.add(words, changed);
      share = RunReadings(changed).weight_at(heads[0], offset) / run.weight_at(heads[0], offset);
    }
    table.add(fmt::format("weight of {} at its offset, {}", name, words), "ratio", share);
  }
  append(found.result.fields, carried.fields());
  found.quantities = table.taken();
  append(found.result.fields, describe(found));
  found.result.provenance["published_model"] = found.model;
  return found;
}

std::vector<Field> describe(const Reproduction& reproduction) {
  using One = ReproducedQuantity;
  const auto all = [&](auto member) { return reproduction.quantities | std::views::transform(member); };
  std::vector<std::string> names;
  for (const One& one : reproduction.quantities) names.push_back(one.name);
  const Axis quantity{"quantity", "1", "what the paper reports", names};
  Fields fields("reproduction");
  fields.add("measured", {quantity}, "1", "measured, in the unit of reproduction/unit", all(&One::measured))
      .undefined("the model or the documents do not give it");
  fields.add("low", {quantity}, "1", "least value that agrees with what is published", all(&One::low))
      .undefined("nothing is published of this model");
  fields.add("high", {quantity}, "1", "largest value that agrees", all(&One::high))
      .undefined("nothing is published of this model");
  fields.add("published", {quantity}, "1", "what is published", all(&One::published));
  fields.add("unit", {quantity}, "1", "unit of measured, low and high", all(&One::unit));
  fields.add("source", {quantity}, "1", "where it is published", all(&One::source));
  return fields.taken();
}

}  // namespace headwave
