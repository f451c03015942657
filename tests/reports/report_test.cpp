#include "../../reports/page/report.h"

#include <nlohmann/json.hpp>

#include "../../reports/tables/head_sentence.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The small things in a page: what stands in its element "result".
nlohmann::json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"result\">";
  const std::size_t first = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(first, page.find("</script>", first) - first));
}

}  // namespace

TEST_CASE("report: all text of the result is text on the page, and ends no element") {
  Result result = sample::result();
  result.provenance["model"] = std::string("</title><script>alert(1)<script><!--data-->");
  result.provenance["<i>key</i>"] = std::string("</script><!-- \x01 \"quoted\"");
  const std::string page = report_page(result);
  CHECK(has(page, "<title>Attention of title&gt;&lt;script&gt;alert(1)&lt;script&gt;&lt;!--data--&gt;: "));
  CHECK_FALSE(has(page, "<script>alert"));
  CHECK_FALSE(has(page, "<i>"));
  const auto data = data_of(page);
  CHECK(data["title"].get<std::string>().starts_with("Attention of title><script>alert(1)<script><!--data-->: "));
  CHECK(data["provenance"][0][0] == "<i>key</i>");
  CHECK(data["provenance"][0][1] == "</script><!-- \\u0001 \"quoted\"");
  CHECK(count_of(page, "id=\"result\"") == 1);
}

TEST_CASE("report: tokens are shown whatever they hold, long ones shortened") {
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "attention_map/token") {
      auto& tokens = std::get<std::vector<std::string>>(field.values);
      tokens[0] = std::string(10000, 'x');
      tokens[1] = "\xE2\x80\xAE\xff\n";
    }
  const auto tokens = data_of(report_page(result))["tokens"]["token"];
  CHECK(tokens[0].get<std::string>() == std::string(79, 'x') + "…");
  CHECK(tokens[1] == "\\u202e\\xff\\n");
}

TEST_CASE("report: nothing is fetched from anywhere, and the browser is told to see to it") {
  const std::string page = report_page(sample::result());
  CHECK(has(page, "default-src 'none'"));
  for (const char* part : {"src=\"", "href=\"http", "@import", "url(", "fetch(", "XMLHttpRequest", "importScripts"}) {
    INFO(part);
    CHECK_FALSE(has(std::string(page_shell()), part));
  }
}

TEST_CASE("report: the build puts the page together once and whole") {
  const std::string shell(page_shell());
  CHECK(count_of(shell, "<!--title-->") == 2);
  CHECK(count_of(shell, "<!--data-->") == 1);
  for (const char* mark : {"/*style*/", "/*program*/", "\nimport ", "\nexport "}) {
    INFO(mark);
    CHECK_FALSE(has(shell, mark));
  }
  CHECK(count_of(shell, "<script") == count_of(shell, "</script>"));
}

TEST_CASE("report: the table of heads, what the result holds, and what the page leaves out") {
  const auto data = data_of(report_page(sample::result()));
  CHECK(data["format"] == 1);
  CHECK(data["layers"].size() == 4);
  CHECK(data["heads"].size() == 8);
  CHECK(data["table"][0]["cells"].size() == 32);
  CHECK(data["table"][1]["header"] == "looks at");
  REQUIRE(data["sentences"].size() == 32);
  CHECK(data["sentences"][9] == head_sentences(sample::result())[9].text);
  CHECK(data["fields"].size() == sample::result().fields.size());
  CHECK(data["left_out"].empty());
  CHECK(data["arrays"].contains("attention_map/weight"));
}

TEST_CASE("report: a result that holds nothing has a page that says so") {
  const auto data = data_of(report_page(Result{}));
  CHECK(data["heads"].empty());
  CHECK(data["story"] == "");
  CHECK(has(report_page(Result{}), "<title>headwave result</title>"));
}

TEST_CASE("report: the same result gives the same page, whatever stands beside it") {
  const TemporaryFolder folder;
  write_report(sample::result(), folder / "deep/one.html");
  CHECK(sample::content_of(folder / "deep/one.html") == report_page(sample::result()));
}

TEST_CASE("report: a page that cannot be written is an error that names it") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "page.html");
  CHECK_THROWS_AS(write_report(Result{}, folder / "page.html"), IoError);
  CHECK_THROWS_WITH(write_report(Result{}, folder / "page.html"), ContainsSubstring("page.html"));
}

TEST_CASE("report: a result whose Fields do not fit together has no page") {
  const TemporaryFolder folder;
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "measured_offset/weight") field.axes = {{"wrong", "1", "", std::vector<double>(32, 1.0)}};
  CHECK_THROWS_WITH(write_report(result, folder / "page.html"), ContainsSubstring("measured_offset/weight"));
  CHECK_FALSE(std::filesystem::exists(folder / "page.html"));
}

TEST_CASE(
    "report: the page opens with the paragraph of the terminal below its finding, and says nothing that the result "
    "lacks") {
  CHECK(data_of(report_page(Result{}))["story"] == "");
  const Result result = sample::result();
  REQUIRE_FALSE(head_paragraph(result).empty());
  CHECK(data_of(report_page(result))["story"].get<std::string>().starts_with(head_paragraph(result, true)));
  CHECK(has(report_page(result), "<h1>" + finding_title(result) + "</h1>"));
}
