#include <exception>

#include <fmt/format.h>

#include "../core/errors/error.h"
#include "../job/run/provenance.h"
#include "python.h"

namespace headwave::python {

namespace {

/// A remedy as a Python argument, such as "heads=4" or "any_states=True". An argument to omit is named without a value.
std::string remedy_in_python(const Remedy& remedy) {
  const std::string name = remedy.option == "head_count"  ? "heads"
                           : remedy.option == "intervene" ? "interventions"
                                                          : remedy.option;
  if (remedy.kind == Remedy::Kind::omit) return name;
  return name + "=" + (remedy.value.empty() ? "True" : remedy.value);
}

/// Sets an attribute. False: the value is of another type, or too large for it.
template <class Value>
bool set(Attribute& into, nb::handle value) {
  Value read{};
  if (!nb::try_cast<Value>(value, read)) return false;
  into = std::move(read);
  return true;
}

/// Raises the exception of this name in headwave.errors.
void raise(const char* name, const Error& error) {
  const nb::object type = nb::module_::import_("headwave.errors").attr(name);
  PyErr_SetObject(type.ptr(), text_of(error.message(remedy_in_python)).ptr());
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ShapeError& error) {
    raise("ShapeError", error);
  } catch (const NumericError& error) {
    raise("NumericError", error);
  } catch (const FormatError& error) {
    raise("FormatError", error);
  } catch (const IoError& error) {
    raise("IoError", error);
  } catch (const Error& error) {
    raise("Error", error);
  }
}

}  // namespace

nb::str text_of(const std::string& bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

nb::dict dict_of(const Attributes& attributes) {
  nb::dict dict;
  for (const auto& [name, value] : attributes)
    dict[name.c_str()] = std::visit(
        [](const auto& of_type) -> nb::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(of_type)>, std::string>)
            return text_of(of_type);
          else
            return nb::cast(of_type);
        },
        value);
  return dict;
}

Attributes attributes_of(const nb::dict& dict) {
  Attributes attributes;
  for (const auto& [name, value] : dict) {
    const auto called = nb::cast<std::string>(name);
    Attribute& into = attributes[called];
    const bool is_set = nb::isinstance<nb::str>(value)    ? set<std::string>(into, value)
                        : nb::isinstance<nb::int_>(value) ? set<std::int64_t>(into, value)
                                                          : set<double>(into, value);
    if (!is_set)
      throw FormatError(fmt::format("attribute '{}' is of type {}; expected a str, an int of 64 bits, or a float",
                                    called, nb::cast<std::string>(nb::str(nb::type_name(value.type())))));
  }
  return attributes;
}

void add_errors(nb::module_& /*module*/) {
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace headwave::python

NB_MODULE(_core, module) {
  using namespace headwave::python;
  module.doc() = "What headwave's C++ libraries give to Python. Use the package, not this: names here may change.";
  module.attr("version") = HEADWAVE_VERSION;
  module.attr("commit") = headwave::build_commit();
  add_errors(module);
  add_results(module);
  add_attention(module);
  add_inputs(module);
  add_profiles(module);
  add_studies(module);
  add_capture(module);
}
