#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// Advice on how to avoid an error: give an option, with or without a value, or omit an option. It is not a
/// sentence, since the command line writes `--head-count 4` where Python writes `head_count=4`.
struct Remedy {
  enum class Kind { give, omit };

  Kind kind;
  std::string option;  ///< name in job files and in Python, for example "head_count"
  std::string value;   ///< for example "50 or fewer"; may be empty
  std::string effect;  ///< what the remedy achieves, for example "to go on"; may be empty

  bool operator==(const Remedy&) const = default;
};

/// The remedy that gives an option, as in give("documents", "50 or fewer") or give("resume", "", "to go on").
Remedy give(std::string option, std::string value = "", std::string effect = "");

/// The remedy that omits an option, for example omit("apply_norm").
Remedy omit(std::string option, std::string effect = "");

/// A function that writes one remedy without its effect, for example as "head_count=4" or "--head-count 4".
using RemedyWriter = std::string (*)(const Remedy& remedy);

/// Writes a remedy as in Python and job files, for example "head_count=4" or "resume".
std::string remedy_as_argument(const Remedy& remedy);

/// Writes all remedies as the end of a message, for example "; give head_count=4, or omit apply_norm to go
/// on". The text is empty if there are no remedies.
std::string remedy_text(const std::vector<Remedy>& remedies, RemedyWriter written);

/// The base class of headwave's errors. An error carries facts: its kind (the class), its finding and its
/// remedies. The code that shows an error writes the text for the user.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& finding, std::vector<Remedy> remedies = {});
  Error(const std::string& finding, Remedy remedy);

  /// One sentence without a line break: which file or value is wrong, what was expected and what was found.
  [[nodiscard]] std::string_view finding() const { return finding_; }

  [[nodiscard]] const std::vector<Remedy>& remedies() const { return remedies_; }

  /// The text of what(), but with remedies that `written` writes.
  [[nodiscard]] std::string message(RemedyWriter written) const { return finding_ + remedy_text(remedies_, written); }

 private:
  std::string finding_;
  std::vector<Remedy> remedies_;
};

/// Sizes differ that must be equal, or do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A number is not finite, or is outside the range that the computation allows.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// The content of a file is invalid: it violates the file's format or does not fit the model it describes.
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
