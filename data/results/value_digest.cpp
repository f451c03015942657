#include "value_digest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../files/digest.h"
#include "../hdf5/hdf5_type.h"
#include "result_layout.h"

namespace headwave {

namespace {

struct DigestOf {
  template <class Value>
  std::string operator()(const std::vector<Value>& values) const {
    static_assert(std::is_arithmetic_v<Value>);
    return sha256_of_text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
  }
  std::string operator()(const std::vector<std::string>& texts) const {
    const Hdf5Texts stored(texts);
    Sha256 digest;
    for (const std::string& text : stored.texts()) digest.add({text.c_str(), text.size() + 1});
    return digest.hexadecimal();
  }
};

constexpr auto written_later =
    std::to_array<std::string_view>({attributes_digest_name, "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid",
                                     "_Netcdf4Coordinates", "_NCProperties", "complete"});

template <class Number>
std::string_view bytes_of(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

struct BytesOf {
  std::string_view operator()(const std::string& text) const { return text; }
  std::string_view operator()(const std::vector<double>& list) const {
    return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(double)};
  }
  template <class Number>
  std::string_view operator()(const Number& number) const {
    return bytes_of(number);
  }
};

}  // namespace

std::string value_digest(const Field& field) {
  return std::visit(DigestOf{}, field.values);
}

std::string value_digest(const Axis& axis) {
  return std::visit(DigestOf{}, axis.values);
}

std::string written_text(const ResultObject& object) {
  std::string text;
  for (const auto& [name, value] : object.attributes)
    if (std::ranges::count(written_later, name) == 0) text += name + "/";
  for (const std::string& member : object.members) text += "/" + member;
  return text;
}

void keep_written(ResultObject& object) {
  const std::string text = attribute_text(object.attributes, written_name);
  if (text.empty()) return;  // of an older headwave
  std::set<std::string> attributes{written_name, attributes_digest_name}, members, *names = &attributes;
  for (std::size_t at = 0; at < text.size();) {
    const std::string name = text.substr(at, text.find('/', at) - at);
    if (name.empty()) names = &members;
    if (!name.empty()) names->insert(name);
    at += name.size() + 1;
  }
  std::erase_if(object.attributes, [&](const auto& attribute) { return !attributes.contains(attribute.first); });
  std::erase_if(object.members, [&](const std::string& member) { return !members.contains(member); });
}

std::string attributes_digest(const ResultObject& object) {
  Sha256 digest;
  // Sizes before, so that no end of one can be taken for the beginning of the next.
  const auto add_number = [&](std::uint64_t number) { digest.add(bytes_of(number)); };
  const auto add_name = [&](const std::string& name) {
    add_number(name.size());
    digest.add(name);
  };
  add_name(object.path);
  const std::set<std::string> members(object.members.begin(), object.members.end());
  add_number(members.size());
  for (const std::string& member : members) add_name(member);
  for (const auto& [name, value] : object.attributes) {
    if (std::ranges::count(written_later, name) > 0) continue;
    const std::string_view bytes = std::visit(BytesOf{}, value);
    for (const std::uint64_t number :
         {std::uint64_t{name.size()}, std::uint64_t{value.index()}, std::uint64_t{bytes.size()}})
      add_number(number);
    digest.add(name);
    digest.add(bytes);
  }
  return digest.hexadecimal();
}

}  // namespace headwave
