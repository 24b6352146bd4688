#include "core/base/check.h"
#include "core/release/release_message.h"
#include "core/release/trial_report.h"
#include "fuzz/target.h"

using namespace aflguard;

namespace {

/// Signs nothing and believes everything: what is tried here comes after the signature.
class Believer final : public Signer, public Verifier {
 public:
  [[nodiscard]] const PublicKey& public_key() const override { return key_; }
  [[nodiscard]] Result<EcdsaSignature> sign(SignedParts) override { return EcdsaSignature{}; }
  [[nodiscard]] bool verify(const PublicKey&, SignedParts, const EcdsaSignature&) const override {
    return true;
  }

 private:
  PublicKey key_{};
};

/// What was decoded from a payload of that type can be encoded, to the same bytes.
template <typename Decode>
void decode_and_encode(std::span<const std::byte> input, PayloadType type, const Decode& decode) {
  static Believer believer;
  KeyTable registry;
  check(registry.add("release", believer.public_key()).ok(), "the key is new");
  auto sealed = EnvelopeSealer(believer).seal({type, Bytes(input.begin(), input.end())}).value();
  auto opened =
      EnvelopeOpener(registry, believer).open(UnverifiedEnvelope::parse(std::move(sealed).release()).value());
  check(opened.ok(), "a believer opens everything");
  const auto message = decode(*opened);
  if (!message.ok()) return;
  const auto again = encode(*message);
  check(again.ok(), "what was decoded can be encoded");
  const auto bytes = opened->bytes();
  check(std::equal(bytes.begin(), bytes.end(), again->bytes.begin(), again->bytes.end()),
        "decoding and encoding gives the same bytes");
}

}  // namespace

/// The input is a payload.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz_input(data, size);
  decode_and_encode(input, PayloadType::kRelease, decode_release);
  decode_and_encode(input, PayloadType::kTrial, decode_trial);
  return 0;
}
