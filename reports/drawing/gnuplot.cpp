#include "gnuplot.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <future>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_descriptor.h"
#include "visible_text.h"

namespace headwave {

namespace {

constexpr double text_size = 8.0;  // points

/// The `set terminal` command of a format. Each terminal counts sizes in its own way: the cairo terminals
/// take a point for 1/96 inch, the SVG terminal for 1/72 inch. The factors make the three formats look alike.
std::string terminal(const std::string& format, const GnuplotScript& script) {
  const double width = script.width, height = script.height;
  const std::string font = fmt::format("font \"{},{}\"", font_name, text_size);
  if (format == "pdf")
    return fmt::format(
        "set terminal pdfcairo noenhanced color size {:.4f}in,{:.4f}in {} fontscale 0.75 butt dashlength 0.6\n", width,
        height, font);
  if (format == "svg")
    return fmt::format(
        "set terminal svg noenhanced size {:.0f},{:.0f} {} linewidth 0.5 butt "
        "dashlength 0.6 background \"#ffffff\"\n",
        width * 72, height * 72, font);
  if (format == "png") {
    // 200 dots per inch, or fewer so that no side exceeds 8000 dots; cairo's limit is 32767.
    const double dots = std::min(200.0, 8000.0 / std::max(width, height));
    return fmt::format(
        "set terminal pngcairo noenhanced color size {:.0f},{:.0f} {} fontscale {:.4f} linewidth {:.4f} pointscale "
        "{:.4f} butt dashlength 0.6 background \"#ffffff\"\n",
        width * dots, height * dots, font, dots / 96, dots / 144, dots / 72);
  }
  throw ShapeError(fmt::format("figure format '{}': expected pdf, svg or png", shortened(visible_text(format), 20)));
}

/// Gives an SVG the size of the PDF on paper and the name of the figure; gnuplot writes a size in pixels and
/// the title "Gnuplot". Browsers smooth the few pixels of an embedded heat map unless told not to. XML text
/// may not contain "]]>", whose ">" gnuplot does not escape.
std::string finished_svg(std::string svg, const std::string& name, const GnuplotScript& script) {
  replace_all(svg, fmt::format("\n width=\"{:.0f}\" height=\"{:.0f}\"", script.width * 72, script.height * 72),
              fmt::format("\n width=\"{:.3f}in\" height=\"{:.3f}in\"", script.width, script.height));
  replace_all(svg, "<title>Gnuplot</title>", "<title>" + html_text(name) + "</title>");
  replace_all(svg, "]]>", "]]&gt;");
  const std::string family = fmt::format("font-family=\"{}", font_name);
  replace_all(svg, family + ":Bold\"", family + "\" font-weight=\"bold\"");
  replace_all(svg, "<image ", "<image style='image-rendering:optimizeSpeed;image-rendering:pixelated' ");
  return svg;
}

[[noreturn]] void fail(const std::string& what, const char* cannot) {
  throw IoError(fmt::format("{}: cannot {}: {}", what, cannot, std::strerror(errno)));
}

FileDescriptor file_in_memory(const std::string& content, const std::string& what) {
  FileDescriptor file = nameless_file();
  if (!file.is_open() || !file.write(content)) fail(what, "hold a figure in memory");
  return file;
}

/// The content of a file in memory.
std::string content_of(const FileDescriptor& file, const std::string& what) {
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t read = ::pread(file.get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) fail(what, "read what gnuplot draws");
    at += static_cast<std::size_t>(read);
  }
  return text;
}

/// Runs gnuplot, which reads its script from a file in memory (descriptor 3); another takes its complaints.
/// @param what  how errors begin: "figure offset_profile"
/// @returns the output; nothing if there is no gnuplot on PATH
/// @throws IoError with gnuplot's last line if it fails
std::optional<std::string> gnuplot_output(const std::string& arguments, const std::string& script,
                                          const std::string& what) {
  const FileDescriptor input = file_in_memory(script, what), errors = file_in_memory("", what);
  const auto file = [pid = ::getpid()](const FileDescriptor& one) {
    return fmt::format("/proc/{}/fd/{}", pid, one.get());
  };
  // GNUTERM may name a terminal that this gnuplot lacks, and gnuplot would open it first.
  const std::string command =
      fmt::format("GNUTERM=unknown exec gnuplot {} </dev/null 2>{} 3<{}", arguments, file(errors), file(input));
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) fail(what, "start gnuplot");
  std::string made;
  std::array<char, 1 << 16> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) made.append(piece.data(), count);
  if (std::ferror(pipe) != 0) fail(what, "read what gnuplot draws");
  const int status = ::pclose(pipe);
  constexpr int missing = 127;  // exit code of a shell that does not find a command
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return made;
  if (WIFEXITED(status) && WEXITSTATUS(status) == missing) return std::nullopt;
  // The last line says what went wrong; the lines above it repeat the command that failed.
  const std::string said = content_of(errors, what), lines = said.substr(0, said.find_last_not_of(" \n") + 1);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  throw IoError(fmt::format("{}: gnuplot ended with code {} and said: {}", what, code,
                            shortened(visible_text(lines.substr(lines.find_last_of('\n') + 1)), 400)));
}

[[noreturn]] void refuse_without_gnuplot() {
  throw IoError(
      "gnuplot is not installed, but figures need it: install the Debian package gnuplot-nox, or omit the figures");
}

}  // namespace

std::vector<std::string> drawn_by_gnuplot(const GnuplotScript& script, const std::string& name,
                                          const std::vector<std::string>& formats) {
  // Texts in data blocks contain spaces and '#'.
  const std::string reading = "set encoding utf8\nset datafile separator \"\\t\"\nset datafile commentschars \"\"\n";
  std::vector<std::future<std::optional<std::string>>> running;
  for (const std::string& format : formats)
    // -d: the start-up files of the user and the system must not change how a figure looks.
    running.push_back(std::async(std::launch::async, gnuplot_output, "-d /dev/fd/3",
                                 reading + terminal(format, script) + script.commands, "figure " + name));
  std::vector<std::string> files;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    std::optional<std::string> made = running[i].get();
    if (!made) refuse_without_gnuplot();
    if (made->empty())
      throw IoError(fmt::format("figure {}: gnuplot made no {}; is its cairo terminal missing?", name, formats[i]));
    files.push_back(formats[i] == "svg" ? finished_svg(*made, name, script) : *made);
  }
  return files;
}

bool gnuplot_found() {
  return gnuplot_output("--version", "", "figures").has_value();
}

void require_gnuplot() {
  if (!gnuplot_found()) refuse_without_gnuplot();
}

}  // namespace headwave
