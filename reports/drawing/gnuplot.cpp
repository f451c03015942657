#include "gnuplot.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/files/file_descriptor.h"
#include "../../data/files/replaced_file.h"
#include "run_mark.h"
#include "visible_text.h"

namespace headwave {

namespace {

constexpr double text_size = 8.0;  // points

/// A figure as it comes on paper, enlarged.
struct Paper {
  double width, height;  // inches, before that
  double times;          // by how much everything is larger
  std::string font;
};

/// The terminals count sizes in their own ways: the cairo ones take a point for 1/96 inch, the SVG one for a
/// user unit, of which there are 72 to the inch before the figure is enlarged. The factors make the three
/// look alike.
std::string terminal(const std::string& format, const Paper& paper) {
  const double width = paper.width * paper.times, height = paper.height * paper.times;
  const std::string font = fmt::format("font \"{},{}\"", paper.font, text_size);
  if (format == "pdf")
    return fmt::format(
        "set terminal pdfcairo noenhanced color size {:.4f}in,{:.4f}in {} "
        "fontscale {} linewidth {} pointscale {} butt "
        "dashlength 0.6\n",
        width, height, font, 0.75 * paper.times, paper.times, paper.times);
  if (format == "svg")
    return fmt::format(
        "set terminal svg noenhanced size {:.0f},{:.0f} {} linewidth 0.5 butt "
        "dashlength 0.6 background \"#ffffff\"\n",
        paper.width * 72, paper.height * 72, font);
  if (format == "png") {
    // 200 dots per inch, fewer where cairo's largest picture (32767 dots) or sheer size would be the limit.
    const double dots = std::min(200.0, 8000.0 / std::max(width, height)), unit = dots * paper.times;
    return fmt::format(
        "set terminal pngcairo noenhanced color size {:.0f},{:.0f} {} "
        "fontscale {:.4f} linewidth {:.4f} pointscale "
        "{:.4f} butt dashlength 0.6 background \"#ffffff\"\n",
        width * dots, height * dots, font, unit / 96, unit / 144, unit / 72);
  }
  throw ShapeError(fmt::format("figure format '{}': expected pdf, svg or png", shortened(visible_text(format), 20)));
}

/// gnuplot gives an SVG its size in pixels and the title "Gnuplot"; on paper it should be as large as the
/// PDF. Browsers smooth the few pixels of an embedded heat map unless told not to. Of "]]>", which no text in
/// XML may hold, gnuplot leaves the ">" as it is.
std::string finished_svg(std::string svg, const std::string& name, const Paper& paper) {
  const double width = paper.width * paper.times, height = paper.height * paper.times;
  replace_all(svg, fmt::format("\n width=\"{:.0f}\" height=\"{:.0f}\"", paper.width * 72, paper.height * 72),
              fmt::format("\n width=\"{:.3f}in\" height=\"{:.3f}in\"", width, height));
  replace_all(svg, "<title>Gnuplot</title>", "<title>" + html_text(name) + "</title>");
  replace_all(svg, "]]>", "]]&gt;");
  const std::string family = fmt::format("font-family=\"{}", paper.font);
  replace_all(svg, family + ":Bold\"", family + "\" font-weight=\"bold\"");
  replace_all(svg, "<image ",
              "<image "
              "style='image-rendering:optimizeSpeed;image-rendering:pixelated' ");
  return svg;
}

/// What a child process wrote, and how it ended.
struct ProgramEnd {
  bool found = true;  // false: there is no such program on PATH
  int exit_code = 0;  // 128 + signal where a signal ended it
  std::string output, errors;
};

[[noreturn]] void fail(const std::string& what, const char* cannot) {
  throw IoError(fmt::format("{}: cannot {}: {}", what, cannot, std::strerror(errno)));
}

FileDescriptor file_in_memory(const std::string& content, const std::string& what) {
  FileDescriptor file(memfd_create("headwave", MFD_CLOEXEC));
  if (!file.is_open() || !file.write(content)) fail(what, "hold its script in memory");
  return file;
}

std::string content_from(const FileDescriptor& file, const std::string& what) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(what, "read what gnuplot draws");
    if (size == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

/// Our environment, in which GNUTERM names no terminal: gnuplot opens the one it names first, which it may
/// not have.
std::vector<char*> environment() {
  static std::string no_terminal = "GNUTERM=unknown";
  std::vector<char*> variables;
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with("GNUTERM=")) variables.push_back(*one);
  variables.insert(variables.end(), {no_terminal.data(), nullptr});
  return variables;
}

/// Runs gnuplot, whose stdin is /dev/null, without a shell. Its script is a file in memory, which it opens as
/// file 3.
/// @param what  what errors begin with: "figure offset_profile"
ProgramEnd run_gnuplot(std::vector<std::string> arguments, const std::string& script, const std::string& what) {
  const FileDescriptor commands = file_in_memory(script, what), errors = file_in_memory("", what);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(what, "make a pipe");
  const FileDescriptor output(ends[0]);
  FileDescriptor input(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, input.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, errors.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, commands.get(), 3);
  // A child heeds SIGPIPE as programs do, whatever this one ignores.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> variables = environment();
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure == ENOENT) return {false, 127, {}, {}};
  errno = failure;
  if (failure != 0) fail(what, "start gnuplot");

  input.close();
  ProgramEnd end;
  end.output = content_from(output, what);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(what, "wait for gnuplot");
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ::lseek(errors.get(), 0, SEEK_SET);
  end.errors = content_from(errors, what);
  return end;
}

[[noreturn]] void refuse_without_gnuplot() {
  throw IoError(
      "gnuplot is not installed, figures need it: install the Debian "
      "package gnuplot-nox, or leave them out");
}

std::string drawn_by_gnuplot(const std::string& script, const std::string& name, const std::string& format) {
  // -d: neither the user's nor the system's start-up file may change how a figure looks.
  ProgramEnd end = run_gnuplot({"gnuplot", "-d", "/dev/fd/3"}, script, "figure " + name);
  if (!end.found) refuse_without_gnuplot();
  if (end.exit_code != 0) {
    // What went wrong is on the last line, below the command that failed.
    const std::string said = end.errors.substr(0, end.errors.find_last_not_of(" \n") + 1);
    const std::string last = visible_text(said.substr(said.find_last_of('\n') + 1));
    throw IoError(
        fmt::format("figure {}: gnuplot ended with code {} and said: {}", name, end.exit_code, shortened(last, 400)));
  }
  if (end.output.empty())
    throw IoError(fmt::format("figure {}: gnuplot made no {}; is its cairo terminal missing?", name, format));
  return std::move(end.output);
}

}  // namespace

GnuplotFigure::GnuplotFigure(double width, double height, const FigureStyle& style)
    : width_(width), height_(height), style_(style) {
  require_style(style);
}

void GnuplotFigure::keep(const DataTable& numbers) {
  if (kept_)
    kept_->append(numbers);
  else
    kept_ = numbers;
}

std::string GnuplotFigure::add_data(const DataTable& data) {
  const std::string lines = gnuplot_data(data), name = fmt::format("$data{}", blocks_++);
  std::string end = "_end_";
  while (lines.find(end) != std::string::npos) end += '_';  // a text could be taken for the end of the block
  data_ += fmt::format("{} << {}\n{}{}\n", name, end, lines, end);
  return name;
}

std::string GnuplotFigure::add_numbers(const DataTable& numbers) {
  keep(numbers);
  return add_data(numbers);
}

std::vector<DrawnFile> GnuplotFigure::drawn(const std::string& name, const std::vector<std::string>& formats,
                                            bool keep_data) const {
  // Data blocks hold texts with spaces and '#' in them.
  const std::string reading =
      "set encoding utf8\nset datafile separator "
      "\"\\t\"\nset datafile commentschars \"\"\n";
  const Paper paper{width_, height_, enlargement(style_), style_.font};
  std::vector<DrawnFile> files;
  for (const std::string& format : formats) {
    std::string made = drawn_by_gnuplot(reading + data_ + terminal(format, paper) + script_, name, format);
    files.push_back({format, format == "svg" ? finished_svg(std::move(made), name, paper) : std::move(made)});
  }
  if (keep_data && kept_) files.push_back({"tsv", tab_separated(*kept_)});
  return files;
}

std::vector<std::filesystem::path> GnuplotFigure::write(const std::filesystem::path& folder, const std::string& name,
                                                        const std::vector<std::string>& formats, bool keep_data) const {
  return write_drawn(folder, name, drawn(name, formats, keep_data));
}

std::vector<std::filesystem::path> write_drawn(const std::filesystem::path& folder, const std::string& name,
                                               const std::vector<DrawnFile>& files, const std::string& mark) {
  make_folder(folder);
  std::vector<std::filesystem::path> written;
  std::vector<std::unique_ptr<ReplacedFile>> replaced;
  for (const DrawnFile& file : files) {
    written.push_back(folder / fmt::format("{}.{}", name, file.ending));
    replaced.push_back(std::make_unique<ReplacedFile>(written.back()));
    replaced.back()->write(with_run_mark(file.content, file.ending, mark));
  }
  commit_all(replaced);
  return written;
}

bool gnuplot_found() {
  return run_gnuplot({"gnuplot", "--version"}, "", "figures").found;
}

void require_gnuplot() {
  if (!gnuplot_found()) refuse_without_gnuplot();
}

}  // namespace headwave
