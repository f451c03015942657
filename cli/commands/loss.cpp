#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../analysis/statistics/mean_change.h"
#include "../../job/studies/text_loss.h"
#include "../../reports/drawing/terminal_table.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/job_options.h"
#include "../options/values.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct LossOptions {
  InputOptions input;
  TextLossOptions loss;
  bool json = false;
};

using Losses = std::vector<PredictionLoss>;

Losses losses_of(const JobInput& input, const LossOptions& options) {
  return text_losses(input.model, *input.source, input.mask, options.loss, progress());
}

/// With shuffled words the documents come several times: so must those that they are compared with.
JobInput plain_input(LossOptions& options, const SourceOptions& given) {
  InputOptions plain = options.input;
  plain.interventions.clear();
  return input_of(plain, given, options.loss.seed);
}

void print_table(const Losses& before, const Losses* after, const LossDifference& difference, const std::string& what) {
  TableColumn names{"model", Align::left, {}}, tokens{"tokens", Align::right, {}},
      means{"loss (nats/token)", Align::right, {}}, perplexity{"perplexity", Align::right, {}},
      changes{"change", Align::right, {}};
  const auto add = [&](const std::string& name, const PredictionLoss& loss, const std::string& change) {
    names.cells.push_back(name);
    tokens.cells.push_back(fmt::format("{}", loss.tokens));
    means.cells.push_back(fmt::format("{:.4f}", loss.mean()));
    perplexity.cells.push_back(fmt::format("{:.4g}", std::exp(loss.mean())));
    changes.cells.push_back(change);
  };
  add("as it is", total(before), "");
  if (after != nullptr)
    add(what, total(*after),
        fmt::format("{:+.4f}", difference.mean) +
            (std::isnan(difference.standard_error) ? "" : fmt::format(" +- {:.4f}", difference.standard_error)));
  fmt::print("{}", terminal_table({names, tokens, means, perplexity, changes}));
}

nlohmann::ordered_json json_of(const PredictionLoss& loss) {
  return {{"tokens", loss.tokens}, {"loss", loss.mean()}, {"perplexity", std::exp(loss.mean())}};
}

int loss(LossOptions& options, const SourceOptions& given) {
  const JobInput plain = plain_input(options, given);
  const Losses before = losses_of(plain, options);
  Losses after;
  LossDifference difference;
  std::string what;
  if (!options.input.interventions.empty()) {
    const JobInput changed = input_of(options.input, given, options.loss.seed);
    after = losses_of(changed, options);
    what = std::get<std::string>(changed.provenance.at("interventions"));
    difference = loss_difference(before, after);
  }
  end_progress();
  if (!options.json) {
    print_table(before, after.empty() ? nullptr : &after, difference, what);
    return done;
  }
  nlohmann::ordered_json json{{"version", 1}, {"model", json_of(total(before))}};
  if (!after.empty()) {
    json["interventions"] = what;
    json["changed"] = json_of(total(after));
    json["change"] = difference.mean;
    json["change_standard_error"] = std::isnan(difference.standard_error)
                                        ? nlohmann::ordered_json()
                                        : nlohmann::ordered_json(difference.standard_error);
  }
  fmt::print("{}\n", json.dump(2));
  return done;
}

}  // namespace

void add_loss(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<LossOptions>();
  CLI::App* command =
      program.add_subcommand("loss", "measure how well a model predicts a text, and how much worse with --intervene");
  const SourceOptions source = add_input_options(
      *command, options->input,
      {"stored states have no words that could be predicted", "", "a loss is compared document by document", ""});
  command->add_option("--masked-share", options->loss.masked_share, "share of tokens to mask, for masked models")
      ->check(real_number(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--seed", options->loss.seed, "seed of the masked tokens and of shuffled words")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--threads", options->loss.threads, "number of threads, 0: one per core; changes no digit")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON, versioned, for other programs");
  add_examples(*command,
               {{"loss --model bert --text text.txt --documents 20 --length 128", "how well masked words are guessed"},
                {"loss --model marian --text source.txt --target target.txt",
                 "how well an encoder-decoder predicts what is written"},
                {"loss --model gpt2 --text text.txt --documents 20 --length 128 --intervene without-heads=L0H1,L1H0",
                 "how much worse a text is predicted without two heads"}});
  command->final_callback([=, &chosen] {
    require_usage(source, options->input);
    options->input.intervening.threads = options->loss.threads;
    chosen = [=] { return loss(*options, source); };
  });
}

}  // namespace headwave::cli
