#include "data_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../data/files/unicode_text.h"
#include "visible_text.h"

namespace headwave {

namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// Whether a spreadsheet might take a text for a formula, which can run programs. An apostrophe counts too,
/// so that one that kept_text() adds can be told from the text's own.
bool may_be_run(const std::string& text) {
  return !text.empty() && std::string_view("=+-@'").find(text.front()) != std::string_view::npos;
}

std::string kept_text(const std::string& text) {
  std::string out = may_be_run(text) ? "'" : "";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (const auto named = std::string_view("\\\t\n\r").find(text[i]); named != std::string_view::npos)
      out += std::array{"\\\\", "\\t", "\\n", "\\r"}[named];
    else if (byte < ' ' || byte == 0x7F)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    else if (byte == 0xC2 && next >= 0x80 && next < 0xA0)  // C1 control characters in UTF-8
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(text[++i] & 0xFF));
    else
      out += text[i];
  }
  return out;
}

std::string csv_text(const std::string& text) {
  std::string kept = kept_text(valid_utf8(text));
  const bool bare =
      !kept.empty() && kept.find_first_of(",\"") == std::string::npos && kept.front() != ' ' && kept.back() != ' ';
  if (bare) return kept;
  std::string out = "\"";
  for (const char c : kept) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string gnuplot_text(const std::string& text) {
  std::string out;
  for (const char c : visible_text(text)) out += c == '"' ? "\\042" : c == '\\' ? "\\\\" : std::string(1, c);
  return out;
}

}  // namespace

std::string csv_cell(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return std::isnan(*value) ? std::string() : number(*value);
  if (const auto* count = std::get_if<Index>(&cell)) return fmt::format("{}", *count);
  return csv_text(std::get<std::string>(cell));
}

std::string csv_line(const std::vector<std::string>& cells) {
  const std::string line = fmt::format("{}", fmt::join(cells, ","));
  return (line.empty() ? "\"\"" : line) + '\n';
}

std::string comma_separated(const DataTable& table) {
  std::vector<std::string> cells(table.size());
  std::ranges::transform(table, cells.begin(), csv_text, &DataColumn::name);
  std::string out = csv_line(cells);
  for (std::size_t row = 0; !table.empty() && row < table.front().cells.size(); ++row) {
    std::ranges::transform(table, cells.begin(), [&](const DataColumn& column) { return csv_cell(column.cells[row]); });
    out += csv_line(cells);
  }
  return out;
}

std::string data_block(const std::string& name, const Rows& rows) {
  std::string lines;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (const auto* value = std::get_if<double>(&row[c]))
        lines += number(*value);
      else if (const auto* count = std::get_if<Index>(&row[c]))
        lines += fmt::format("{}", *count);
      else
        lines += gnuplot_text(std::get<std::string>(row[c]));
      lines += c + 1 < row.size() ? '\t' : '\n';
    }
  std::string end = "_end_";
  while (lines.find(end) != std::string::npos) end += '_';  // a text could be mistaken for the end of the block
  return fmt::format("{} << {}\n{}{}\n", name, end, lines, end);
}

}  // namespace headwave
