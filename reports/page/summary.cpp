#include "summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../data/files/replaced_file.h"
#include "../drawing/visible_text.h"
#include "../figures/figures.h"
#include "../tables/head_table.h"
#include "../tables/position_note.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

constexpr const char* style_sheet = R"(
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #5f6368; --page: #ffffff; --line: #dcdfe3; --link: #0072b2; --bad: #b34700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --soft: #a0a5ab; --page: #16181b; --line: #383c42; --link: #56b4e9; --bad: #ff9a52; }
}
body { margin: 2.5rem auto; max-width: 60rem; padding: 0 1.25rem; background: var(--page); color: var(--ink);
       font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .8rem; }
a { color: var(--link); }
.lead, figcaption, .files { color: var(--soft); }
figure { margin: 0 0 2.4rem; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; background: #ffffff; border-radius: 4px; }
figcaption { font-size: .9rem; margin-top: .6rem; }
.files { font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .9rem .22rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; white-space: nowrap; }
.right { text-align: right; }
.differs { color: var(--bad); font-weight: 600; }
.provenance td { overflow-wrap: anywhere; }
@media print {
  :root { --ink: #000000; --soft: #333333; --page: #ffffff; --line: #bbbbbb; --link: #000000; --bad: #000000; }
  body { margin: 0; max-width: none; font-size: 10pt; }
  figure, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  .files { display: none; }
}
)";

/// A relative path as a URL: everything but letters, digits and a few marks as %XX, so nothing in it has a meaning.
std::string url(const fs::path& file, const fs::path& page_folder) {
  std::error_code failure;
  const fs::path relative = fs::proximate(file, page_folder, failure);
  std::string out;
  for (const char c : (failure ? file : relative).generic_string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '_' || c == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string attribute_text(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  if (const auto* number = std::get_if<double>(&attribute)) return fmt::format("{}", *number);
  if (const auto* count = std::get_if<std::int64_t>(&attribute)) return fmt::format("{}", *count);
  return fmt::format("{}", fmt::join(std::get<std::vector<double>>(attribute), ", "));
}

std::string figure_html(const FigureKind& kind, const std::vector<fs::path>& files, const fs::path& page_folder) {
  std::string links;
  const fs::path* shown = nullptr;
  for (const char* format : {".svg", ".png", ".pdf", ".tsv"})
    for (const fs::path& file : files) {
      if (file.stem() != kind.name || file.extension() != format) continue;
      const std::string name =
          format == std::string(".tsv") ? "numbers (TSV)" : html_text(file.extension().string().substr(1));
      links += fmt::format("{}<a href=\"{}\">{}</a>", links.empty() ? "" : " · ", url(file, page_folder), name);
      const bool picture = format == std::string(".svg") || format == std::string(".png");
      if (picture && shown == nullptr) shown = &file;
    }
  if (links.empty()) return {};
  std::string title = kind.name;
  std::replace(title.begin(), title.end(), '_', ' ');
  const std::string image =
      shown == nullptr ? "" : fmt::format("<img src=\"{}\" alt=\"{}\">\n", url(*shown, page_folder), html_text(title));
  return fmt::format("<figure id=\"{}\">\n{}<figcaption>{} <span class=\"files\">{}</span></figcaption>\n</figure>\n",
                     html_text(kind.name), image, html_text(kind.caption), links);
}

std::string table_html(const std::vector<TableColumn>& columns) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  const auto right = [](const TableColumn& column) { return column.align == Align::right ? " class=\"right\"" : ""; };
  for (const TableColumn& column : columns)
    html += fmt::format("<th{}>{}</th>", right(column), html_text(column.header));
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    html += "<tr>";
    for (const TableColumn& column : columns) {
      const std::string& cell = column.cells[row];
      html += fmt::format("<td{}>{}</td>", cell == "differs" ? " class=\"differs\"" : right(column), html_text(cell));
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

/// The table, unless it holds nothing but names, and what it says nothing of.
std::string heads_html(const Result& result, const std::vector<TableColumn>& columns) {
  const std::string note = position_note(result);
  return (columns.size() == 1 && !note.empty() ? std::string() : table_html(columns)) +
         (note.empty() ? note : fmt::format("<p>{}</p>\n", html_text(note)));
}

std::string provenance_html(const Attributes& provenance) {
  std::string html = "<div class=\"wide\"><table class=\"provenance\">\n<tbody>\n";
  for (const auto& [name, value] : provenance)
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(name), html_text(attribute_text(value)));
  return html + "</tbody>\n</table></div>\n";
}

std::string page_of(const Result& result, const std::vector<fs::path>& figures, const fs::path& page_folder) {
  const std::string title = html_text(result.title.empty() ? "headwave result" : result.title);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
      "<body>\n<h1>{0}</h1>\n<p class=\"lead\">Layers and heads count from 0: L7H8 is head 8 of layer 7. An offset is "
      "key "
      "position minus query position in tokens, so −1 looks at the previous token.</p>\n",
      title, style_sheet);
  std::string drawings;
  for (const FigureKind& kind : figure_kinds()) drawings += figure_html(kind, figures, page_folder);
  if (!drawings.empty()) html += "<h2>Figures</h2>\n" + drawings;
  if (const auto columns = head_columns(result); !columns.empty())
    html += "<h2>Heads</h2>\n" + heads_html(result, columns);
  if (const auto columns = agreement_columns(result); !columns.empty())
    html += "<h2>Predicted and measured offsets</h2>\n" + table_html(columns);
  if (!result.provenance.empty()) html += "<h2>Provenance</h2>\n" + provenance_html(result.provenance);
  return html + "</body>\n</html>\n";
}

}  // namespace

void write_summary(const Result& result, const std::vector<fs::path>& figures, const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string page = page_of(result, figures, folder);
  make_folder(folder);
  write_text(path, page);
}

}  // namespace headwave
