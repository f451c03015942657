#include <cstdint>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/replaced_file.h"
#include "safetensors_file.h"

namespace headwave {

namespace {

std::size_t bytes_of(const NamedTensor& tensor) {
  std::size_t bytes = sizeof(float);
  for (const Index size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      throw ShapeError(fmt::format("write_safetensors: tensor '{}' has the impossible shape {}", printable(tensor.name),
                                   shape_text(tensor.shape)));
  return bytes;
}

// The data begins on a multiple of 8, so that every float lies aligned in the mapping.
std::string header_of(const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string> names = {"__metadata__"};
  std::size_t begin = 0;
  for (const NamedTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      throw ShapeError(fmt::format("write_safetensors: the name '{}' is taken", printable(tensor.name)));
    const std::size_t end = begin + bytes_of(tensor);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  ReplacedFile replaced(path);
  write_safetensors(replaced, tensors, metadata);
  replaced.commit();
}

void write_safetensors(ReplacedFile& file, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(header);
  for (const NamedTensor& tensor : tensors)
    file.write({reinterpret_cast<const char*>(tensor.values), bytes_of(tensor)});
}

}  // namespace headwave
