#include "whole_figure.h"

#include <charconv>
#include <cstdint>
#include <vector>

namespace headwave {

namespace {

constexpr std::string_view blank = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(blank);
  return text.substr(0, end == text.npos ? 0 : end + 1);
}

// "... startxref 1234 %%EOF", and at byte 1234 a table or the object that holds it packed.
bool is_whole_pdf(std::string_view pdf) {
  pdf = trimmed(pdf);
  const std::string_view mark = "startxref";
  const std::size_t at = pdf.rfind(mark);
  if (!pdf.starts_with("%PDF-") || !pdf.ends_with("%%EOF") || at == pdf.npos) return false;
  const std::size_t digits = pdf.find_first_not_of(blank, at + mark.size());
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(pdf.data() + digits, pdf.data() + pdf.size(), place);
  if (error != std::errc() || place >= at) return false;
  const std::string_view there = pdf.substr(place, 32);
  return there.starts_with("xref") || there.find(" 0 obj") != there.npos;
}

// A signature, then chunks: four bytes of length, four of name, the data, four of checksum.
bool is_whole_png(std::string_view png) {
  constexpr std::size_t signature = 8, around = 12;
  for (std::size_t at = signature; at + around <= png.size();) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8U | static_cast<unsigned char>(png[at + i]);
    const bool last = png.substr(at + 4, 4) == "IEND";
    at += around + length;
    if (last) return at == png.size();
  }
  return false;
}

// As gnuplot writes it: '<' and '>' stand nowhere but around tags and comments.
bool is_whole_svg(std::string_view svg) {
  svg = trimmed(svg);
  if (!svg.ends_with("</svg>")) return false;
  std::vector<std::string_view> open;
  for (std::size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at)) {
    const bool comment = svg.substr(at).starts_with("<!--");
    const std::string_view closing = comment ? "-->" : ">";
    const std::size_t end = svg.find(closing, at);
    if (end == svg.npos) return false;
    const std::string_view tag = svg.substr(at + 1, end - at - 1);
    at = end + closing.size();
    if (comment || tag.starts_with('?') || tag.starts_with('!')) continue;
    if (tag.find('<') != tag.npos) return false;
    if (tag.starts_with('/')) {
      if (open.empty() || trimmed(tag.substr(1)) != open.back()) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(blank)));
    }
  }
  return open.empty();
}

}  // namespace

bool is_whole_figure(std::string_view bytes, std::string_view format) {
  if (format == "pdf") return is_whole_pdf(bytes);
  if (format == "png") return is_whole_png(bytes);
  return format == "svg" && is_whole_svg(bytes);
}

}  // namespace headwave
