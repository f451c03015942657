#include "job_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../data/files/input_text.h"
#include "../../data/files/printable.h"
#include "../../data/files/toml_reader.h"
#include "input_options.h"

namespace headwave::cli {

namespace {

enum class Kind { flag, whole, real, path, text, list };

/// What an option takes, from its declaration: type names are the parser's, or those in --help.
Kind kind_of(const CLI::Option& option) {
  if (option.get_expected_min() == 0) return Kind::flag;
  if (option.get_expected_max() > 1) return Kind::list;
  const std::string name = option.get_type_name();
  const std::string type = name.substr(0, name.find(':'));
  if (type == "INT" || type == "UINT" || type == "N") return Kind::whole;
  if (type == "FLOAT") return Kind::real;
  return type == "FILE" || type == "DIR" ? Kind::path : Kind::text;
}

std::string key_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : option.get_lnames().front();
}

class JobFile {
 public:
  JobFile(CLI::App& command, const std::filesystem::path& file) : command_(command), file_(file) {
    for (CLI::Option* option : command.get_options({}))
      if (!option->empty()) typed_.insert(option);
  }

  void apply(const std::string& text) {
    const toml::table table = toml_of_text(file_, text);
    for (const auto& [key, value] : table) apply(std::string(key.str()), value);
  }

 private:
  [[noreturn]] void refuse(const toml::node& at, const std::string& problem) const {
    throw FormatError(fmt::format("{}: line {}: {}", file_.string(), at.source().begin.line, problem));
  }

  [[nodiscard]] CLI::Option& option_of(const std::string& key, const toml::node& at) const {
    CLI::Option* option = key.empty() ? nullptr : command_.get_option_no_throw("--" + key);
    if (option != nullptr && option->get_configurable()) return *option;
    std::vector<std::string> known;
    for (const CLI::Option* other : command_.get_options({}))
      if (other->get_configurable() && !key_of(*other).empty()) known.push_back(key_of(*other));
    const std::string meant = did_you_mean(key, known);
    refuse(at, fmt::format("there is no key '{}'{}", printable(key),
                           meant.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : meant));
  }

  void apply(const std::string& key, const toml::node& value) {
    CLI::Option& option = option_of(key, value);
    if (typed_.contains(&option)) return;
    for (CLI::Option* other : option.get_excludes()) {
      if (typed_.contains(other)) return;
      if (!other->empty())
        refuse(value, fmt::format("'{}' and '{}' cannot be combined; keep one of them", key, key_of(*other)));
    }
    std::vector<std::string> words = words_of(option, key, value);
    if (words.empty()) return;
    try {
      option.add_result(std::move(words));
      option.run_callback();
    } catch (const CLI::ParseError& error) {
      refuse(value, error.what());
    }
  }

  /// The value as it would be typed; nothing for a flag that is false.
  [[nodiscard]] std::vector<std::string> words_of(const CLI::Option& option, const std::string& key,
                                                  const toml::node& value) const {
    const Kind kind = kind_of(option);
    std::vector<std::string> words;
    if (const auto* flag = value.as_boolean(); kind == Kind::flag && flag != nullptr)
      return flag->get() ? std::vector{option.get_flag_value(key, "true")} : words;
    if (const auto* number = value.as_integer(); kind == Kind::whole && number != nullptr)
      return {std::to_string(number->get())};
    if (kind == Kind::real && value.is_number()) return {fmt::format("{}", *value.value<double>())};
    if (const auto* text = value.as_string(); (kind == Kind::text || kind == Kind::path) && text != nullptr)
      return {text->get()};
    if (const auto* list = value.as_array(); kind == Kind::list && list != nullptr) {
      for (const toml::node& word : *list)
        if (const auto* text = word.as_string()) words.push_back(text->get());
      if (words.size() == list->size()) return words;
    }
    refuse(value, fmt::format("'{}' should be {}", key,
                              kind == Kind::flag    ? "true or false"
                              : kind == Kind::whole ? "a whole number"
                              : kind == Kind::real  ? "a number"
                              : kind == Kind::list  ? "a list of strings"
                                                    : "a string in quotes"));
  }

  CLI::App& command_;
  std::filesystem::path file_;
  std::set<const CLI::Option*> typed_;
};

Setting setting_of(const CLI::Option& option, const std::vector<std::string>& words) {
  const Kind kind = kind_of(option);
  const std::string& word = words.back();
  if (kind == Kind::flag) return word == option.get_flag_value(key_of(option), "true");
  if (kind == Kind::whole) return static_cast<std::int64_t>(std::stoll(word));
  if (kind == Kind::real) return std::stod(word);
  if (kind == Kind::list) {
    std::vector<std::string> list = words;
    if (option.get_type_name() == "DIRS" || option.get_type_name() == "FILE")
      std::ranges::transform(list, list.begin(), remembered_path);
    return list;
  }
  // "-" is standard input wherever the program runs; a sentence is not a path.
  return kind == Kind::path && word != "-" && !is_sentence(word) ? remembered_path(word) : word;
}

}  // namespace

void add_job_file_option(CLI::App& command, std::filesystem::path& file) {
  command
      .add_option("--job", file,
                  "TOML file of options by their long names, such as documents = 50; typed options take precedence")
      ->type_name("FILE")
      ->configurable(false);
}

void read_job_file(CLI::App& command, const std::filesystem::path& file) {
  const InputText input(file, {.expected = "a job as TOML in UTF-8"});
  read_job_text(command, std::string(input.text()), file);
}

void read_job_text(CLI::App& command, const std::string& text, const std::filesystem::path& name) {
  JobFile(command, name).apply(text);
}

std::string remembered_path(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path), shorter = whole.lexically_normal();
  std::error_code ignored;  // if there is no such file
  return (std::filesystem::equivalent(whole, shorter, ignored) ? shorter : whole).string();
}

std::string job_text(const CLI::App& command, const std::set<std::string>& without) {
  Settings settings;
  for (const CLI::Option* option : command.get_options({})) {
    if (!option->get_configurable() || without.contains(key_of(*option))) continue;
    if (!option->empty())
      settings[key_of(*option)] = setting_of(*option, option->reduced_results());
    else if (!option->get_default_str().empty() && kind_of(*option) != Kind::list)
      settings[key_of(*option)] = setting_of(*option, {option->get_default_str()});
  }
  return toml_text(settings);
}

}  // namespace headwave::cli
