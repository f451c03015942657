#include "report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "../../data/files/replaced_file.h"
#include "../drawing/visible_text.h"
#include "../tables/comparison_table.h"
#include "../tables/head_findings.h"
#include "../tables/head_sentence.h"
#include "../tables/head_table.h"
#include "page_data.h"

namespace headwave {

namespace {

using nlohmann::ordered_json;

constexpr int page_format = 1;
constexpr std::size_t most_packed = 8'700'000;  // bytes of arrays: with the rest the page stays below 10 MB

ordered_json table_json(const std::vector<TableColumn>& columns) {
  ordered_json table = ordered_json::array();
  for (const TableColumn& column : columns) {
    ordered_json cells = ordered_json::array();
    for (const std::string& cell : column.cells) cells.push_back(visible_text(cell));
    table.push_back(
        {{"header", visible_text(column.header)}, {"right", column.align == Align::right}, {"cells", cells}});
  }
  return table;
}

/// The tokens, and which of them are special, by the quantities of their Fields.
ordered_json tokens_json(const Result& result) {
  ordered_json tokens = ordered_json::object();
  for (const char* side : {"token", "key_token", "document_token", "document_key_token"})
    if (const Field* field = result.find(std::string("attention_map/") + side))
      for (const std::string& token : std::get<std::vector<std::string>>(field->values))
        tokens[side].push_back(shortened(visible_text(token), longest_token));
  for (const char* side : {"special", "key_special", "document_special", "document_key_special"})
    if (const Field* field = result.find(std::string("attention_map/") + side))
      tokens[side] = std::get<std::vector<std::uint8_t>>(field->values);
  return tokens;
}

/// Everything that the result file has, whether the page shows it or not.
ordered_json fields_json(const Result& result) {
  ordered_json fields = ordered_json::array();
  for (const Field& field : result.fields) {
    std::vector<std::string> axes;
    for (const Axis& axis : field.axes) axes.push_back(fmt::format("{} {}", axis.name, axis.size()));
    fields.push_back(
        {field.name, fmt::format("{}", fmt::join(axes, " × ")), field.unit, visible_text(field.long_name)});
  }
  return fields;
}

ordered_json provenance_json(const Attributes& provenance) {
  ordered_json rows = ordered_json::array();
  for (const auto& [name, remark] : provenance) rows.push_back({visible_text(name), remark_text(remark)});
  return rows;
}

/// What was run and what was found; empty: nothing to say.
std::string story_of(const Result& result) {
  std::string story = head_paragraph(result, true);
  if (const std::string compared = comparison_paragraph(result); !compared.empty())
    story += (story.empty() ? "" : " ") + compared;
  replace_all(story, " -> ", " → ");
  return story;
}

/// The sentence of each head.
ordered_json sentences_json(const Result& result) {
  ordered_json texts = ordered_json::array();
  for (const HeadSentence& sentence : head_sentences(result)) texts.push_back(sentence.text);
  return texts;
}

/// JSON for a script element: only ASCII, and no `<`, which could end the element.
std::string script_json(const ordered_json& json) {
  const std::string text = json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

std::string data_html(const Result& result) {
  PageMeasures measures = page_measures(result);
  PageArrays arrays = page_arrays(result, most_packed);
  const ordered_json json{{"format", page_format},
                          {"title", finding_title(result)},
                          {"story", story_of(result)},
                          {"sentences", sentences_json(result)},
                          {"layers", std::move(measures.layers)},
                          {"heads", std::move(measures.heads)},
                          {"measures", std::move(measures.measures)},
                          {"table", table_json(sorted_columns(result, {.all = true, .wide = true}))},
                          {"table_words", comparison_note(result)},
                          {"tokens", tokens_json(result)},
                          {"arrays", std::move(arrays.said)},
                          {"left_out", arrays.left_out},
                          {"fields", fields_json(result)},
                          {"provenance", provenance_json(result.provenance)}};
  std::string html = fmt::format("<script type=\"application/json\" id=\"result\">{}</script>\n", script_json(json));
  for (std::size_t i = 0; i < arrays.blocks.size(); ++i)
    html += fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", i, arrays.blocks[i]);
  return html;
}

}  // namespace

std::string report_page(const Result& result) {
  std::string page(page_shell());
  const std::string data = data_html(result);
  replace_all(page, "<!--title-->", html_text(finding_title(result)));
  replace_all(page, "<!--data-->", data);
  return page;
}

void write_report(const Result& result, const std::filesystem::path& path) {
  const std::string page = report_page(result);
  make_folder(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
  write_text(path, page);
}

}  // namespace headwave
