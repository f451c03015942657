#include "../../data/images/image_file.h"
#include "../../data/images/image_preparation.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS("\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0",
           "{\"size\": 8, \"image_mean\": [0, 0, 0], \"image_std\": [1, 1, 1]}")

FUZZ(bytes) {
  refused_in_one_line([&] { (void)image_of(bytes, "t.png"); });
  refused_in_one_line([&] {
    const ImagePreparation preparation = image_preparation_of(std::string(bytes), "t.json", "vit");
    if (preparation.size().height * preparation.size().width < 1000) (void)prepared(Image::of(7, 9), preparation, "t");
  });
}
