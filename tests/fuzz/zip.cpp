#include <string>

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
    const FileBytes read(file.path());
    for (const ZipMember& member : zip_members(read))
      refused_in_one_line([&] { (void)read.part(member.first, member.bytes).text(0, 4096); });
  });
}
