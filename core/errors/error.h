#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// One thing to do about an error: an option to give, with a value or without, or an option to omit. A fact, not a
/// sentence: the command line writes `--head-count 4`, Python `head_count=4`.
struct Remedy {
  enum class Kind { give, omit };

  Kind kind;
  std::string option;  ///< as in job files and Python: "head_count"
  std::string value;   ///< "50 or fewer"; may be empty
  std::string effect;  ///< what that does, "to go on"; may be empty

  bool operator==(const Remedy&) const = default;
};

/// The remedy of giving an option: give("documents", "50 or fewer"); give("resume", "", "to go on").
Remedy give(std::string option, std::string value = "", std::string effect = "");

/// The remedy of leaving an option out: omit("apply_norm").
Remedy omit(std::string option, std::string effect = "");

/// How one remedy is written, without its effect: "head_count=4" here, "--head-count 4" on the command line.
using RemedyWriter = std::string (*)(const Remedy& remedy);

/// "head_count=4", "resume": as in Python and job files.
std::string remedy_as_argument(const Remedy& remedy);

/// "; give head_count=4, or omit apply_norm to take the states as they are": all remedies as the end of a message;
/// nothing where there is none.
std::string remedy_text(const std::vector<Remedy>& remedies, RemedyWriter written);

/// Everything headwave throws. It carries facts: the kind of error (its class), the finding (which file or value, what was
/// expected, what was found) and what to do about it. Whoever shows it to a user makes the words.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& finding, std::vector<Remedy> remedies = {});
  Error(const std::string& finding, Remedy remedy);

  /// One sentence without a line break: file, expected, found.
  [[nodiscard]] std::string_view finding() const { return finding_; }

  [[nodiscard]] const std::vector<Remedy>& remedies() const { return remedies_; }

  /// what() is the finding and the remedies as arguments; this is the same with remedies written by `written`.
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
