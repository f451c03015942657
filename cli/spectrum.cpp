#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "headwave/analysis/position_spectrum.h"
#include "headwave/cli/commands.h"
#include "headwave/cli/terminal.h"
#include "headwave/data/model_directory.h"
#include "headwave/data/result_file.h"
#include "headwave/reports/spectrum_figure.h"
#include "headwave/reports/terminal_table.h"

namespace headwave::cli {

namespace {

struct SpectrumCommand {
  std::vector<std::filesystem::path> models;
  Index length = 0;
  std::filesystem::path folder;
  std::vector<std::string> formats = {"pdf", "svg", "png"};
  PositionSpectrumOptions analysis;
  bool hann = false;
};

struct Spectrum {
  std::string name;
  PositionSpectrum spectrum;
};

std::vector<double> list(const Vector& vector) {
  return {vector.begin(), vector.end()};
}

Spectrum spectrum_of(const std::filesystem::path& model, const SpectrumCommand& command) {
  Matrix positions = position_table(model).cast<double>();
  if (command.length > positions.rows())
    throw ShapeError(fmt::format("{}: {} positions, --length {} was asked for; ask for fewer", model.string(),
                                 positions.rows(), command.length));
  if (command.length > 0) positions.conservativeResize(command.length, Eigen::NoChange);
  const std::filesystem::path named = model.filename().empty() ? model.parent_path() : model;
  return {named.filename().string(), position_spectrum(positions, {}, command.analysis)};
}

void print_table(const std::vector<Spectrum>& spectra) {
  TableColumn model{"model", Align::left, {}}, length{"T", Align::right, {}},
      low{"energy at f <= 10", Align::right, {}}, peaks{"peaks, cycles/T", Align::left, {}};
  for (const auto& [name, spectrum] : spectra) {
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
  command.analysis.spectrum.window = command.hann ? Window::hann : Window::rectangular;
  std::vector<Spectrum> spectra;
  std::vector<LabelledSpectrum> curves;
  for (const std::filesystem::path& model : command.models) {
    spectra.push_back(spectrum_of(model, command));
    const auto& [name, spectrum] = spectra.back();
    std::vector<double> frequency;
    for (Index f = 0; f < spectrum.positions.mean.size(); ++f) frequency.push_back(static_cast<double>(f));
    curves.push_back({name,
                      std::move(frequency),
                      static_cast<double>(spectrum.length),
                      {list(spectrum.positions.mean), list(spectrum.positions.lower), list(spectrum.positions.upper)},
                      {}});
  }
  std::error_code error;
  std::filesystem::create_directories(command.folder, error);
  if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", command.folder.string(), error.message()));
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    Result result{
        fmt::format("headwave: spectrum of the positions of {}", spectra[i].name), describe(spectra[i].spectrum), {}};
    result.provenance = {
        {"version", std::string(HEADWAVE_VERSION)}, {"command", command_line()}, {"model", command.models[i].string()}};
    write_result(result, command.folder / fmt::format("{}-{}.h5", i, spectra[i].name));
  }
  const auto figures = spectra_figure(curves).write(command.folder, "spectra", command.formats, true);
  print_table(spectra);
  say(fmt::format("wrote {} results and {} files of figures to {}", spectra.size(), figures.size(),
                  command.folder.string()));
  return 0;
}

}  // namespace

void add_spectrum(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<SpectrumCommand>();
  CLI::App* command =
      program.add_subcommand("spectrum", "compare the spectra of the position tables of several models");
  command
      ->add_option("--model", options->models,
                   "model directories; a checkpoint that holds little but positions will do")
      ->required()
      ->type_name("DIR...");
  command->add_option("--out", options->folder, "folder for one .h5 file per model, and spectra.pdf, .svg, .png, .tsv")
      ->required()
      ->type_name("DIR");
  command->add_option("--length", options->length, "only the first T positions; 0: all")
      ->check(CLI::Range(0, 1048576))
      ->capture_default_str();
  command->add_flag("--demean", options->analysis.spectrum.demean, "take each column's mean away first");
  command->add_flag("--detrend", options->analysis.spectrum.detrend,
                    "take each column's least-squares line away first");
  command->add_flag("--hann", options->hann, "Hann window instead of the published rectangular one");
  command->add_option("--formats", options->formats, "figure formats: pdf,svg,png")
      ->delimiter(',')
      ->check(CLI::IsMember({"pdf", "svg", "png"}))
      ->type_name("LIST");
  command->final_callback([=, &chosen] { chosen = [=] { return compare_spectra(*options); }; });
}

}  // namespace headwave::cli
