#pragma once

#include <stdexcept>

namespace headwave {

/// Everything headwave throws. `what()` is one line: which file or function, what was expected, what came, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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

/// A file was read, and what it holds is not what its format or the model it describes demands.
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
