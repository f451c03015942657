#include "../../data/arrays/safetensors.h"

#include <cstring>

#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}})")

// The bytes as they are, and as a header whose length is right, over data of two kinds of number.
FUZZ(bytes) {
  const auto read = [](std::string_view content) {
    const InputFile file(content);
    refused_in_one_line([&] {
      const SafetensorsFile tensors(file.path());
      for (const TensorInfo& tensor : tensors.tensors())
        if (tensors.bytes(tensor).size() != tensor.end - tensor.begin) std::abort();
    });
    refused_in_one_line([&] {
      const Checkpoint checkpoint(file.path());
      for (const std::string& name : checkpoint.names())
        refused_in_one_line([&] { (void)checkpoint.vector(name, checkpoint.info(name).size()); });
    });
  };
  read(bytes);
  const std::uint64_t length = bytes.size();
  std::string whole(sizeof length, '\0');
  std::memcpy(whole.data(), &length, sizeof length);
  read(whole.append(bytes).append(8, '\x7f'));
}
