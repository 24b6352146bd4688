#include <array>

#include "core/base/check.h"
#include "core/envelope/encoded_messages.h"
#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/renewal_message.h"
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

/// In the order of the corpus. Refusals have a target to themselves.
constexpr std::array kTypes = {PayloadType::kUpdate, PayloadType::kVerdict,    PayloadType::kModel,
                               PayloadType::kOffer,  PayloadType::kDifference, PayloadType::kRenewal};
constexpr std::size_t kMostNumbers = 1000;

/// Many byte strings unpack to one vector; what comes out is bounded and finite.
void check_numbers(const Admitted<UpdateMessage>& update) {
  if (!update.ok()) return;
  check(!update->vector.empty() && update->vector.size() <= kMostNumbers, "the limit holds");
  check(all_finite(update->vector), "every number is finite");
}

/// Whatever its bytes are, a difference makes a model of its base's length, or none.
void check_difference(const Admitted<DifferenceMessage>& difference) {
  if (!difference.ok()) return;
  const std::vector<float> base(3, 0.5F);
  const auto model = apply_difference(difference->kind, difference->bytes, base);
  check(!model.ok() || model->size() == base.size(), "a difference keeps the length");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz_input(data, size);
  if (input.empty()) return 0;
  const PayloadType type = kTypes[(data[0] & 7) % kTypes.size()];
  const auto format = static_cast<std::uint8_t>((data[0] & 8) == 0 ? 1 : 2);
  static Believer believer;
  KeyTable registry;
  check(registry.add("anybody", believer.public_key()).ok(), "the key is new");
  auto sealed = EnvelopeSealer(believer).seal({type, Bytes(input.begin() + 1, input.end()), format}).value();
  auto unverified = UnverifiedEnvelope::parse(std::move(sealed).release());
  check(unverified.ok(), "what was sealed has the shape of an envelope");
  const auto opened = EnvelopeOpener(registry, believer).open(std::move(*unverified));
  check(opened.ok(), "a believer opens everything");
  if (format == kFirstFormat) check_round_trip(decode_update(*opened), *opened);
  if (format != kFirstFormat) check_numbers(decode_update(*opened, {.numbers = kMostNumbers}));
  check_round_trip(decode_offer(*opened), *opened);
  check_round_trip(decode_difference(*opened), *opened);
  check_round_trip(decode_renewal(*opened), *opened);
  check_difference(decode_difference(*opened));
  check_round_trip(decode_verdict(*opened), *opened);
  check_round_trip(decode_model(*opened), *opened);
  return 0;
}
