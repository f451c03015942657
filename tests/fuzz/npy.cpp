#include "../../data/arrays/npy.h"

#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
           "{'descr': '>i8', 'fortran_order': True, 'shape': (1,), }")

FUZZ(bytes) {
  // As a file of version 1 with the header before 64 bytes of data, and as it is.
  std::string whole("\x93NUMPY\x01\0", 8);
  whole += static_cast<char>(bytes.size() & 0xFFU);
  whole += static_cast<char>(bytes.size() >> 8U & 0xFFU);
  whole.append(bytes).append(64, '\x01');
  for (const std::string_view content : {std::string_view(whole), bytes}) {
    const InputFile file(content);
    refused_in_one_line([&] {
      const FileBytes read(file.path());
      const NpyInfo info = npy_info(read, "t");
      (void)read_block(read, placed_numbers(info, "t"), whole_block(info.shape));
    });
    refused_in_one_line([&] {
      const FileBytes read(file.path());
      (void)npy_texts(read, npy_info(read, "t"), "t");
    });
  }
}
