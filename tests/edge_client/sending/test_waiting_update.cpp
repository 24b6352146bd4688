#include "core/envelope/message_codec.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "edge_client/sending/waiting_update.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;

namespace {

/// A device, its former key, and what it trains.
struct Board {
  [[nodiscard]] UpdateMessage update() const {
    UpdateMessage update;
    update.fleet = membership.fleet;
    update.model_hash = membership.model_hash;
    update.sequence = 17;
    update.vector.assign(membership.dimension, 0.5F);
    return update;
  }
  [[nodiscard]] static SpooledUpdate spooled(const UpdateMessage& update, MbedtlsSigner& key) {
    Bytes envelope = EnvelopeSealer(key).seal(encode(update).value()).value().release();
    return {17, std::move(envelope), UpdateAuthor{"pi-1", key.public_key()}};
  }
  [[nodiscard]] Admitted<VerifiedPayload> opened(SpooledUpdate waiting) const {
    return open_waiting_update(std::move(waiting), membership, key.public_key(), MbedtlsVerifier());
  }
  void assert_refused(SpooledUpdate waiting, RefusalReason reason, const std::string& why) const {
    const auto payload = opened(std::move(waiting));
    TEST_ASSERT_FALSE(payload.ok());
    TEST_ASSERT_EQUAL_STRING(std::string(to_string(reason)).c_str(),
                             std::string(to_string(payload.error().reason)).c_str());
    ASSERT_CONTAINS(payload.error().message, why);
  }

  Membership membership{"orchard", "pi-1", {7}, 100};
  MbedtlsSigner key = MbedtlsSigner::generate().value();
  MbedtlsSigner former_key = MbedtlsSigner::generate().value();
};

}  // namespace

TEST("What the device's own key has signed is opened, whether or not the file says who did") {
  Board board;
  SpooledUpdate waiting = Board::spooled(board.update(), board.key);
  const Bytes envelope = waiting.envelope;
  for (const bool noted : {true, false}) {
    if (!noted) waiting.author.reset();
    const auto payload = board.opened(waiting);
    TEST_ASSERT_TRUE(payload.ok());
    TEST_ASSERT_TRUE(payload->key() == key_id_of(board.key.public_key()));
    TEST_ASSERT_TRUE(
        std::equal(envelope.begin(), envelope.end(), payload->envelope().begin(), payload->envelope().end()));
  }
}

TEST("What a former key of the device has signed is opened and says so, if the file says whose that was") {
  Board board;
  SpooledUpdate waiting = Board::spooled(board.update(), board.former_key);
  const auto payload = board.opened(waiting);
  TEST_ASSERT_TRUE(payload.ok());
  TEST_ASSERT_TRUE(payload->key() == key_id_of(board.former_key.public_key()));
  TEST_ASSERT_TRUE(decode_update(*payload).value() == board.update());
  waiting.author.reset();
  board.assert_refused(waiting, RefusalReason::kUnknownKey, "its file does not say whose");
}

TEST("What another device has signed is refused, though the key be ours by now") {
  Board board;
  SpooledUpdate waiting = Board::spooled(board.update(), board.key);
  waiting.author->device = "pi-2";
  board.assert_refused(waiting, RefusalReason::kForeignSender, "it is of device 'pi-2', this is 'pi-1'");
}

TEST("An update of another fleet, model, size or number is refused, whichever key has signed it") {
  Board board;
  for (MbedtlsSigner* key : {&board.key, &board.former_key}) {
    UpdateMessage update = board.update();
    update.fleet = "vineyard";
    board.assert_refused(Board::spooled(update, *key), RefusalReason::kWrongFleet,
                         "for fleet 'vineyard', this device is in 'orchard'");
    update = board.update();
    update.model_hash[0] = 8;
    board.assert_refused(Board::spooled(update, *key), RefusalReason::kWrongModel,
                         "on model 080000000000..., this device has the package of 070000000000...");
    update = board.update();
    update.vector.push_back(1);
    board.assert_refused(Board::spooled(update, *key), RefusalReason::kWrongModel,
                         "has 101 numbers, the model has 100");
    update = board.update();
    update.sequence = 18;
    board.assert_refused(Board::spooled(update, *key), RefusalReason::kMalformed, "has number 18");
  }
}

TEST("What the noted author has not signed, or what is not an update, is refused") {
  Board board;
  SpooledUpdate waiting = Board::spooled(board.update(), board.key);
  waiting.author->key = board.former_key.public_key();
  board.assert_refused(waiting, RefusalReason::kUnknownKey, "is not registered here");
  waiting = Board::spooled(board.update(), board.key);
  waiting.envelope.back() ^= std::byte{1};
  board.assert_refused(waiting, RefusalReason::kBadSignature, "does not match");
  board.assert_refused({17, Bytes(1000), std::nullopt}, RefusalReason::kMalformed, "envelope");
  board.assert_refused({17, {}, std::nullopt}, RefusalReason::kMalformed, "envelope");
}
