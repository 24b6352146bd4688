#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace aflguard {

/// A number for a name, the same on every machine and in every run (FNV-1a, then SplitMix64's mixing).
/// Spreads well; keeps no secret.
[[nodiscard]] constexpr std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// The same as a number from 0 up to, but not, 1.
[[nodiscard]] constexpr double name_fraction(std::string_view name) {
  return static_cast<double>(name_hash(name) >> 11) * 0x1p-53;
}

/// For unordered containers of names, which can then be asked for a std::string_view.
struct NameHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view name) const {
    return static_cast<std::size_t>(name_hash(name));
  }
};

}  // namespace aflguard
