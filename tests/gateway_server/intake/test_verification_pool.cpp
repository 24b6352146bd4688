#include <algorithm>
#include <limits>
#include <mutex>

#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/piece.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "gateway_server/intake/refusal_log.h"
#include "gateway_server/intake/verification_pool.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

UpdateRules rules() {
  UpdateRules rules;
  rules.fleet = "orchard";
  rules.model_hash.fill(7);
  rules.dimension = 3;
  rules.max_envelope_bytes = 2000;
  return rules;
}

/// Keys of two devices, and a clerk who checks what they send.
class Bench final {
 public:
  Bench() : opener(keys, verifier) {
    ASSERT_OK(keys.add("pi-1", first.public_key()));
    ASSERT_OK(keys.add("pi-2", second.public_key()));
  }
  [[nodiscard]] static UpdateMessage update() {
    UpdateMessage update;
    update.fleet = "orchard";
    update.model_hash.fill(7);
    update.vector = {1, 2, 3};
    return update;
  }
  [[nodiscard]] static Bytes seal(Signer& signer, const UpdateMessage& update) {
    return EnvelopeSealer(signer).seal(encode(update).value()).value().release();
  }
  [[nodiscard]] std::string outcome(const std::string& sender, Bytes envelope) const {
    const auto verified = verify_update({sender, std::move(envelope)}, opener, rules());
    return verified.ok() ? "taken from " + verified->device : std::string(to_string(verified.error().reason));
  }

  OpensslSigner first = OpensslSigner::generate().value();
  OpensslSigner second = OpensslSigner::generate().value();
  KeyTable keys;
  OpensslVerifier verifier;
  EnvelopeOpener opener;
};

void expect(const std::string& wanted, const std::string& got) {
  TEST_ASSERT_EQUAL_STRING(wanted.c_str(), got.c_str());
}

}  // namespace

TEST("An update must be whole, signed by its sender, and for this fleet and model") {
  Bench bench;
  const auto with = [&](auto change) {
    UpdateMessage update = Bench::update();
    change(update);
    return bench.outcome("pi-1", Bench::seal(bench.first, update));
  };
  expect("taken from pi-1", with([](UpdateMessage&) {}));
  expect("wrong-fleet", with([](UpdateMessage& update) { update.fleet = "orchards"; }));
  expect("wrong-model", with([](UpdateMessage& update) { update.model_hash[31] = 8; }));
  expect("wrong-model", with([](UpdateMessage& update) { update.vector.pop_back(); }));
  expect("wrong-model", with([](UpdateMessage& update) { update.vector.push_back(1); }));
  expect("oversized", with([](UpdateMessage& update) { update.vector.resize(500, 1); }));
  // Claims about itself are nobody's business here.
  expect("taken from pi-1", with([](UpdateMessage& update) {
           update.samples = std::numeric_limits<std::uint64_t>::max();
           update.loss = std::numeric_limits<double>::quiet_NaN();
           update.base_version = std::numeric_limits<std::uint64_t>::max();
         }));
}

TEST("The signer is the sender: on another device's topic, revoked, unknown or changed it is refused") {
  Bench bench;
  const Bytes good = Bench::seal(bench.first, Bench::update());
  expect("foreign-sender", bench.outcome("pi-2", good));
  expect("malformed", bench.outcome("pi-1", {}));
  OpensslSigner stranger = OpensslSigner::generate().value();
  expect("unknown-key", bench.outcome("pi-1", Bench::seal(stranger, Bench::update())));
  ASSERT_OK(bench.keys.revoke("pi-2"));
  expect("revoked", bench.outcome("pi-2", Bench::seal(bench.second, Bench::update())));
}

TEST("No single changed byte of an update gets through") {
  Bench bench;
  const Bytes good = Bench::seal(bench.first, Bench::update());
  expect("taken from pi-1", bench.outcome("pi-1", good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes changed = good;
    changed[i] ^= std::byte{0x20};
    TEST_ASSERT_FALSE(bench.outcome("pi-1", changed).starts_with("taken"));
  }
}

TEST("Workers hand on what is genuine, and count what is not and what does not fit") {
  Bench bench;
  KeptLog log;
  RefusalLog ledger(log);
  std::atomic<int> handed_on{0};
  std::atomic<int> proven{0};
  const auto refused = [&](const RefusedUpdate& update) {
    ledger.note(update.device, update.refusal, {});
    if (update.proven) ++proven;
    TEST_ASSERT_TRUE(update.device == "pi-1" || update.device == "pi-2");
  };
  VerificationPool pool(3, {1000, 1 << 20, 1000}, bench.opener, rules(),
                        {[&](const VerifiedUpdate&) {
                           ++handed_on;
                           return true;
                         },
                         refused});
  const Bytes good = Bench::seal(bench.first, Bench::update());
  for (int i = 0; i < 100; ++i) pool.submit({"pi-1", good});
  for (int i = 0; i < 50; ++i) pool.submit({"pi-2", good});
  pool.submit({"pi-1", Bytes((1 << 20) + 1)});
  pool.stop();
  TEST_ASSERT_EQUAL_INT(100, handed_on);
  TEST_ASSERT_EQUAL_UINT64(50, ledger.counts().at("foreign-sender"));
  TEST_ASSERT_EQUAL_UINT64(1, ledger.counts().at("overloaded"));
  TEST_ASSERT_EQUAL_INT(0, proven);
  VerificationPool later(1, {1000, 1 << 20, 1000}, bench.opener, rules(),
                         {[](const VerifiedUpdate&) { return false; }, refused});
  later.submit({"pi-1", good});
  later.stop();
  TEST_ASSERT_EQUAL_UINT64(2, ledger.counts().at("overloaded"));
  TEST_ASSERT_EQUAL_INT(1, proven);
}

TEST(
    "A refusal says what is known: the transfer always, sequence and sender once the signature has matched") {
  Bench bench;
  UpdateMessage update = Bench::update();
  update.sequence = 42;
  const Bytes good = Bench::seal(bench.first, update);
  update.fleet = "orchards";
  const Bytes stray = Bench::seal(bench.first, update);
  std::vector<RefusedUpdate> all;
  VerificationPool pool(1, {}, bench.opener, rules(),
                        {[](const VerifiedUpdate&) { return true; },
                         [&](RefusedUpdate refused) { all.push_back(std::move(refused)); }});
  Bytes forged = good;
  forged[forged.size() / 2] ^= std::byte{1};
  pool.submit({"pi-1", stray});
  pool.submit({"pi-1", forged});
  pool.stop();
  TEST_ASSERT_EQUAL_size_t(2, all.size());
  TEST_ASSERT_TRUE(all[0].proven);
  TEST_ASSERT_EQUAL_UINT64(42, all[0].sequence);
  TEST_ASSERT_EQUAL_UINT64(transfer_id_of(stray), all[0].transfer);
  expect("wrong-fleet", std::string(to_string(all[0].refusal.reason)));
  TEST_ASSERT_FALSE(all[1].proven);
  TEST_ASSERT_EQUAL_UINT64(0, all[1].sequence);
  TEST_ASSERT_EQUAL_UINT64(transfer_id_of(forged), all[1].transfer);
}

TEST("What one device sends too much of costs no other device its place") {
  Bench bench;
  KeptLog log;
  RefusalLog ledger(log);
  std::mutex mutex;
  std::vector<VerifiedUpdate> waiting;  // nobody judges them
  VerificationPool pool(
      2, {4, 1 << 20, 2}, bench.opener, rules(),
      {[&](VerifiedUpdate update) {
         const std::lock_guard lock(mutex);
         waiting.push_back(std::move(update));
         return true;
       },
       [&](const RefusedUpdate& refused) { ledger.note(refused.device, refused.refusal, {}); }});
  const Bytes flood = Bench::seal(bench.first, Bench::update());
  const Bytes honest = Bench::seal(bench.second, Bench::update());
  for (int i = 0; i < 100; ++i) pool.submit({"pi-1", flood});
  pool.submit({"pi-2", honest});
  TEST_ASSERT_EQUAL_size_t(3, pool.inside());
  TEST_ASSERT_EQUAL_size_t(2 * flood.size() + honest.size(), pool.inside_bytes());
  pool.stop();
  TEST_ASSERT_EQUAL_UINT64(3, waiting.size());
  TEST_ASSERT_EQUAL_INT(1, std::count_if(waiting.begin(), waiting.end(),
                                         [](const auto& update) { return update.device == "pi-2"; }));
  TEST_ASSERT_EQUAL_UINT64(98, ledger.counts().at("overloaded"));
  ASSERT_CONTAINS(log.text(), "too many updates of this device wait already");
}

TEST("Encoded updates are taken as the rules say, and never longer ones than the model") {
  Bench bench;
  const auto outcome = [&](Encoding encoding, std::size_t count, EncodingSet taken) {
    UpdateMessage update = Bench::update();
    update.vector.assign(count, 0.0F);
    const auto vector = packed(encode_vector(update.vector, encoding, 1).value()).value();
    const auto payload = encode_compact(update, vector).value();
    UpdateRules own = rules();
    own.taken = taken;
    const auto verified = verify_update({"pi-1", EnvelopeSealer(bench.first).seal(payload).value().release()},
                                        bench.opener, own);
    return verified.ok() ? "taken from " + verified->device : std::string(to_string(verified.error().reason));
  };
  expect("taken from pi-1", outcome(Encoding::kInt8, 3, EncodingSet::all()));
  expect("unsupported", outcome(Encoding::kInt8, 3, EncodingSet()));
  expect("taken from pi-1", outcome(Encoding::kFloat32, 3, EncodingSet()));
  expect("wrong-model", outcome(Encoding::kInt8, 2, EncodingSet::all()));
  expect("malformed", outcome(Encoding::kInt8, 4, EncodingSet::all()));
  expect("malformed",
         outcome(Encoding::kInt8, 1'000'000, EncodingSet::all()));  // 1 MB out of a hundred bytes
}

TEST("An encoded update takes the room that it needs once it is decoded") {
  Bench bench;
  UpdateRules large = rules();
  large.dimension = 10'000;
  UpdateMessage update = Bench::update();
  update.vector.assign(large.dimension, 0.0F);
  const auto vector = packed(encode_vector(update.vector, Encoding::kInt8, 1).value()).value();
  const Bytes envelope =
      EnvelopeSealer(bench.first).seal(encode_compact(update, vector).value()).value().release();
  TEST_ASSERT_TRUE(envelope.size() < 1000);
  std::vector<VerifiedUpdate> waiting;  // nobody judges them
  VerificationPool pool(1, {}, bench.opener, large,
                        {[&](VerifiedUpdate verified) {
                           waiting.push_back(std::move(verified));
                           return true;
                         },
                         [](const RefusedUpdate&) { TEST_FAIL_MESSAGE("it is genuine"); }});
  pool.submit({"pi-1", envelope});
  pool.stop();
  TEST_ASSERT_EQUAL_size_t(1, waiting.size());
  TEST_ASSERT_EQUAL_size_t(large.dimension * sizeof(float), pool.inside_bytes());
}
