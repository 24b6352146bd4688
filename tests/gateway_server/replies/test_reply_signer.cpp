#include "core/envelope/message_codec.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "gateway_server/replies/reply_signer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

TEST("A verdict with a model names the model's version, and both are signed") {
  OpensslSigner signer = OpensslSigner::generate().value();
  ModelMessage terms;
  terms.fleet = "orchard";
  terms.learning_rate = 0.5;
  ReplySigner voice(signer, terms);
  ModelSnapshot snapshot;
  snapshot.version = 12;
  snapshot.parameters = {1, 2, 3};
  VerdictMessage verdict;
  verdict.fleet = "orchard";
  verdict.device = "pi-1";
  verdict.version = 9;
  KeyTable keys;
  ASSERT_OK(keys.add("gateway", signer.public_key()));
  const OpensslVerifier verifier;
  const EnvelopeOpener opener(keys, verifier);
  const auto open = [&](Bytes bytes) {
    return opener.open(UnverifiedEnvelope::parse(std::move(bytes)).value()).value();
  };
  const auto with = decode_verdict(open(voice.verdict(verdict, &snapshot).value())).value();
  TEST_ASSERT_EQUAL_UINT64(12, with.version);
  TEST_ASSERT_TRUE(with.model->vector == snapshot.parameters);
  TEST_ASSERT_EQUAL_DOUBLE(0.5, with.model->learning_rate);
  const auto without = decode_verdict(open(voice.verdict(verdict, nullptr).value())).value();
  TEST_ASSERT_EQUAL_UINT64(9, without.version);
  TEST_ASSERT_FALSE(without.model.has_value());
  TEST_ASSERT_EQUAL_UINT64(12, decode_model(open(voice.model(snapshot).value())).value().version);
}
