#include "../../reports/drawing/gnuplot.h"

#include <array>
#include <cstdlib>
#include <fstream>

#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

std::vector<std::filesystem::path> write_line(const std::filesystem::path& folder,
                                              const std::vector<std::string>& formats) {
  const PanelGrid grid{.panel = {3, 2}, .margin = {0, 0, 0, 0}};
  Figure figure{.grid = grid};
  figure.panels.emplace_back(grid, 0, 0).curve(std::array{0.0, 1.0}, std::array{1.0, 3.0}, {});
  return figure.write(folder, "line", formats, "a line");
}

/// Sets PATH while it lives.
class OtherPath {
 public:
  explicit OtherPath(const std::string& path) : old_(std::getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  OtherPath(const OtherPath&) = delete;
  OtherPath& operator=(const OtherPath&) = delete;
  ~OtherPath() { setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

}  // namespace

TEST_CASE("gnuplot: GNUTERM of the user's environment does not keep it from drawing") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  setenv("GNUTERM", "x11", 1);
  CHECK(gnuplot_found());
  CHECK_NOTHROW(write_line(folder.path(), {"png", "pdf", "svg"}));
  unsetenv("GNUTERM");
}

TEST_CASE("gnuplot: a figure in three formats, all of the size asked for") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  const auto files = write_line(folder / "new" / "deep", {"png", "pdf", "svg"});
  REQUIRE(files.size() == 4);
  for (const char* name : {"line.png", "line.pdf", "line.svg", "line.txt"})
    CHECK(std::filesystem::exists(folder / "new" / "deep" / name));

  const std::string png = sample::content_of(files[0]);
  const auto size_at = [&](std::size_t at) {
    return static_cast<unsigned char>(png[at + 2]) * 256 + static_cast<unsigned char>(png[at + 3]);
  };
  REQUIRE(png.size() > 24);
  CHECK(size_at(16) == 600);  // 200 dots per inch
  CHECK(size_at(20) == 400);
  const std::string pdf = sample::content_of(files[1]);
  CHECK(pdf.substr(0, 5) == "%PDF-");
  // cairo 1.18 packs the page's dictionary into a compressed stream, where its size cannot be read.
  const bool packed = pdf.find("/ObjStm") != std::string::npos;
  CHECK((packed || pdf.find("/MediaBox [ 0 0 216 144 ]") != std::string::npos));
  const std::string svg = sample::content_of(files[2]);
  CHECK(svg.find("width=\"3.000in\" height=\"2.000in\"") != std::string::npos);
  CHECK(svg.find("viewBox=\"0 0 216 144\"") != std::string::npos);
  CHECK(svg.find("<title>line</title>") != std::string::npos);
}

TEST_CASE("gnuplot: what it complains of is in the error, on one line") {
  if (!sample::can_draw()) return;
  try {
    (void)drawn_by_gnuplot({"plot nothing_known\n", 3, 2}, "broken", {"svg"});
    FAIL("expected an IoError");
  } catch (const IoError& error) {
    const std::string message = error.what();
    CHECK_THAT(message, ContainsSubstring("figure broken") && ContainsSubstring("nothing_known"));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("gnuplot: missing, the error names the package") {
  const TemporaryFolder folder;
  const OtherPath empty(folder.path().string());
  CHECK_FALSE(gnuplot_found());
  CHECK_THROWS_AS(require_gnuplot(), IoError);
  CHECK_THROWS_WITH(require_gnuplot(), ContainsSubstring("Debian package gnuplot-nox"));
  CHECK_THROWS_AS(write_line(folder / "out", {"svg"}), IoError);
  CHECK_THROWS_WITH(write_line(folder / "out", {"svg"}), ContainsSubstring("Debian package gnuplot-nox"));
}

TEST_CASE("gnuplot: one that makes nothing, or ends in another way, is told from one that draws") {
  const TemporaryFolder folder;
  const auto instead = [&](const std::string& script) {
    std::ofstream(folder / "gnuplot") << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
  };
  const OtherPath path(folder.path().string());
  instead(":");
  CHECK_NOTHROW(require_gnuplot());
  CHECK_THROWS_AS(write_line(folder / "out", {"pdf"}), IoError);
  CHECK_THROWS_WITH(write_line(folder / "out", {"pdf"}), ContainsSubstring("gnuplot made no pdf"));
  instead("cat; echo '<svg>'; echo first >&2; echo said >&2; exit 3");  // cat waits for no input
  CHECK_THROWS_WITH(write_line(folder / "out", {"svg"}), ContainsSubstring("gnuplot ended with code 3 and said: said"));
  instead("kill -9 $$");
  CHECK_THROWS_WITH(write_line(folder / "out", {"svg"}), ContainsSubstring("ended with code 137"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("gnuplot: no text of the data ends its block") {
  if (!sample::can_draw()) return;
  Rows rows;
  for (const char* text : {"_end_", "_end_ ", "_end__", "\"", "$data0 << x"}) rows.push_back({text, 1.0});
  const std::string commands = data_block("$texts", rows) + "plot $texts using 2:2:1 with labels\n";
  const std::string svg = drawn_by_gnuplot({commands, 3, 2}, "texts", {"svg"}).front();
  for (const char* text : {"_end_<", "_end_␣<", "_end__<", "\"<", "$data0 &lt;&lt; x<"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
}

TEST_CASE("gnuplot: unknown formats are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(write_line(folder.path(), {"gif\n"}),
                    ContainsSubstring("figure format 'gif\\n': expected pdf, svg or png"));
}

TEST_CASE("gnuplot: a folder that cannot be is refused") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_AS(write_line(folder / "file" / "sub", {"svg"}), IoError);
}
