// Reading stored states, a document of 512 x 384 floats at a time, from files that the system holds in memory: HDF5
// against the library alone, and .npy against the bytes themselves.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hdf5.h>

#include "../data/files/file_bytes.h"
#include "../data/hdf5/hdf5_file.h"
#include "../data/sources/named_arrays.h"
#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index documents = 64, length = 512, width = 384, entries = length * width;
constexpr std::size_t npy_header_bytes = 128;

/// The files, which exist until the program ends.
class Files {
 public:
  Files() {
    std::filesystem::create_directories(folder_);
    Random random(1);
    std::vector<float> values(documents * entries);
    for (float& value : values) value = static_cast<float>(random.normal());
    write_npy(values);
    write_hdf5(values, H5P_DEFAULT, plain());
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1, length, width};
    H5Pset_chunk(packed, 3, chunk);
    write_hdf5(values, packed, chunks());
    H5Pset_shuffle(packed);
    H5Pset_deflate(packed, 4);
    write_hdf5(values, packed, gzip());
    const hsize_t over_documents[] = {4, 64, 48};  // what h5py chooses by itself
    H5Pset_chunk(packed, 3, over_documents);
    write_hdf5(values, packed, shared());
    H5Pclose(packed);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string plain() const { return folder_ / "plain.h5"; }
  [[nodiscard]] std::string chunks() const { return folder_ / "chunks.h5"; }
  [[nodiscard]] std::string gzip() const { return folder_ / "gzip.h5"; }
  [[nodiscard]] std::string shared() const { return folder_ / "shared.h5"; }
  [[nodiscard]] std::string npy() const { return folder_ / "states.npy"; }

 private:
  void write_npy(const std::vector<float>& values) const {
    std::string header =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, {}), }}", documents, length, width);
    header.resize(npy_header_bytes - 11, ' ');
    std::ofstream file(npy(), std::ios::binary);
    file << std::string("\x93NUMPY\x01\0v\0", 10) << header << '\n';
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  static void write_hdf5(const std::vector<float>& values, hid_t layout, const std::string& path) {
    const hsize_t shape[] = {documents, length, width};
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, shape, nullptr);
    const hid_t data = H5Dcreate2(file, "states", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "headwave_stored_rows";
};

using Path = std::string (Files::*)() const;

const Files& files() {
  static const Files made;
  return made;
}

/// Reads the documents in turn into one matrix.
template <class Read>
void read_in_turn(benchmark::State& state, Read read) {
  Matrix32 matrix(length, width);
  Index document = 0;
  for (auto _ : state) {
    read(document, std::span(matrix.data(), static_cast<std::size_t>(matrix.size())));
    document = (document + 1) % documents;
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * entries * static_cast<Index>(sizeof(float)));
}

void stored_rows_library(benchmark::State& state, Path path) {
  const hid_t file = H5Fopen((files().*path)().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "states", H5P_DEFAULT), space = H5Dget_space(data);
  const hsize_t count[] = {1, length, width};
  const hid_t memory = H5Screate_simple(3, count, nullptr);
  read_in_turn(state, [&](Index document, std::span<float> into) {
    const hsize_t first[] = {static_cast<hsize_t>(document), 0, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr);
    H5Dread(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, into.data());
  });
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
}

void stored_rows_headwave(benchmark::State& state, Path path) {
  const Hdf5File file((files().*path)());
  read_in_turn(state, [&](Index document, std::span<float> into) {
    std::ranges::copy(file.floats("/states", {{document, 0, 0}, {1, length, width}}), into.begin());
  });
}

void stored_rows_npy_bytes(benchmark::State& state) {
  const FileBytes bytes(files().npy());
  read_in_turn(state, [&](Index document, std::span<float> into) {
    bytes.read(npy_header_bytes + static_cast<std::size_t>(document) * into.size_bytes(), std::as_writable_bytes(into));
  });
}

void stored_rows_npy(benchmark::State& state) {
  const auto arrays = open_arrays(files().npy());
  const std::string name = arrays->names().front();
  read_in_turn(state, [&](Index document, std::span<float> into) {
    std::ranges::copy(arrays->block(name, {{document, 0, 0}, {1, length, width}}), into.begin());
  });
}

}  // namespace

BENCHMARK_CAPTURE(stored_rows_library, plain, &Files::plain)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_library, chunks, &Files::chunks)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_library, gzip, &Files::gzip)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_library, shared, &Files::shared)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_headwave, plain, &Files::plain)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_headwave, chunks, &Files::chunks)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_headwave, gzip, &Files::gzip)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(stored_rows_headwave, shared, &Files::shared)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(stored_rows_npy_bytes)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(stored_rows_npy)->Unit(benchmark::kMicrosecond)->UseRealTime();
