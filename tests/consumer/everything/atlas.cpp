// The offset that positions alone predict for every head of a checkpoint, without any text.
#include <cmath>
#include <cstdio>

#include "headwave/analysis/why/position_atlas.h"
#include "headwave/core/errors/error.h"
#include "headwave/core/fields/head_name.h"
#include "headwave/data/models/model_directory.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "atlas MODEL_DIR\n");
    return 2;
  }
  const headwave::Model model = headwave::open_model({argv[1]});
  const headwave::Field offset = headwave::position_atlas(model.stack).front();  // (layer, head)
  const std::size_t heads = offset.axes.back().size();
  for (std::size_t row = 0; row < offset.doubles().size(); ++row) {
    const auto layer = static_cast<headwave::Index>(row / heads), head = static_cast<headwave::Index>(row % heads);
    if (std::isnan(offset.doubles()[row])) continue;
    std::printf("%s %+.0f\n", headwave::head_name(layer, head).c_str(), offset.doubles()[row]);
  }
  return 0;
} catch (const headwave::Error& error) {
  std::fprintf(stderr, "atlas: %s\n", error.what());
  return 1;
}
