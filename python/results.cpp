#include <filesystem>

#include <fmt/format.h>

#include "../core/errors/error.h"
#include "../data/files/replaced_file.h"
#include "../data/results/result_file.h"
#include "../reports/drawing/gnuplot.h"
#include "../reports/drawing/visible_text.h"
#include "../reports/figures/chosen_heads.h"
#include "../reports/figures/figures.h"
#include "../reports/page/report.h"
#include "../reports/tables/comparison_table.h"
#include "../reports/tables/exported_tables.h"
#include "../reports/tables/head_table.h"
#include "waiting.h"

namespace headwave::python {

namespace {

namespace fs = std::filesystem;

/// Values of a result: numbers as a numpy array that shares its memory, texts as a list.
class Values {
 public:
  /// @param owner  the Python object that keeps the result
  Values(nb::handle owner, std::vector<std::size_t> shape) : owner_(owner), shape_(std::move(shape)) {}

  nb::object operator()(const std::vector<std::string>& texts) const {
    nb::list list;
    for (const std::string& text : texts) list.append(text_of(text));
    return list;
  }
  template <class Number>
  nb::object operator()(const std::vector<Number>& numbers) const {
    return nb::cast(nb::ndarray<nb::numpy, const Number>(numbers.data(), shape_.size(), shape_.data(), owner_),
                    nb::rv_policy::reference);
  }

 private:
  nb::handle owner_;
  std::vector<std::size_t> shape_;
};

nb::dict dict_of_axis(const Axis& axis, nb::handle owner) {
  nb::dict dict;
  dict["name"] = text_of(axis.name);
  dict["units"] = text_of(axis.unit);
  dict["long_name"] = text_of(axis.long_name);
  dict["values"] = std::visit(Values(owner, {static_cast<std::size_t>(axis.size())}), axis.values);
  return dict;
}

nb::dict dict_of_field(const Field& field, nb::handle owner) {
  std::vector<std::size_t> shape;
  nb::list axes;
  for (const Axis& axis : field.axes) {
    shape.push_back(static_cast<std::size_t>(axis.size()));
    axes.append(dict_of_axis(axis, owner));
  }
  nb::dict dict;
  dict["name"] = text_of(field.name);
  dict["axes"] = axes;
  dict["units"] = text_of(field.unit);
  dict["long_name"] = text_of(field.long_name);
  dict["values"] = std::visit(Values(owner, shape), field.values);
  dict["flag_meanings"] = field.flag_meanings;
  dict["attributes"] = dict_of(field.attributes);
  return dict;
}

nb::list fields_of(nb::handle self) {
  nb::list list;
  for (const Field& field : nb::cast<const Result&>(self).fields) list.append(dict_of_field(field, self));
  return list;
}

/// @throws IoError if the file exists and may not be replaced
void save(const Result& result, const fs::path& path, bool overwrite) {
  wait_for([&] {
    ReplacedFile file(path, overwrite);
    write_result(result, file);
    file.commit();
  });
}

nb::bytes figure(const Result& result, const std::string& name, const std::vector<std::string>& heads,
                 const std::string& format, double width) {
  const std::string drawn = waited_for([&] {
    FigureOptions options;
    options.heads = heads_asked_for(result, heads);
    options.formats = {format};
    options.width = width;
    require_gnuplot();
    require_width(width);
    const FigureKind& kind = *drawable(result, {.only = {name}}).kinds.front();
    return kind.draw(result, options).drawn(name, {format}).front();
  });
  return nb::bytes(drawn.data(), drawn.size());
}

std::vector<std::string> figures(const Result& result) {
  std::vector<std::string> names;
  for (const FigureKind* kind : drawable(result).kinds) names.push_back(kind->name);
  return names;
}

/// A paragraph that sums up a result, and a table: of the heads that changed in a comparison, otherwise of the heads
/// that look most strongly. Empty if there are no heads.
std::string answer(const Result& result) {
  if (comparison_sentence(result).empty()) {
    const std::vector<TableColumn> columns = shown_columns(result, {});
    return columns.empty() ? "" : head_answer(result, columns);
  }
  const std::vector<TableColumn> columns = comparison_columns(result, false, false);
  return wrapped_text(comparison_paragraph(result)) + "\n" +
         (columns.front().cells.empty() ? "" : "\n" + terminal_table(columns));
}

nb::str report(const Result& result) {
  return text_of(waited_for([&] { return report_page(result); }));
}

}  // namespace

void add_results(nb::module_& module) {
  nb::class_<Result>(module, "Result", "The result of a job: named arrays, and how they were computed.")
      .def_ro("title", &Result::title)
      .def_prop_ro("provenance", [](const Result& result) { return dict_of(result.provenance); })
      .def(
          "fields", [](nb::handle_t<Result> self) { return fields_of(self); }, "Every array, as a dict.")
      .def("save", &save, nb::arg("path"), nb::arg("overwrite"), "Writes the result file, whole or not at all.")
      .def("figure", &figure, nb::arg("name"), nb::arg("heads"), nb::arg("format"), nb::arg("width"),
           "Draws a figure, and returns the bytes of its file.")
      .def("figures", &figures, "Names of the figures that can be drawn.")
      .def(
          "answer", [](const Result& result) { return text_of(answer(result)); },
          "A paragraph and a table for a terminal.")
      .def(
          "head_rows", [](const Result& result) { return comma_separated(head_rows(result)); },
          "A row for each head as CSV; one empty line without heads.")
      .def("report", &report, "The page to explore the result with, as HTML.");
  module.def(
      "figure_width",
      [](const std::string& words) {
        if (const auto inches = figure_width(words)) return *inches;
        throw FormatError(fmt::format("width='{}': expected \"column\", \"page\", or inches", words));
      },
      nb::arg("words"), "The width of a figure in inches.");
  module.def(
      "open_result", [](const fs::path& path) { return waited_for([&] { return read_result(path); }); },
      nb::arg("path"), "Reads a result file.");
}

}  // namespace headwave::python
