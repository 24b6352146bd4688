#include <cmath>

#include "core/envelope/message_codec.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::lab;
using namespace aflguard::sim;

namespace {

/// y = 3x with the model theta = 1: every batch of all samples gives the same gradient.
struct Victim {
  testing::LinearTrainer trainer{1};
  FixedSamples source{[] {
    Dataset data;
    data.sample_shape = {1};
    data.features = std::vector<float>{1, 2};
    data.values = {3, 6};
    return data;
  }()};
  ModelMessage model;
  Victim() {
    model.batch_size = 2;
    model.learning_rate = 0.01;
    model.vector = {1};
  }

  std::unique_ptr<LocalTraining> training(const AttackPlan& plan) {
    auto made = make_malicious_training(plan, trainer, source, 7);
    ASSERT_OK(made);
    return std::move(made).value();
  }
  /// What the attack sends, in multiples of the honest update (-20).
  double share(const AttackPlan& plan) {
    const auto update = training(plan)->train(model, [] { return true; });
    ASSERT_OK(update);
    return static_cast<double>(update->vector[0]) / -20;
  }
};

/// What the gateway's decoder says to a payload that the attacker signed properly.
std::string refusal_of(const Payload& payload) {
  auto signer = OpensslSigner::generate();
  ASSERT_OK(signer);
  KeyTable keys;
  ASSERT_OK(keys.add("pi-1", signer->public_key()));
  const OpensslVerifier verifier;
  EnvelopeSealer sealer(*signer);
  auto sealed = sealer.seal(payload);
  ASSERT_OK(sealed);
  auto parsed = UnverifiedEnvelope::parse(std::move(*sealed).release());
  TEST_ASSERT_TRUE(parsed.ok());
  const auto opened = EnvelopeOpener(keys, verifier).open(std::move(*parsed));
  TEST_ASSERT_TRUE(opened.ok());
  const auto decoded = decode_update(*opened);
  return decoded.ok() ? "(taken)" : std::string(to_string(decoded.error().reason));
}

UpdateMessage update() {
  UpdateMessage message;
  message.fleet = "f";
  message.vector = {1, 2, 3, 4, 5};
  return message;
}

}  // namespace

TEST("Attacks on the update are the multiples of the honest one that they promise") {
  Victim victim;
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, -10, victim.share({.name = "gd"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-3, -100, victim.share({.name = "adapt-reverse"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1, victim.share({.name = "nan"}));
  // A trusted set of 100 against a batch of 2: 50 times as long, and half of it backwards.
  TEST_ASSERT_DOUBLE_WITHIN(1e-2, -25, victim.share({.name = "adapt-boundary"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-2, -100,
                            victim.share({.name = "adapt-boundary", .lambda = 2, .trusted_size = 200}));
}

TEST("Flipped labels turn the gradient around and leave the samples alone") {
  Victim victim;
  // y = -3x: errors 4x instead of -2x.
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, -2, victim.share({.name = "lf"}));
  TEST_ASSERT_EQUAL_FLOAT(3, victim.source.samples().value()->values[0]);
}

TEST("Noise has the promised size and is new every time") {
  Victim victim;
  const auto training = victim.training({.name = "gauss"});
  double squares = 0;
  constexpr int kDraws = 2000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = training->train(victim.model, [] { return true; })->vector[0];
    squares += value * value;
  }
  TEST_ASSERT_DOUBLE_WITHIN(15, 200, std::sqrt(squares / kDraws));
}

TEST("A replaying client sends its first update whatever the model has become") {
  Victim victim;
  const auto training = victim.training({.name = "replay"});
  const auto first = training->train(victim.model, [] { return true; });
  victim.model.vector = {2.5};
  const auto second = training->train(victim.model, [] { return true; });
  TEST_ASSERT_EQUAL_FLOAT(first->vector[0], second->vector[0]);
}

TEST("NaN and garbage are signed well and refused by the gateway's decoder") {
  const auto nan = malicious_encode({.name = "nan"}, update());
  ASSERT_OK(nan);
  TEST_ASSERT_EQUAL_STRING("not-finite", refusal_of(*nan).c_str());
  const auto garbage = malicious_encode({.name = "garbage"}, update());
  ASSERT_OK(garbage);
  TEST_ASSERT_EQUAL_STRING("malformed", refusal_of(*garbage).c_str());
  const auto plain = malicious_encode({.name = "gd"}, update());
  ASSERT_OK(plain);
  TEST_ASSERT_EQUAL_STRING("(taken)", refusal_of(*plain).c_str());
}

TEST("An attack that does not exist is named with its nearest neighbour") {
  ASSERT_CONTAINS(testing::message_of(check_attack("gaus")), "did you mean 'gauss'?");
  for (const AttackSummary& attack : known_attacks()) ASSERT_OK(check_attack(attack.name));
}

TEST(
    "With the trusted samples at hand, the boundary attacker goes against its own gradient from the "
    "guard's") {
  Victim victim;
  Dataset trusted;  // y = 3x once more, but one sample: g_s = -4 at theta = 1
  trusted.sample_shape = {1};
  trusted.features = std::vector<float>{1};
  trusted.values = {3};
  AttackPlan plan{.name = "adapt-boundary", .lambda = 1.5};
  plan.trusted = std::make_shared<const Dataset>(trusted);
  plan.reach = 0.8;
  const auto update = victim.training(plan)->train(victim.model, [] { return true; });
  ASSERT_OK(update);
  // g_s - 0.8 * 1.5 * |g_s| * (-1), and |that - g_s| is 0.8 of AFLGuard's bound.
  TEST_ASSERT_FLOAT_WITHIN(1e-4F, -4.0F + 1.2F * 4.0F, update->vector[0]);
}

TEST("The boundary attacker remembers where its honest updates pointed before") {
  Victim victim;
  Dataset trusted;  // y = 3x: g_s = 2 at theta = 4
  trusted.sample_shape = {1};
  trusted.features = std::vector<float>{1};
  trusted.values = {3};
  const auto second_update = [&](double memory) {
    AttackPlan plan{.name = "adapt-boundary", .lambda = 1.5};
    plan.trusted = std::make_shared<const Dataset>(trusted);
    plan.reach = 0.8;
    plan.memory = memory;
    const auto attacker = victim.training(plan);
    victim.model.vector = {1};  // honest: -20
    ASSERT_OK(attacker->train(victim.model, [] { return true; }));
    victim.model.vector = {4};  // honest: 10
    const auto update = attacker->train(victim.model, [] { return true; });
    ASSERT_OK(update);
    return update->vector[0];
  };
  TEST_ASSERT_FLOAT_WITHIN(1e-4F, 2.0F - 1.2F * 2.0F, second_update(0));
  TEST_ASSERT_FLOAT_WITHIN(1e-4F, 2.0F + 1.2F * 2.0F, second_update(0.9));
}
