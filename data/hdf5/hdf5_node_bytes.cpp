#include "hdf5_node_bytes.h"

#include <cstdint>
#include <utility>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

template <std::size_t kind = 0>
Attribute attribute_of(std::size_t which, ByteReader& bytes) {
  if constexpr (kind == std::variant_size_v<Attribute>) {
    throw FormatError("bytes of an attribute: of no kind that there is");
  } else {
    if (which == kind) return bytes.read<std::variant_alternative_t<kind, Attribute>>();
    return attribute_of<kind + 1>(which, bytes);
  }
}

}  // namespace

void write_hdf5_nodes(ByteWriter& bytes, const std::vector<Hdf5Node>& nodes) {
  bytes.write<std::uint64_t>(nodes.size());
  for (const Hdf5Node& node : nodes) {
    for (const std::string* text : {&node.path, &node.kind, &node.dtype, &node.storage}) bytes.write(*text);
    bytes.write(node.shape);
    bytes.write<std::uint64_t>(node.attributes.size());
    for (const auto& [name, value] : node.attributes) {
      bytes.write(name);
      bytes.write<std::uint64_t>(value.index());
      std::visit([&](const auto& held) { bytes.write(held); }, value);
    }
  }
}

std::vector<Hdf5Node> read_hdf5_nodes(ByteReader& bytes) {
  std::vector<Hdf5Node> nodes;
  for (auto left = bytes.read<std::uint64_t>(); left > 0; --left) {
    Hdf5Node node;
    for (std::string* text : {&node.path, &node.kind, &node.dtype, &node.storage}) bytes.read(*text);
    bytes.read(node.shape);
    for (auto more = bytes.read<std::uint64_t>(); more > 0; --more) {
      std::string name = bytes.read<std::string>();
      const auto which = bytes.read<std::uint64_t>();
      node.attributes.emplace(std::move(name), attribute_of(which, bytes));
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace headwave
