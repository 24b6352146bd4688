#include "core/base/random.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "core/base/check.h"

namespace aflguard {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t state = seed;
  std::uint64_t mixed = split_mix(state) ^ (stream * 0xd1342543de82ef95ULL);
  for (auto& word : state_) word = split_mix(mixed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  check(bound > 0, "Random::below needs a positive bound");
  const std::uint64_t limit = -bound % bound;  // numbers under it would make small results more likely
  for (;;) {
    const std::uint64_t candidate = next();
    if (candidate >= limit) return candidate % bound;
  }
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::vector<std::size_t> Random::sample_without_replacement(std::size_t population, std::size_t count) {
  check(count <= population, "cannot draw more samples than there are");
  // A sparse Fisher-Yates: memory and time grow with `count`, not with the population.
  std::unordered_map<std::size_t, std::size_t> moved;
  std::vector<std::size_t> drawn(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = i + below(population - i);
    auto at = [&moved](std::size_t k) {
      auto it = moved.find(k);
      return it == moved.end() ? k : it->second;
    };
    drawn[i] = at(j);
    moved[j] = at(i);
  }
  return drawn;
}

}  // namespace aflguard
