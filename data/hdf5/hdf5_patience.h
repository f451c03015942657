#pragma once

#include <cstddef>

namespace headwave {

/// How many times as long as its processor time an answer may take by the clock: machines are shared, and disks slow.
constexpr int hdf5_slowness = 12;

/// Ends this process where its answers about a file take too long: there is so much processor time for the file, beside
/// 20 ms for each answer and what handing over its numbers and unpacking its chunks may take (a second for 100 MB). So a
/// damaged file that makes the library slow keeps nobody waiting longer by being asked more; a sound one can be asked for
/// ever. By SIGPROF, or SIGALRM by the clock; both have to be as they were at the beginning (SIG_DFL).
class Hdf5Patience {
 public:
  /// @param seconds  of processor time
  explicit Hdf5Patience(double seconds) : left_(seconds) {}

  /// An answer begins.
  void begin();
  /// Its numbers come to so many bytes.
  void grant(std::size_t bytes);
  /// It is there: until the next one nothing is limited.
  void end();

  /// A chunk was unpacked to so many bytes, and will be once more when the library reads it: of a document that shares
  /// its chunk with others that is far more than its numbers. Nothing where nothing is limited.
  static void unpacked(std::size_t bytes);

 private:
  void limit() const;

  static Hdf5Patience* limiting;  ///< between begin() and end()
  double left_, began_ = 0, granted_ = 0;
};

}  // namespace headwave
