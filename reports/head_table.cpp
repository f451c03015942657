#include "headwave/reports/head_table.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "headwave/core/head_name.h"
#include "headwave/reports/field_values.h"

namespace headwave {

namespace {

constexpr const char* offset_name = "measured_offset/offset";

std::string offset_text(double offset) {
  return offset == 0 ? "0" : fmt::format("{:+g}", offset);
}

/// What the table knows about the measured offsets; statuses are empty where the result has none.
struct Measured {
  std::vector<double> offset;
  std::vector<std::string> status;
};

Measured measured_of(const Result& result, const std::string& pairs) {
  Measured measured{head_doubles(result, offset_name, pairs), {}};
  constexpr const char* name = "measured_offset/status";
  if (result.find(name) == nullptr) return measured;
  const auto& meanings = result.at(name).flag_meanings;
  for (const std::uint8_t flag : head_flags(result, name, pairs))
    measured.status.push_back(flag < meanings.size() ? meanings[flag] : fmt::format("status {}", flag));
  if (measured.status.size() != measured.offset.size())
    throw ShapeError(
        fmt::format("{}: expected {} heads, found {}", name, measured.offset.size(), measured.status.size()));
  return measured;
}

std::string measured_text(const Measured& measured, std::size_t row) {
  if (!std::isnan(measured.offset[row])) return offset_text(measured.offset[row]);
  return measured.status.empty() ? "undefined" : "undefined (" + measured.status[row] + ")";
}

std::vector<std::string> numbers(const std::vector<double>& values, std::size_t rows, const char* name) {
  if (values.size() != rows)
    throw ShapeError(fmt::format("{}: expected {} heads, found {}", name, rows, values.size()));
  std::vector<std::string> cells;
  for (const double value : values) cells.push_back(std::isnan(value) ? "" : fmt::format("{:.4f}", value));
  return cells;
}

std::vector<TableColumn> cluster_columns(const Result& result, std::size_t rows) {
  constexpr const char* name = "head_cluster/share";
  const auto& shares = doubles_of(result, name, {"layer", "head", "cluster"});
  const auto clusters = whole_coordinates(result.at(name), "cluster");
  if (clusters.empty() || shares.size() != rows * clusters.size())
    throw ShapeError(fmt::format("{}: expected {} heads, found {} shares of {} clusters", name, rows, shares.size(),
                                 clusters.size()));
  TableColumn cluster{"cluster", Align::right, {}};
  TableColumn share{"share", Align::right, {}};
  for (std::size_t row = 0; row < rows; ++row) {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < clusters.size(); ++c)
      if (const double s = shares[row * clusters.size() + c];
          s > 0 && (!best || s > shares[row * clusters.size() + *best]))
        best = c;
    cluster.cells.push_back(best ? fmt::format("{}", clusters[*best]) : "");
    share.cells.push_back(best ? fmt::format("{:.0f} %", 100 * shares[row * clusters.size() + *best]) : "");
  }
  return {cluster, share};
}

bool agree(double planted, const Measured& measured, std::size_t row) {
  const double found = measured.offset[row];
  if (std::isnan(planted)) return std::isnan(found);
  if (!std::isnan(found)) return std::abs(planted - found) <= 0.5;
  return planted == 0 && !measured.status.empty() && measured.status[row] == "self";
}

std::vector<TableColumn> planted_columns(const Result& result, const Measured& measured) {
  const auto& kinds = strings_of(result, "planted/kind", {"layer", "head"});
  const auto& offsets = doubles_of(result, "planted/offset", {"layer", "head"});
  if (kinds.size() != measured.offset.size() || offsets.size() != measured.offset.size())
    throw ShapeError(
        fmt::format("planted/offset: expected {} heads, found {}", measured.offset.size(), offsets.size()));
  TableColumn kind{"planted", Align::left, kinds};
  TableColumn offset{"at", Align::right, {}};
  TableColumn verdict{"found", Align::left, {}};
  for (std::size_t row = 0; row < offsets.size(); ++row) {
    offset.cells.push_back(std::isnan(offsets[row]) ? "" : offset_text(offsets[row]));
    verdict.cells.emplace_back(agree(offsets[row], measured, row) ? "agrees" : "differs");
  }
  return {kind, offset, verdict};
}

}  // namespace

std::vector<TableColumn> head_columns(const Result& result, const std::string& pairs) {
  const Field* field = result.find(offset_name);
  if (field == nullptr) return {};
  const Measured measured = measured_of(result, pairs);
  const std::size_t rows = measured.offset.size();
  TableColumn name{"head", Align::left, {}};
  TableColumn offset{"offset", Align::right, {}};
  for (const Index layer : whole_coordinates(*field, "layer"))
    for (const Index head : whole_coordinates(*field, "head")) name.cells.push_back(head_name(layer, head));
  for (std::size_t row = 0; row < rows; ++row) offset.cells.push_back(measured_text(measured, row));

  std::vector<TableColumn> columns{name, offset};
  const auto add_numbers = [&](const char* header, const char* source) {
    if (result.find(source) != nullptr)
      columns.push_back({header, Align::right, numbers(head_doubles(result, source, pairs), rows, source)});
  };
  add_numbers("weight", "measured_offset/weight");
  add_numbers("threshold", "measured_offset/threshold");
  const auto append = [&](std::vector<TableColumn> more) { columns.insert(columns.end(), more.begin(), more.end()); };
  if (result.find("head_cluster/share") != nullptr) append(cluster_columns(result, rows));
  if (result.find("planted/kind") != nullptr && result.find("planted/offset") != nullptr)
    append(planted_columns(result, measured));
  return columns;
}

std::string head_table(const Result& result, bool color, const std::string& pairs) {
  (void)result.at(offset_name);
  return terminal_table(head_columns(result, pairs), color);
}

}  // namespace headwave
