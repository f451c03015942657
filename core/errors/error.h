#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// One thing to do about an error: give an option, with or without a value, or omit one. This is a fact, not
/// a sentence: the command line writes `--head-count 4`, Python `head_count=4`.
struct Remedy {
  enum class Kind { give, omit };

  Kind kind;
  std::string option;  ///< as in job files and Python: "head_count"
  std::string value;   ///< "50 or fewer"; may be empty
  std::string effect;  ///< purpose: "to go on"; may be empty

  bool operator==(const Remedy&) const = default;
};

/// The remedy of giving an option: give("documents", "50 or fewer"); give("resume", "", "to go on").
Remedy give(std::string option, std::string value = "", std::string effect = "");

/// The remedy of omitting an option: omit("apply_norm").
Remedy omit(std::string option, std::string effect = "");

/// Writes one remedy without its effect: "head_count=4" here, "--head-count 4" on the command line.
using RemedyWriter = std::string (*)(const Remedy& remedy);

/// Writes a remedy as in Python and job files: "head_count=4", "resume".
std::string remedy_as_argument(const Remedy& remedy);

/// All remedies as the end of a message: "; give head_count=4, or omit apply_norm to go on". "" if none.
std::string remedy_text(const std::vector<Remedy>& remedies, RemedyWriter written);

/// The base class of headwave's errors. An error carries facts: its kind (the class), the finding (file or
/// value, what was expected, what was found) and remedies. The texts for users are written by those who show
/// them.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& finding, std::vector<Remedy> remedies = {});
  Error(const std::string& finding, Remedy remedy);

  /// One sentence without a line break: file, expected, found.
  [[nodiscard]] std::string_view finding() const { return finding_; }

  [[nodiscard]] const std::vector<Remedy>& remedies() const { return remedies_; }

  /// what() with remedies written by `written` instead of as arguments.
  [[nodiscard]] std::string message(RemedyWriter written) const { return finding_ + remedy_text(remedies_, written); }

 private:
  std::string finding_;
  std::vector<Remedy> remedies_;
};

/// Two sizes that must agree do not.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A number that cannot be computed with: not finite, or out of the range the mathematics needs.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// A file was read, and its content is not what its format, or the model it describes, demands.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// A file could not be opened, read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

}  // namespace headwave
