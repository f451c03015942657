#pragma once

// GGUF files for tests, byte by byte.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// A GGUF file in the making. What is wrong with a file is what a test changes after, or says outright.
class GgufBytes {
 public:
  template <class Number>
  static std::string raw(Number number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  }
  static std::string text(const std::string& text) { return raw(std::uint64_t{text.size()}) + text; }

  /// A key whose value is already bytes: its type, and what follows.
  GgufBytes& key(const std::string& name, std::uint32_t type, const std::string& value) {
    keys_ += text(name) + raw(type) + value;
    ++key_count_;
    return *this;
  }
  GgufBytes& key(const std::string& name, const std::string& value) { return key(name, 8, text(value)); }
  GgufBytes& key(const std::string& name, const char* value) { return key(name, std::string(value)); }
  GgufBytes& key(const std::string& name, std::uint32_t value) { return key(name, 4, raw(value)); }
  GgufBytes& key(const std::string& name, float value) { return key(name, 6, raw(value)); }
  GgufBytes& key(const std::string& name, bool value) { return key(name, 7, raw(value)); }
  GgufBytes& texts(const std::string& name, const std::vector<std::string>& values) {
    std::string list = raw(std::uint32_t{8}) + raw(std::uint64_t{values.size()});
    for (const std::string& value : values) list += text(value);
    return key(name, 9, list);
  }
  GgufBytes& numbers(const std::string& name, const std::vector<float>& values) {
    std::string list = raw(std::uint32_t{6}) + raw(std::uint64_t{values.size()});
    for (const float value : values) list += raw(value);
    return key(name, 9, list);
  }
  GgufBytes& integers(const std::string& name, const std::vector<std::int32_t>& values) {
    std::string list = raw(std::uint32_t{5}) + raw(std::uint64_t{values.size()});
    for (const std::int32_t value : values) list += raw(value);
    return key(name, 9, list);
  }

  /// @param shape  as in the file: the axis that runs fastest first
  GgufBytes& tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
                    const std::string& bytes) {
    data_.resize((data_.size() + 31) / 32 * 32, '\0');
    listed(name, shape, type, data_.size());
    data_ += bytes;
    return *this;
  }
  GgufBytes& tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                    const std::vector<float>& values) {
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor(name, shape, 0, bytes);
  }
  /// A tensor in the list alone.
  GgufBytes& listed(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
                    std::uint64_t offset) {
    tensors_ += text(name) + raw(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t extent : shape) tensors_ += raw(extent);
    tensors_ += raw(type) + raw(offset);
    ++tensor_count_;
    return *this;
  }

  [[nodiscard]] std::string bytes(std::uint32_t version = 3) const {
    std::string all = "GGUF" + raw(version) + raw(tensor_count_) + raw(key_count_) + keys_ + tensors_;
    all.resize((all.size() + 31) / 32 * 32, '\0');
    return all + data_;
  }
  std::filesystem::path write(const std::filesystem::path& path, std::uint32_t version = 3) const {
    std::ofstream(path, std::ios::binary) << bytes(version);
    return path;
  }

 private:
  std::string keys_, tensors_, data_;
  std::uint64_t key_count_ = 0, tensor_count_ = 0;
};
