#include "firmware_sim/byzantine_client/malicious_encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/envelope/message_codec.h"

namespace aflguard::sim {
namespace {

/// Where the vector's bytes are within an encoded update: found with a value that nothing else has.
std::size_t vector_offset(const Bytes& encoded, std::size_t size, float marker) {
  const auto wanted = std::bit_cast<std::array<std::byte, sizeof(float)>>(marker);
  auto at = encoded.begin();
  while (true) {
    at = std::search(at, encoded.end(), wanted.begin(), wanted.end());
    const auto offset = static_cast<std::size_t>(at - encoded.begin());
    if (offset + size <= encoded.size()) return offset;
    check(at != encoded.end(), "an encoded update holds its vector");
    ++at;
  }
}

/// The vector as it is, whatever the encoder thinks of it.
Result<Payload> encode_unchecked(UpdateMessage update) {
  constexpr float kMarker = 1.2345678F;
  const std::vector<float> values = update.vector;
  std::fill(update.vector.begin(), update.vector.end(), kMarker);
  TRY(Payload payload, encode(update));
  const std::size_t size = values.size() * sizeof(float);
  const std::size_t offset = vector_offset(payload.bytes, size, kMarker);
  std::memcpy(payload.bytes.data() + offset, values.data(), size);
  return payload;
}

}  // namespace

Result<Payload> malicious_encode(const AttackPlan& plan, const UpdateMessage& update) {
  TRY(const lab::AttackKind* kind, find_live_attack(plan.name));
  if (kind->not_finite) return encode_unchecked(update);
  TRY(Payload payload, encode(update));
  if (kind->damage != nullptr) kind->damage(payload.bytes, update.sequence);
  return payload;
}

}  // namespace aflguard::sim
