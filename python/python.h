#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "../core/attention/document.h"
#include "../core/fields/field.h"

namespace headwave::python {

namespace nb = nanobind;

// Each of these functions adds the bindings of one source file to the module.
void add_errors(nb::module_& module);
void add_results(nb::module_& module);
void add_attention(nb::module_& module);
void add_inputs(nb::module_& module);
void add_profiles(nb::module_& module);
void add_studies(nb::module_& module);
void add_capture(nb::module_& module);

/// Makes a str from bytes that may not be UTF-8. Invalid bytes become U+FFFD.
nb::str text_of(const std::string& bytes);

/// Converts attributes to a dict of str, numbers and lists of numbers.
nb::dict dict_of(const Attributes& attributes);
/// Converts a dict back to attributes.
/// @throws FormatError if a value is neither a str nor a number, such as a list
Attributes attributes_of(const nb::dict& dict);

}  // namespace headwave::python
