#include "../../reports/drawing/run_mark.h"

#include <fstream>

#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/captions.h"
#include "../../reports/page/report.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

const std::string mark = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string other(64, 'e');

/// The compressed pixels of a PNG: its chunks IDAT.
std::string png_pixels(const std::string& png) {
  std::string pixels;
  for (std::size_t at = 8; at + 8 <= png.size();) {
    std::size_t size = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) size = size << 8U | static_cast<unsigned char>(png[at + byte]);
    if (png.substr(at + 4, 4) == "IDAT") pixels += png.substr(at + 8, size);
    at += size + 12;
  }
  return pixels;
}

}  // namespace

TEST_CASE("run marks: of a result, and nothing that only looks like one") {
  CHECK(run_mark({{"run_sha256", mark}}) == mark);
  CHECK(run_mark({}).empty());
  for (const std::string& wrong :
       {mark.substr(1), mark + "0", std::string(64, 'G'), "\"><script>" + mark.substr(10), std::string(64, 'A')})
    CHECK(run_mark({{"run_sha256", wrong}}).empty());
  CHECK(run_mark({{"run_sha256", std::int64_t{1}}}).empty());
}

TEST_CASE("run marks: a figure carries one in every format and is whole with it") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  std::vector<DrawnFile> files = line_figure().drawn("line", {"pdf", "svg", "png"});
  files.push_back(caption_file("A line, run_sha256 " + other + "."));
  const auto unmarked = write_drawn(folder / "unmarked", "line", files);
  const auto marked = write_drawn(folder / "marked", "line", files, mark);
  REQUIRE(marked.size() == 4);
  for (std::size_t i = 0; i < marked.size(); ++i) {
    INFO(marked[i]);
    const std::string before = sample::content_of(unmarked[i]), content = sample::content_of(marked[i]);
    CHECK(run_mark_in(marked[i]) == mark);
    CHECK(run_mark_in(unmarked[i]).empty());
    CHECK(content != before);
    if (marked[i].extension() == ".svg") CHECK(content.ends_with("</svg>\n\n"));
    if (marked[i].extension() == ".png")
      CHECK(
          content.ends_with("IEND\xae"
                            "B`\x82"));
    if (marked[i].extension() != ".pdf") continue;
    const std::size_t table_at = std::stoul(content.substr(content.rfind("startxref") + 9));
    const std::string there = content.substr(table_at, 32);  // a table, or the object that holds it packed
    CHECK((there.starts_with("xref") || there.find(" 0 obj") != std::string::npos));
  }
  CHECK(png_pixels(sample::content_of(folder / "marked/line.png")) ==
        png_pixels(sample::content_of(folder / "unmarked/line.png")));
  const std::string text = sample::content_of(folder / "marked/line.txt");
  CHECK(text.ends_with("\nrun_sha256 " + mark + "\n"));
  CHECK(run_mark_in(folder / "none.pdf").empty());
  std::ofstream(folder / "short.png") << "run_sha256 0123";
  CHECK(run_mark_in(folder / "short.png").empty());
}

TEST_CASE("run marks: a page carries its result's, whatever the result is called") {
  const TemporaryFolder folder;
  Result result{"run_sha256 " + other, {}, {{"run_sha256", mark}}};
  write_report(result, folder / "report.html");
  CHECK(run_mark_in(folder / "report.html") == mark);
  result.provenance.clear();
  write_report(result, folder / "report.html");
  CHECK(run_mark_in(folder / "report.html").empty());
}
