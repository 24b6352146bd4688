// Prints how long sealing and opening a 560 KB update takes with each library. No test: it asserts nothing
// about time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"

using namespace aflguard;

namespace {

constexpr int kRepetitions = 51;

/// The median and the fastest of kRepetitions runs.
template <typename Work>
void measure(const char* name, Work work) {
  std::vector<double> milliseconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%-22s median %6.3f ms, fastest %6.3f ms\n", name, milliseconds[kRepetitions / 2],
              milliseconds.front());
}

VerifiedPayload open(const DeviceRegistry& registry, const Verifier& verifier, const Bytes& bytes) {
  return EnvelopeOpener(registry, verifier).open(UnverifiedEnvelope::parse(bytes).value()).value();
}

}  // namespace

int main() {
  UpdateMessage update;
  update.fleet = "bench";
  update.vector.assign(140'000, 0.125F);
  auto device = MbedtlsSigner::generate().value();
  auto gateway = OpensslSigner::from_pem(device.private_pem().value()).value();
  KeyTable registry;
  check(registry.add("board", device.public_key()).ok(), "the key is new");
  const Payload payload = encode(update).value();
  const Bytes bytes = EnvelopeSealer(device).seal(payload).value().release();
  const VerifiedPayload opened = open(registry, OpensslVerifier(), bytes);

  measure("encode", [&] { check(encode(update).ok(), "encode"); });
  measure("seal, Mbed TLS", [&] { check(EnvelopeSealer(device).seal(payload).ok(), "seal"); });
  measure("open, OpenSSL",
          [&] { check(open(registry, OpensslVerifier(), bytes).bytes().size() > 0, "open"); });
  measure("decode", [&] { check(decode_update(opened).ok(), "decode"); });
  measure("seal, OpenSSL", [&] { check(EnvelopeSealer(gateway).seal(payload).ok(), "seal"); });
  measure("open, Mbed TLS",
          [&] { check(open(registry, MbedtlsVerifier(), bytes).bytes().size() > 0, "open"); });
  return 0;
}
