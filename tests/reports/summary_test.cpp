#include "../../reports/page/summary.h"

#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

std::string page(const Result& result, const std::vector<std::filesystem::path>& figures,
                 const TemporaryFolder& folder) {
  const auto path = folder / "summary.html";
  write_summary(result, figures, path);
  return sample::content_of(path);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("summary: all text of the result is text on the page") {
  const TemporaryFolder folder;
  Result result = sample::result();
  result.provenance["<i>key</i>"] = std::string("\"quoted\" & 'single'");
  const std::string html = page(result, {}, folder);
  CHECK(has(html, "<title>planted bank &lt;4 x 8&gt; &amp; &quot;friends&quot;</title>"));
  CHECK(has(html, "texts/&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\\n.txt"));
  CHECK(has(html, "<th>&lt;i&gt;key&lt;/i&gt;</th><td>&quot;quoted&quot; &amp; &#39;single&#39;</td>"));
  CHECK(has(html, "<td>37.3, 41.6, 46.2</td>"));
  CHECK_FALSE(has(html, "<script"));
  CHECK_FALSE(has(html, "<i>"));
}

TEST_CASE("summary: nothing is fetched from anywhere") {
  const TemporaryFolder folder;
  const std::string html = page(sample::result(), {}, folder);
  for (const char* part : {"http:", "https:", "//", "@import", "url(", "<link", "<script"}) {
    INFO(part);
    CHECK_FALSE(has(html, part));
  }
}

TEST_CASE("summary: figures are relative, captioned, with links to every file") {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (const char* name :
       {"attention_map.pdf", "attention_map.svg", "attention_map.png", "attention_map.tsv", "cluster_sweep.png"})
    files.push_back(folder / "my \"figures\"&" / name);
  const std::string html = page(sample::result(), files, folder);
  CHECK(has(html, "<img src=\"my%20%22figures%22%26/attention_map.svg\" alt=\"attention map\">"));
  CHECK(has(html, "<img src=\"my%20%22figures%22%26/cluster_sweep.png\" alt=\"cluster sweep\">"));  // no SVG of it
  CHECK(has(html, "<a href=\"my%20%22figures%22%26/attention_map.pdf\">pdf</a>"));
  CHECK(has(html, "<a href=\"my%20%22figures%22%26/attention_map.tsv\">numbers (TSV)</a>"));
  CHECK(has(html, "Attention weights of single heads"));
  CHECK_FALSE(has(html, "id=\"offset_profile\""));
}

TEST_CASE("summary: the table of heads, and a result that holds nothing") {
  const TemporaryFolder folder;
  const std::string html = page(sample::result(), {}, folder);
  CHECK(has(html, "<td>L3H7</td><td class=\"right\">-1</td>"));
  CHECK(has(html, "undefined (flat)"));
  const std::string empty = page(Result{}, {}, folder);
  CHECK(has(empty, "<title>headwave result</title>"));
  CHECK_FALSE(has(empty, "<h2>"));
}

TEST_CASE("summary: a page that cannot be written is an error that names it") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "page.html");
  CHECK_THROWS_AS(write_summary(Result{}, {}, folder / "page.html"), IoError);
  CHECK_THROWS_WITH(write_summary(Result{}, {}, folder / "page.html"), ContainsSubstring("page.html"));
}

TEST_CASE("summary: a result whose Fields do not fit together has no page") {
  const TemporaryFolder folder;
  Result result = sample::result();
  for (Field& field : result.fields)
    if (field.name == "measured_offset/weight") field.axes = {{"wrong", "1", "", std::vector<double>(32, 1.0)}};
  CHECK_THROWS_AS(write_summary(result, {}, folder / "page.html"), ShapeError);
  CHECK_FALSE(std::filesystem::exists(folder / "page.html"));
}
