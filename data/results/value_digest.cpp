#include "value_digest.h"

#include <string_view>
#include <type_traits>
#include <vector>

#include "../files/digest.h"
#include "../hdf5/hdf5_type.h"

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

}  // namespace

std::string value_digest(const Field& field) {
  return std::visit(DigestOf{}, field.values);
}

std::string value_digest(const Axis& axis) {
  return std::visit(DigestOf{}, axis.values);
}

}  // namespace headwave
