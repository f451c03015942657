#pragma once

#include <cstddef>

namespace headwave {

/// How many times as long as the processor time that an answer is granted it may take by the clock: machines are shared,
/// and disks slow.
constexpr int hdf5_slowness = 12;

/// How long answers about one file may take in all, beside what each is granted.
struct Hdf5Seconds {
  double processor = 0, clock = 0;
};

/// Ends this process where its answers about a file take too long: there is so much time for the file, beside 20 ms of
/// processor time for each answer and what handing over its numbers and unpacking its chunks may take (a second for
/// 100 MB). So a damaged file that makes the library slow keeps nobody waiting longer by being asked more; a sound one can
/// be asked for ever. By SIGPROF, or SIGALRM by the clock; both have to be as they were at the beginning (SIG_DFL).
class Hdf5Patience {
 public:
  explicit Hdf5Patience(Hdf5Seconds left) : left_(left) {}

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
  /// What is left for the file if the answer ended now.
  [[nodiscard]] Hdf5Seconds left() const;

  static Hdf5Patience* limiting;  ///< between begin() and end()
  Hdf5Seconds left_, began_;
  double granted_ = 0;
};

}  // namespace headwave
