#include "core/base/check.h"
#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
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

/// The format has one encoding for each message, so decoding and encoding again gives the same bytes.
template <typename Message>
void check_round_trip(const Admitted<Message>& message, const VerifiedPayload& payload) {
  if (!message.ok()) return;
  const auto again = encode(*message);
  check(again.ok(), "what was decoded can be encoded");
  const auto bytes = payload.bytes();
  check(std::equal(bytes.begin(), bytes.end(), again->bytes.begin(), again->bytes.end()),
        "decoding and encoding gives the same bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz_input(data, size);
  if (input.empty()) return 0;
  const auto type = static_cast<PayloadType>(data[0] % 3);
  static Believer believer;
  KeyTable registry;
  check(registry.add("anybody", believer.public_key()).ok(), "the key is new");
  auto sealed = EnvelopeSealer(believer).seal({type, Bytes(input.begin() + 1, input.end())}).value();
  auto unverified = UnverifiedEnvelope::parse(std::move(sealed).release());
  check(unverified.ok(), "what was sealed has the shape of an envelope");
  const auto opened = EnvelopeOpener(registry, believer).open(std::move(*unverified));
  check(opened.ok(), "a believer opens everything");
  check_round_trip(decode_update(*opened), *opened);
  check_round_trip(decode_verdict(*opened), *opened);
  check_round_trip(decode_model(*opened), *opened);
  return 0;
}
