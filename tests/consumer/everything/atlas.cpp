// The offset that positions alone predict for every head of a checkpoint, without any text.
#include <cmath>
#include <cstdio>

#include "headwave/analysis/why/position_atlas.h"
#include "headwave/core/errors/error.h"
#include "headwave/data/models/model_directory.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "atlas MODEL_DIR\n");
    return 2;
  }
  const headwave::Model model = headwave::open_model({argv[1]});
  const headwave::PositionAtlas atlas = headwave::position_atlas(model.stack);
  const auto names = headwave::heads_of(atlas.grid);
  for (std::size_t row = 0; row < names.size(); ++row) {
    const double offset = atlas.offset[static_cast<headwave::Index>(row)];
    if (std::isnan(offset)) continue;
    std::printf("%s %+.0f\n", headwave::head_name(names[row].layer, names[row].head).c_str(), offset);
  }
  return 0;
} catch (const headwave::Error& error) {
  std::fprintf(stderr, "atlas: %s\n", error.what());
  return 1;
}
