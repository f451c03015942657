#include <algorithm>
#include <string>
#include <vector>

#include "../../data/files/zip_archive.h"
#include "fuzz.h"

using namespace headwave;

namespace {

/// An archive of nothing.
const std::string empty("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);

}  // namespace

FUZZ_SEEDS(empty)

FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] {
    const auto read = std::make_shared<const FileBytes>(file.path());
    for (const ZipMember& member : zip_members(*read))
      refused_in_one_line([&] {
        const ZipBytes content(read, member);
        std::vector<std::byte> beginning(std::min<std::size_t>(content.size(), 4096));
        content.read(0, beginning);
        if (content.size() <= std::size_t{1} << 20U) (void)content.text(0, content.size());
      });
  });
}
