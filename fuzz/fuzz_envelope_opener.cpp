#include <algorithm>

#include "core/base/check.h"
#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "fuzz/target.h"

using namespace aflguard;

namespace {

/// The key that signed the corpus, tests/golden/envelope/device-key.pem (an example of RFC 6979), as a point.
constexpr PublicKey kDeviceKey = {
    0x04, 0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61, 0xeb, 0x74, 0xc6, 0x35, 0x6d, 0x68,
    0xc0, 0x49, 0xb8, 0x92, 0x3b, 0x61, 0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6, 0x79,
    0x03, 0xfe, 0x10, 0x08, 0xb8, 0xbc, 0x99, 0xa4, 0x1a, 0xe9, 0xe9, 0x56, 0x28, 0xbc, 0x64, 0xf2, 0xf1,
    0xb2, 0x0c, 0x2d, 0x7e, 0x9f, 0x51, 0x77, 0xa3, 0xc2, 0x94, 0xd4, 0x46, 0x22, 0x99};

const KeyTable& registry() {
  static const KeyTable table = [] {
    KeyTable keys;
    check(keys.add("board-17", kDeviceKey).ok(), "the key is new");
    return keys;
  }();
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz_input(data, size);
  auto unverified = UnverifiedEnvelope::parse(Bytes(input.begin(), input.end()));
  if (!unverified.ok()) return 0;
  static const OpensslVerifier verifier;
  const auto opened = EnvelopeOpener(registry(), verifier).open(std::move(*unverified));
  if (!opened.ok()) return 0;
  // Only the corpus itself is signed: whatever opens must be a message that decodes.
  check(opened->sender() == "board-17", "the sender is the key's owner");
  check(decode_update(*opened).ok() || decode_verdict(*opened).ok() || decode_model(*opened).ok(),
        "what was signed decodes");
  return 0;
}
