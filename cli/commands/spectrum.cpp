#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/bytes/bytes.h"
#include "../../data/files/replaced_file.h"
#include "../../data/results/result_file.h"
#include "../../job/studies/position_spectra.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/figures.h"
#include "../../reports/figures/positions.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/option_row.h"
#include "../options/style_options.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct SpectrumCommand {
  std::vector<std::filesystem::path> models;
  std::filesystem::path folder;
  bool force = false;
  bool styles_figures = false;  ///< an option says how the figure looks
  std::vector<std::string> formats = {"svg"};
  double width = 0;
  PositionSpectraOptions analysis;
  bool hann = false;
};

std::vector<double> list(const Vector& vector) {
  return {vector.begin(), vector.end()};
}

std::string result_name(const SpectrumCommand& command, std::size_t i) {
  return fmt::format("{}-{}.h5", i, model_name(command.models[i]));
}

OutputFolder opened_folder(const SpectrumCommand& command) {
  if (command.styles_figures) require_gnuplot();  // now, not after the work
  OutputFiles files;
  for (const std::string& name : figure_files("spectra", command.formats)) files.written.emplace_back(name);
  for (std::size_t i = 0; i < command.models.size(); ++i) files.written.push_back(result_name(command, i));
  return {command.folder, files, command.force};
}

LabelledSpectrum curve_of(const ModelSpectrum& model) {
  const SpectrumQuartiles& band = model.spectrum.positions;
  std::vector<double> frequency;
  for (Index f = 0; f < band.mean.size(); ++f) frequency.push_back(static_cast<double>(f));
  return {model.name,
          std::move(frequency),
          static_cast<double>(model.spectrum.length),
          {list(band.mean), list(band.lower), list(band.upper)},
          {}};
}

void print_table(const std::vector<ModelSpectrum>& spectra) {
  TableColumn model{"model", Align::left, {}}, length{"T", Align::right, {}},
      low{"energy at f <= 10", Align::right, {}}, peaks{"peaks, cycles/T", Align::left, {}};
  for (const auto& [name, spectrum, result] : spectra) {
    model.cells.push_back(name);
    length.cells.push_back(fmt::format("{}", spectrum.length));
    const Index ten = std::min<Index>(10, spectrum.cumulative_energy.size() - 1);
    low.cells.push_back(fmt::format("{:.1f} %", 100 * spectrum.cumulative_energy[ten]));
    std::set<Index> ascending;
    for (const SpectrumPeak& peak : spectrum.peaks) ascending.insert(peak.frequency);
    peaks.cells.push_back(fmt::format("{}", fmt::join(ascending, " ")));
  }
  std::fputs(terminal_table({model, length, low, peaks}).c_str(), stdout);
}

int compare_spectra(SpectrumCommand& command) {
  command.analysis.spectrum.spectrum.window = command.hann ? Window::hann : Window::rectangular;
  const OutputFolder folder = opened_folder(command);
  std::vector<ModelSpectrum> spectra = position_spectra(command.models, command.analysis);
  std::vector<std::unique_ptr<ReplacedFile>> files;
  std::vector<LabelledSpectrum> curves;
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    Result& result = spectra[i].result;
    add_program(result.provenance);
    files.push_back(std::make_unique<ReplacedFile>(folder.path() / result_name(command, i)));
    write_result(result, *files.back());
    curves.push_back(curve_of(spectra[i]));
  }
  commit_all(files);
  std::vector<std::filesystem::path> figures;
  const bool drawing = gnuplot_found();
  if (drawing)
    figures =
        spectra_figure(curves, command.width).write(folder.path(), "spectra", command.formats, spectra_caption(curves));
  print_table(spectra);
  for (const ModelSpectrum& model : spectra)
    if (const std::string remark = rows_read_text(model.result.provenance, model.spectrum.length); !remark.empty())
      say(visible_text(fmt::format("{}: {}", model.name, remark)));
  const std::string place = visible_text(folder.path().string());
  if (drawing)
    say(fmt::format("wrote {} results and {} files of figures to {}", spectra.size(), figures.size(), place));
  else
    say(
        fmt::format("wrote {} results to {}; no figure, because gnuplot is not installed: install the Debian package "
                    "gnuplot-nox, and repeat the command with --force",
                    spectra.size(), place));
  return 0;
}

}  // namespace

void add_spectrum(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<SpectrumCommand>();
  CLI::App* command =
      program.add_subcommand("spectrum", "compare the spectra of the position tables of several models");
  const OptionRows row(*command);
  SpectrumOptions& taken = options->analysis.spectrum.spectrum;
  row("--model", options->models, "PATH...", "model directories, or safetensors files beside a config.json")
      ->required();
  row("--out", options->folder, "DIR", "folder for one .h5 file per model, the figure and its caption")->required();
  row("--force", options->force, nullptr, "replace existing results and figures");
  row("--length", options->analysis.length, "T", "read only the first T positions", whole_number(2, 1048576));
  row("--rows", options->analysis.rows, nullptr, rows_help, whole_number(0, 1048576))->capture_default_str();
  row("--demean", taken.demean, nullptr, "subtract each column's mean before the transform");
  row("--detrend", taken.detrend, nullptr, "subtract each column's least-squares line before the transform");
  row("--hann", options->hann, nullptr, "Hann window; default: none, as in the paper");
  add_style_options(*command, options->formats, options->width);
  add_examples(*command, {{"spectrum --model minilm --out spectra", "frequencies of one position table"},
                          {"spectrum --model minilm bert --length 256 --detrend --formats svg --out detrended",
                           "two tables, detrended"}});
  command->final_callback([=, &chosen] {
    options->styles_figures = styles_figures(*command);
    chosen = [=] { return compare_spectra(*options); };
  });
}

}  // namespace headwave::cli
