#include "core/base/check.h"
#include "core/envelope/refusal_message.h"
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

}  // namespace

/// The input is a payload.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz_input(data, size);
  static Believer believer;
  KeyTable registry;
  check(registry.add("gateway", believer.public_key()).ok(), "the key is new");
  auto sealed =
      EnvelopeSealer(believer).seal({PayloadType::kRefusal, Bytes(input.begin(), input.end())}).value();
  auto opened =
      EnvelopeOpener(registry, believer).open(UnverifiedEnvelope::parse(std::move(sealed).release()).value());
  check(opened.ok(), "a believer opens everything");
  const auto refusal = decode_refusal(*opened);
  if (!refusal.ok()) return 0;
  check(refusal->come_back.count() >= 0 && refusal->come_back <= kLongestComeBack, "nobody waits for ever");
  check(refusal->text.size() <= kMaxRefusalText, "the text is short");
  const auto again = encode(*refusal);
  check(again.ok(), "what was decoded can be encoded");
  const auto bytes = opened->bytes();
  check(std::equal(bytes.begin(), bytes.end(), again->bytes.begin(), again->bytes.end()),
        "decoding and encoding gives the same bytes");
  return 0;
}
