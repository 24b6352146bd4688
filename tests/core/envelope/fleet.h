#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/refusal_message.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "tests/support/test.h"

namespace aflguard::testing {

template <typename T>
void assert_admitted(const Admitted<T>& result, int line) {
  if (!result.ok()) UNITY_TEST_FAIL(line, result.error().message.c_str());
}

template <typename T>
void assert_refused(RefusalReason reason, const Admitted<T>& result, int line) {
  if (result.ok()) UNITY_TEST_FAIL(line, "was admitted");
  if (result.error().reason != reason) {
    const std::string text = std::string(to_string(result.error().reason)) + ": " + result.error().message;
    UNITY_TEST_FAIL(line, text.c_str());
  }
}

/// Every field with a different value, so that swapped fields show.
inline UpdateMessage sample_update() {
  UpdateMessage update;
  update.fleet = "orchard";
  for (std::size_t i = 0; i < update.model_hash.size(); ++i)
    update.model_hash[i] = static_cast<std::uint8_t>(i);
  update.base_version = 300;
  update.sequence = 7;
  update.samples = 32;
  update.loss = 0.75;
  update.vector = {1.0F, -2.5F, 0.0F, 1e-40F, 3.4e38F};
  return update;
}

inline ModelMessage sample_model() {
  ModelMessage model;
  model.fleet = "orchard";
  model.version = 70'000;
  model.model_hash = sample_update().model_hash;
  model.batch_size = 32;
  model.learning_rate = 0.01;
  model.local_steps = 5;
  model.vector = {0.5F, -0.25F, 8.0F};
  return model;
}

inline VerdictMessage sample_verdict() {
  VerdictMessage verdict;
  verdict.fleet = "orchard";
  verdict.device = "board-17";
  verdict.sequence = 7;
  verdict.accepted = true;
  verdict.reason = 1;
  verdict.distance = 1.5;
  verdict.bound = 2.25;
  verdict.version = 301;
  verdict.delay = 4;
  verdict.highest_sequence = 9;
  return verdict;
}

inline RefusalMessage sample_refusal() {
  RefusalMessage refusal;
  refusal.fleet = "orchard";
  refusal.device = "board-17";
  refusal.transfer = 0x0102030405060708;
  refusal.sequence = 7;
  refusal.reason = RefusalReason::kOverloaded;
  refusal.proven = true;
  refusal.come_back = std::chrono::milliseconds(12'345);
  refusal.text = "256 updates wait already";
  return refusal;
}

/// One device and its gateway, with new keys, in one process.
struct Fleet {
  Fleet() {
    ASSERT_OK(devices.add("board-17", device.public_key()));
    ASSERT_OK(gateways.add("gateway", gateway.public_key()));
  }

  MbedtlsSigner device = MbedtlsSigner::generate().value();
  MbedtlsSigner gateway = MbedtlsSigner::generate().value();
  KeyTable devices;   ///< what the gateway knows
  KeyTable gateways;  ///< what the device knows
  MbedtlsVerifier verifier;

  [[nodiscard]] Bytes seal_by_device(PayloadType type, Bytes bytes) {
    return EnvelopeSealer(device).seal({type, std::move(bytes)}).value().release();
  }
  [[nodiscard]] Bytes seal_by_device(const Payload& payload) {
    return EnvelopeSealer(device).seal(payload).value().release();
  }
  [[nodiscard]] Admitted<VerifiedPayload> open_at_gateway(Bytes envelope) const {
    TRY(UnverifiedEnvelope unverified, UnverifiedEnvelope::parse(std::move(envelope)));
    return EnvelopeOpener(devices, verifier).open(std::move(unverified));
  }
};

inline Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// `from`, which must occur once, becomes `to`.
inline Bytes replaced(Bytes in, const Bytes& from, const Bytes& to) {
  const auto at = std::search(in.begin(), in.end(), from.begin(), from.end());
  check(at != in.end(), "the bytes to replace are there");
  const auto after = in.erase(at, at + static_cast<std::ptrdiff_t>(from.size()));
  in.insert(after, to.begin(), to.end());
  return in;
}

}  // namespace aflguard::testing

#define ASSERT_ADMITTED(result) ::aflguard::testing::assert_admitted(result, __LINE__)
#define ASSERT_REFUSED(reason, result) \
  ::aflguard::testing::assert_refused(::aflguard::RefusalReason::reason, result, __LINE__)
