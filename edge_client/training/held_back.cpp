#include "edge_client/training/held_back.h"

#include <cstdint>
#include <cstring>
#include <span>

namespace aflguard::edge {
namespace {

constexpr std::uint64_t kPrime = 0x100000001b3;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kPrime;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
  std::uint64_t word = 0;
  for (; bytes.size() >= sizeof(word); bytes = bytes.subspan(sizeof(word))) {
    std::memcpy(&word, bytes.data(), sizeof(word));
    hash = mixed(hash, word);
  }
  word = bytes.size();
  for (const std::byte byte : bytes) word = word << 8 | std::to_integer<std::uint64_t>(byte);
  return mixed(hash, word);
}

template <typename T>
std::span<const std::byte> bytes_at(const std::vector<T>& all, std::size_t first, std::size_t count) {
  return std::as_bytes(std::span(all).subspan(first, count));
}

}  // namespace

bool HeldBack::holds(const Dataset& data, std::size_t index) const {
  if (none()) return false;
  const std::size_t width = data.sample_size();
  std::uint64_t hash = std::visit(
      [&](const auto& features) { return hash_of(bytes_at(features, index * width, width), kPrime); },
      data.features);
  hash = data.regression() ? hash_of(bytes_at(data.values, index, 1), hash)
                           : hash_of(bytes_at(data.labels, index, 1), hash);
  // The high bits are the best ones of a product.
  hash = mixed(hash, hash >> 32) * 0x9e3779b97f4a7c15;
  return static_cast<double>(hash >> 11) * 0x1p-53 < share_;
}

std::vector<std::size_t> HeldBack::newest(const Dataset& data, std::size_t most) const {
  std::vector<std::size_t> found;
  for (std::size_t i = data.size(); i-- > 0 && found.size() < most;) {
    if (holds(data, i)) found.push_back(i);
  }
  return found;
}

}  // namespace aflguard::edge
