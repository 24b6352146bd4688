#include "core/envelope/piece_sender.h"
#include "edge_client/receiving/gateway_inbox.h"
#include "tests/core/envelope/fleet.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

/// A device's inbox and its gateway's pen.
struct Desk {
  Fleet fleet;
  EnvelopeOpener opener{fleet.gateways, fleet.verifier};
  Membership membership{"orchard", "board-17", sample_model().model_hash, 3};
  GatewayInbox inbox{membership, opener};

  [[nodiscard]] Bytes sealed(const Payload& payload) {
    return EnvelopeSealer(fleet.gateway).seal(payload).value().release();
  }
  [[nodiscard]] Admitted<std::optional<GatewayMessage>> take_any(Bytes envelope) {
    auto sender = PieceSender::create(std::move(envelope), {.body_bytes = 50, .window = 1000});
    ASSERT_OK(sender);
    std::optional<GatewayMessage> last;
    while (auto piece = sender->next()) {
      TRY(auto message, inbox.take_piece(piece->message, {}));
      if (message) last = std::move(message);
    }
    return last;
  }
  [[nodiscard]] Admitted<std::optional<ReceivedVerdict>> take(Bytes envelope) {
    TRY(auto message, take_any(std::move(envelope)));
    if (!message) return std::optional<ReceivedVerdict>();
    return std::optional(std::get<ReceivedVerdict>(std::move(*message)));
  }
};

}  // namespace

TEST("A verdict in pieces comes out whole, with its model") {
  Desk desk;
  VerdictMessage verdict = sample_verdict();
  verdict.model = sample_model();
  const auto received = desk.take(desk.sealed(encode(verdict).value()));
  ASSERT_ADMITTED(received);
  TEST_ASSERT_TRUE(received->has_value());
  TEST_ASSERT_TRUE((*received)->message == verdict);
}

TEST("What another key signed is refused, a device's own key too") {
  Desk desk;
  MbedtlsSigner stranger = MbedtlsSigner::generate().value();
  for (MbedtlsSigner* signer : {&stranger, &desk.fleet.device}) {
    EnvelopeSealer sealer(*signer);
    ASSERT_REFUSED(kUnknownKey, desk.take(sealer.seal(encode(sample_verdict()).value()).value().release()));
    ASSERT_REFUSED(kUnknownKey,
                   desk.inbox.take_model(sealer.seal(encode(sample_model()).value()).value().release()));
  }
}

TEST("A byte changed on the way is a bad signature") {
  Desk desk;
  Bytes envelope = desk.sealed(encode(sample_model()).value());
  envelope[envelope.size() - 70] ^= std::byte{1};
  ASSERT_REFUSED(kBadSignature, desk.inbox.take_model(std::move(envelope)));
}

TEST("A verdict for another device or fleet, or one passed off as a model, is refused") {
  Desk desk;
  VerdictMessage verdict = sample_verdict();
  verdict.device = "board-18";
  ASSERT_REFUSED(kWrongFleet, desk.take(desk.sealed(encode(verdict).value())));
  verdict = sample_verdict();
  verdict.fleet = "vineyard";
  ASSERT_REFUSED(kWrongFleet, desk.take(desk.sealed(encode(verdict).value())));
  ASSERT_REFUSED(kUnsupported, desk.inbox.take_model(desk.sealed(encode(sample_verdict()).value())));
}

TEST("A model that goes before a verdict is checked as any other") {
  Desk desk;
  const auto taken = desk.take_any(desk.sealed(encode(sample_model()).value()));
  ASSERT_ADMITTED(taken);
  TEST_ASSERT_TRUE(std::get<ModelMessage>(**taken).vector == sample_model().vector);
  ModelMessage foreign = sample_model();
  foreign.fleet = "vineyard";
  ASSERT_REFUSED(kWrongFleet, desk.take_any(desk.sealed(encode(foreign).value())));
}

TEST("Another fleet's, another layout's and another size's model is refused; a verdict stands without it") {
  Desk desk;
  ModelMessage model = sample_model();
  model.model_hash[0] ^= 1;
  ASSERT_REFUSED(kWrongModel, desk.inbox.take_model(desk.sealed(encode(model).value())));
  VerdictMessage verdict = sample_verdict();
  verdict.model = model;
  const auto received = desk.take(desk.sealed(encode(verdict).value()));
  ASSERT_ADMITTED(received);
  TEST_ASSERT_FALSE((*received)->message.model.has_value());
  ASSERT_CONTAINS((*received)->model_refusal->message, "install the fleet's model package");
  model = sample_model();
  model.vector.push_back(1);
  ASSERT_REFUSED(kWrongModel, desk.inbox.take_model(desk.sealed(encode(model).value())));
  model = sample_model();
  model.fleet = "vineyard";
  ASSERT_REFUSED(kWrongFleet, desk.inbox.take_model(desk.sealed(encode(model).value())));
}

TEST("What is larger than the model can be is refused before it is kept") {
  Desk desk;
  ModelMessage model = sample_model();
  model.vector.assign(5000, 1);
  ASSERT_REFUSED(kOversized, desk.inbox.take_model(desk.sealed(encode(model).value())));
  VerdictMessage verdict = sample_verdict();
  verdict.model = model;
  ASSERT_REFUSED(kOversized, desk.take(desk.sealed(encode(verdict).value())));
}

TEST("A refusal comes out when it is for this device, and is neither verdict nor model") {
  Desk desk;
  const auto refusal = desk.take_any(desk.sealed(encode(sample_refusal()).value()));
  ASSERT_ADMITTED(refusal);
  TEST_ASSERT_TRUE(std::get<RefusalMessage>(**refusal) == sample_refusal());
  RefusalMessage other = sample_refusal();
  other.device = "board-18";
  ASSERT_REFUSED(kWrongFleet, desk.take_any(desk.sealed(encode(other).value())));
  ASSERT_REFUSED(kUnsupported, desk.inbox.take_model(desk.sealed(encode(sample_refusal()).value())));
}
