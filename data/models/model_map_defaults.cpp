#include "model_map_defaults.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr Index most_side = 65536;  // of an image: products of three still fit an Index

}  // namespace

StackMap completed(StackMap stack, const std::string& place) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw FormatError(fmt::format("{}: {}; docs/model-map.md explains the keys", place, what));
  };
  BlockSpec& block = stack.block;
  ImageMap& image = stack.image;
  const SoundMap& sound = stack.sound;
  image.grid.first = static_cast<Index>(image.opening.size());
  require(stack.layers > 0 && (stack.vocabulary > 0 || !image.empty() || !sound.empty()) && stack.d_model > 0 &&
              stack.d_feed_forward > 0 && block.heads > 0,
          "expected 'layers', 'vocabulary', 'd_model', 'd_feed_forward' and 'heads', each at least 1");
  if (block.kv_heads == 0) block.kv_heads = block.heads;
  require(block.heads % block.kv_heads == 0, "'kv_heads' must divide 'heads'");
  require(block.d_head > 0 || stack.d_model % block.heads == 0, "'heads' does not divide 'd_model'; give 'd_head'");
  if (block.d_head == 0) block.d_head = stack.d_model / block.heads;
  if (block.score_scale == 0) block.score_scale = 1.0 / std::sqrt(static_cast<double>(block.d_head));
  OthersMap& others = stack.others;
  for (PositionMap* positions : {&stack.positions, &others.positions}) {
    if (positions->kind != PositionKind::rotary) continue;
    RotaryOptions& rotary = positions->rotary;
    if (rotary.channels == 0) rotary.channels = block.d_head;
    require(rotary.channels % 2 == 0 && rotary.channels <= block.d_head,
            "'channels' of rotary positions must be even and at most 'd_head'");
    require(rotary.base > 0 && rotary.factor > 0, "'base' and 'factor' of rotary positions must be above 0");
    require(rotary.scaling == RotaryScaling::none || rotary.scaling == RotaryScaling::linear || rotary.trained > 0,
            "'trained' is needed for this scaling of rotary positions");
  }
  const bool both_turn = stack.positions.kind == PositionKind::rotary && others.positions.kind == PositionKind::rotary;
  require(others.positions.kind == PositionKind::none || others.positions.kind == PositionKind::rotary,
          "positions of 'others' are rotary or none");
  require(!both_turn || (others.positions.rotary.channels == stack.positions.rotary.channels &&
                         others.positions.rotary.pairing == stack.positions.rotary.pairing),
          "rotary positions of 'others' must have the stack's 'channels' and 'pairing'");
  for (std::size_t i = 0; i < others.layers.size(); ++i)
    require(
        others.layers[i] >= 0 && others.layers[i] < stack.layers && (i == 0 || others.layers[i] > others.layers[i - 1]),
        "'layers' of 'others' must be layers of the stack in ascending order");
  require(block.window >= 0 && others.window >= 0 && block.soft_cap >= 0 && stack.d_embedding >= 0,
          "'window', 'soft_cap' and 'd_embedding' cannot be below 0");
  require((stack.d_embedding > 0) == !stack.embedding_projection.empty(),
          "'d_embedding' and 'embedding_projection' belong together");
  const bool compared = stack.positions.kind == PositionKind::disentangled;
  const DisentangledMap& disentangled = stack.positions.disentangled;
  require(compared == (!stack.position_key.empty() || !stack.position_query.empty()),
          "disentangled positions and 'position_key' or 'position_query' belong together");
  require(!compared || !disentangled.vectors.empty(), "disentangled positions need 'vectors'");
  require(!compared || DisentangledTerm::allows(disentangled.rows),
          "'buckets' of disentangled positions are 0 or at least 2, and 'farthest' at least 1, more than half of them");
  require(!stack.positions.has_table() || stack.positions.rows > stack.positions.first_row,
          "a position table needs more 'rows' than 'first_row'");
  for (const Index side :
       {image.grid.rows, image.grid.columns, image.grid.height, image.grid.width, image.grid.channels})
    require(image.empty() || (side > 0 && side <= most_side),
            "[image] needs 'rows', 'columns', 'patch_height', 'patch_width' and 'channels', each 1 to 65536");
  require(image.empty() || (stack.words.empty() && stack.positions.kind == PositionKind::table &&
                            stack.positions.rows == image.grid.positions() && stack.positions.first_row == 0),
          "a model of images has no 'words', and a position table of a row for each opening token and patch");
  require(sound.empty() == sound.second.empty() && sound.empty() == (sound.bins == 0) && sound.bins >= 0 &&
              sound.bins <= most_side,
          "[sound] needs 'bins', 1 to 65536, 'first' and 'second'");
  require(sound.empty() || (stack.words.empty() && image.empty() && stack.positions.kind == PositionKind::table &&
                            stack.positions.first_row == 0),
          "a model of sound has no 'words' and no [image], and a position table of a row for every two frames");
  require((!stack.words.empty() || !image.empty() || !sound.empty()) && !stack.self.query.empty() &&
              !stack.self.key.empty() && !stack.self.value.empty() && !stack.self.output.empty() &&
              !stack.widen.empty() && !stack.narrow.empty(),
          "[tensors] needs 'words' (of images [image] 'projection', of sound [sound] 'first'), 'query', 'key', "
          "'value', 'output', 'widen' and "
          "'narrow'");
  return stack;
}

}  // namespace headwave
