#include "provenance.h"

#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include <Eigen/Core>
#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/fft.h"
#include "../../data/results/library_versions.h"

namespace headwave {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string libraries() {
  return fmt::format("Eigen {}.{}.{}, {}, {}, fmt {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                     EIGEN_MINOR_VERSION, fft_library(), data_libraries(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                     FMT_VERSION % 100);
}

/// ISO 8601: 2026-01-31T12:00:00Z.
std::string utc_time(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// The system's name for the processor; x86 has one, other machines may not.
std::string processor() {
  std::ifstream about("/proc/cpuinfo");
  for (std::string line; std::getline(about, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

void add_build(Attributes& provenance) {
  provenance["version"] = std::string(HEADWAVE_VERSION);
  provenance["commit"] = std::string(build_commit());
  provenance["compiler"] = compiler();
  provenance["libraries"] = libraries();
  provenance["instruction_set"] = std::string(instruction_set());
}

void add_trained_rows(Attributes& provenance, MatrixView32 table) {
  const TrainedRows found = trained_rows(table);
  if (found.all()) return;
  provenance["trained_rows"] = static_cast<std::int64_t>(found.trained);
  provenance["position_rows"] = static_cast<std::int64_t>(found.rows);
  provenance["trained_norm"] = found.trained_norm;
  provenance["untrained_norm"] = found.untrained_norm;
}

void add_program(Attributes& provenance, const MadeBy& made) {
  add_build(provenance);
  provenance["processor"] = processor();
  provenance["command"] = made.command;
  provenance["started"] = utc_time(made.started);
  provenance["wall_time_s"] = made.seconds;
}

}  // namespace headwave
