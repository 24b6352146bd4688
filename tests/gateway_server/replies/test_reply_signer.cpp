#include <cmath>

#include "core/base/random.h"
#include "core/envelope/encoded_messages.h"
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
  ReplySigner voice(signer, terms, EncodingSet::all());
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

TEST("An offer says what is taken, and is signed once for everybody") {
  OpensslSigner signer = OpensslSigner::generate().value();
  ModelMessage terms;
  terms.fleet = "orchard";
  EncodingSet taken;
  taken.add(Encoding::kInt8);
  ReplySigner voice(signer, terms, taken);
  KeyTable keys;
  ASSERT_OK(keys.add("gateway", signer.public_key()));
  const OpensslVerifier verifier;
  const Bytes first = voice.offer().value();
  TEST_ASSERT_TRUE(first == voice.offer().value());
  const auto opened = EnvelopeOpener(keys, verifier).open(UnverifiedEnvelope::parse(first).value());
  TEST_ASSERT_TRUE(decode_offer(opened.value()).value() ==
                   (OfferMessage{"orchard", terms.model_hash, taken}));
}

TEST(
    "A difference is signed with the digest of the model that it makes, and left out where it saves "
    "nothing") {
  OpensslSigner signer = OpensslSigner::generate().value();
  ModelMessage terms;
  terms.fleet = "orchard";
  terms.learning_rate = 0.5;
  ReplySigner voice(signer, terms, EncodingSet::all());
  KeyTable keys;
  ASSERT_OK(keys.add("gateway", signer.public_key()));
  const OpensslVerifier verifier;
  ModelSnapshot base;
  base.version = 7;
  base.parameters.assign(1000, 0.5F);
  ModelSnapshot next = base;
  next.version = 9;
  next.parameters[3] = 0.75F;
  const Bytes sealed = voice.difference(base, next, nullptr).value();
  TEST_ASSERT_TRUE(sealed.size() < 500);
  const auto opened = EnvelopeOpener(keys, verifier).open(UnverifiedEnvelope::parse(sealed).value());
  const auto difference = decode_difference(opened.value()).value();
  ModelMessage held = terms;
  held.version = 7;
  held.vector = base.parameters;
  const auto model = apply(difference, held);
  TEST_ASSERT_TRUE(model.ok());
  TEST_ASSERT_EQUAL_UINT64(9, model->version);
  TEST_ASSERT_TRUE(model->vector == next.parameters);
  TEST_ASSERT_EQUAL_DOUBLE(0.5, model->learning_rate);
  Random random(1);
  for (float& number : next.parameters)
    number = static_cast<float>(random.normal() * std::exp(20 * random.normal()));
  TEST_ASSERT_TRUE(voice.difference(base, next, nullptr).value().empty());
}
