#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace headwave {

namespace of_members {

/// Converts to the type of any member; never called.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: implicit
};

/// The number of members of a struct: the largest number of values that can initialise it.
template <class T, class... Given>
constexpr std::size_t count() {
  if constexpr (requires { T{Given{}..., Anything{}}; })
    return count<T, Given..., Anything>();
  else
    return sizeof...(Given);
}

template <class T>
concept Listed = requires(T& value) {
  T::members(value);
};
template <class T>
concept Plain = std::is_class_v<T> && std::is_aggregate_v<T> && !requires {
  std::tuple_size<T>::value;
};

}  // namespace of_members

/// A struct whose members can be listed: a plain struct with at most 12 members and no constructors or bases,
/// or a class that lists some of its members itself:
///
///     template <class Self> static auto members(Self& self) { return std::tie(self.sum_, self.count_); }
template <class T>
concept HasMembers = of_members::Listed<T> || of_members::Plain<T>;

/// References to the members of a struct, in order.
template <class T>
requires HasMembers<std::remove_const_t<T>>
constexpr auto members_of(T& value) {
  using Struct = std::remove_const_t<T>;
  if constexpr (of_members::Listed<Struct>) {
    return Struct::members(value);
  } else {
    constexpr std::size_t count = of_members::count<Struct>();
    static_assert(count >= 1 && count <= 12, "a struct of more members lists them");
#define HEADWAVE_TIE(number, ...)       \
  else if constexpr (count == number) { \
    auto& [__VA_ARGS__] = value;        \
    return std::tie(__VA_ARGS__);       \
  }
    if constexpr (count == 0) return std::tie();
    HEADWAVE_TIE(1, a)
    HEADWAVE_TIE(2, a, b)
    HEADWAVE_TIE(3, a, b, c)
    HEADWAVE_TIE(4, a, b, c, d)
    HEADWAVE_TIE(5, a, b, c, d, e)
    HEADWAVE_TIE(6, a, b, c, d, e, f)
    HEADWAVE_TIE(7, a, b, c, d, e, f, g)
    HEADWAVE_TIE(8, a, b, c, d, e, f, g, h)
    HEADWAVE_TIE(9, a, b, c, d, e, f, g, h, i)
    HEADWAVE_TIE(10, a, b, c, d, e, f, g, h, i, j)
    HEADWAVE_TIE(11, a, b, c, d, e, f, g, h, i, j, k)
    HEADWAVE_TIE(12, a, b, c, d, e, f, g, h, i, j, k, l)
#undef HEADWAVE_TIE
  }
}

}  // namespace headwave
