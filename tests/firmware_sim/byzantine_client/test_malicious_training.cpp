#include <array>
#include <cmath>

#include "firmware_sim/byzantine_client/device_view.h"
#include "firmware_sim/byzantine_client/malicious_training.h"
#include "lab/attacks/all_attacks.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
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

Dataset three_features(std::vector<float> features, std::vector<float> values) {
  Dataset data;
  data.sample_shape = {3};
  data.features = std::move(features);
  data.values = std::move(values);
  return data;
}

/// What the attacks sent before the lab and the live client shared their formulas: three models in a row,
/// seed 7.
struct Golden {
  std::string attack;
  std::uint32_t local_steps;
  std::array<float, 9> vectors;
  std::uint64_t samples;
  std::array<double, 3> losses;
};
// clang-format off
const std::vector<Golden> kGolden = {
    {"gd", 1, {-0x1.d6999ap+8F, -0x1.294cccp+6F, 0x1.95999ap+8F, 0x1.604cccp+8F, 0x1.223334p+6F, -0x1.fed334p+9F, 0x1.1de666p+8F, 0x1.36ccccp+6F, -0x1.e04198p+8F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"gd", 3, {-0x1.1629b2p+9F, -0x1.0ee49ep+9F, 0x1.3d9ca4p+9F, 0x1.2b33dcp+9F, -0x1.dc00c2p+6F, -0x1.15ebb4p+11F, 0x1.0c1872p+9F, 0x1.33d23ap+9F, -0x1.5ba5fcp+9F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
    {"gauss", 1, {-0x1.036cd4p+7F, 0x1.0c1068p+4F, -0x1.9d824cp+6F, 0x1.aa23c6p+7F, -0x1.49e816p+7F, -0x1.e3cddap+5F, -0x1.6d7a5p+6F, 0x1.0be1c2p+6F, 0x1.64e332p+8F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"gauss", 3, {-0x1.036cd4p+7F, 0x1.0c1068p+4F, -0x1.9d824cp+6F, 0x1.aa23c6p+7F, -0x1.49e816p+7F, -0x1.e3cddap+5F, -0x1.6d7a5p+6F, 0x1.0be1c2p+6F, 0x1.64e332p+8F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
    {"lf", 1, {0x1.226666p+5F, 0x1.b7d70cp+2F, -0x1.7f851ep+6F, -0x1.947aecp-1F, -0x1.207ae2p+3F, 0x1.f5852p+4F, 0x1.766666p+2F, -0x1.30f5c2p+3F, -0x1.6cb5c2p+4F}, 4U, {0x1.732d1ep+5, 0x1.d3a8f6p+2, 0x1.70c17p+2}},
    {"lf", 3, {0x1.868b7p+6F, 0x1.1b6a2ap+5F, -0x1.b0febcp+7F, -0x1.8f52d8p+5F, 0x1.f71f84p+2F, 0x1.2a5884p+6F, -0x1.24da3p+6F, 0x1.529516p+5F, -0x1.79af32p+3F}, 12U, {0x1.cf5c8ep+3, 0x1.362bfp+2, 0x1.ae2bfep+2}},
    {"adapt-reverse", 1, {-0x1.262p+12F, -0x1.73ap+9F, 0x1.fb0002p+11F, 0x1.b86p+11F, 0x1.6acp+9F, -0x1.3f44p+13F, 0x1.656p+11F, 0x1.848p+9F, -0x1.2c29p+12F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"adapt-reverse", 3, {-0x1.5bb42p+12F, -0x1.529dc6p+12F, 0x1.8d03cep+12F, 0x1.7600d4p+12F, -0x1.29807ap+10F, -0x1.5b66ap+14F, 0x1.4f1e8ep+12F, 0x1.80c6c8p+12F, -0x1.b28f7cp+12F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
    {"adapt-boundary", 1, {-0x1.261dbep+9F, -0x1.739d26p+6F, 0x1.fafc1cp+8F, 0x1.b85c9ep+8F, 0x1.6abd38p+6F, -0x1.3f418cp+10F, 0x1.655d42p+8F, 0x1.847d04p+6F, -0x1.2c26b2p+9F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"adapt-boundary", 3, {-0x1.5bb174p+9F, -0x1.529b2cp+9F, 0x1.8d00c2p+9F, 0x1.75fdf4p+9F, -0x1.297e3p+7F, -0x1.5b63f6p+11F, 0x1.4f1bfcp+9F, 0x1.80c3d4p+9F, -0x1.b28c26p+9F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
    {"replay", 1, {0x1.787ae2p+5F, 0x1.dbae14p+2F, -0x1.447ae2p+5F, 0x1.787ae2p+5F, 0x1.dbae14p+2F, -0x1.447ae2p+5F, 0x1.787ae2p+5F, 0x1.dbae14p+2F, -0x1.447ae2p+5F}, 4U, {0x1.57f3d8p+4, 0x1.57f3d8p+4, 0x1.57f3d8p+4}},
    {"replay", 3, {0x1.bd0f84p+5F, 0x1.b16dcap+5F, -0x1.fc2dd4p+5F, 0x1.bd0f84p+5F, 0x1.b16dcap+5F, -0x1.fc2dd4p+5F, 0x1.bd0f84p+5F, 0x1.b16dcap+5F, -0x1.fc2dd4p+5F}, 12U, {0x1.0a518cp+2, 0x1.0a518cp+2, 0x1.0a518cp+2}},
    {"garbage", 1, {0x1.787ae2p+5F, 0x1.dbae14p+2F, -0x1.447ae2p+5F, -0x1.19d70ap+5F, -0x1.d051ecp+2F, 0x1.98a8f6p+6F, -0x1.c970a4p+4F, -0x1.f147aep+2F, 0x1.80347ap+5F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"garbage", 3, {0x1.bd0f84p+5F, 0x1.b16dcap+5F, -0x1.fc2dd4p+5F, -0x1.deb96p+5F, 0x1.7ccd68p+3F, 0x1.bcac52p+7F, -0x1.acf3eap+5F, -0x1.ec839p+5F, 0x1.161e64p+6F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
    {"adapt-boundary, leaked", 1, {-0x1.88704ep+3F, -0x1.62b44cp+3F, -0x1.c24774p+0F, -0x1.3e1f72p+4F, 0x1.ca8fb6p+3F, -0x1.881512p+3F, -0x1.611cb2p+2F, 0x1.05757cp+2F, -0x1.98d41cp+2F}, 4U, {0x1.57f3d8p+4, 0x1.d5ad7p+5, 0x1.095be2p+4}},
    {"adapt-boundary, leaked", 3, {-0x1.ddc7c4p+2F, -0x1.5503aep+4F, -0x1.10011cp+1F, -0x1.72564ep+3F, -0x1.598d16p+0F, -0x1.38c5bp+3F, -0x1.22a7ccp+2F, 0x1.a08edap+1F, -0x1.8d263p+2F}, 12U, {0x1.0a518cp+2, 0x1.706c98p+4, 0x1.a682cep+1}},
};
// clang-format on

}  // namespace

TEST("Attacks on the update are the multiples of the honest one that they promise") {
  Victim victim;
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, -10, victim.share({.name = "gd"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-3, -100, victim.share({.name = "adapt-reverse"}));
  TEST_ASSERT_DOUBLE_IS_NAN(victim.share({.name = "nan"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1, victim.share({.name = "garbage"}));
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, -30, victim.share({.name = "gd", .options = {{"factor", 30}}}));
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

TEST("Every attack sends, bit for bit, what it sent when the live client had its own formulas") {
  const auto leaked = std::make_shared<const Dataset>(three_features({1, 0, 0.5F, -1, 1, 2}, {1.1F, -0.4F}));
  for (const Golden& golden : kGolden) {
    testing::LinearTrainer trainer(3);
    FixedSamples source(
        three_features({1, 2, 0.5F, -1, 0.25F, 3, 0.1F, -2, 1.5F, 2, 2, -0.75F, -3, 1, 1, 0.3F, 0.7F, -1.1F},
                       {3, -6, 0.7F, 1.3F, 2.9F, -0.2F}));
    const auto comma = golden.attack.find(',');
    AttackPlan plan{.name = golden.attack.substr(0, comma)};
    if (comma != std::string::npos) plan.trusted = leaked;
    const auto training = make_malicious_training(plan, trainer, source, 7);
    ASSERT_OK(training);
    const std::vector<float> models[] = {{1, 0.5F, -2}, {0.25F, 1, 3}, {-1, 0, 0.125F}};
    for (std::size_t i = 0; i < 3; ++i) {
      ModelMessage model;
      model.batch_size = 4;
      model.learning_rate = 0.01;
      model.local_steps = golden.local_steps;
      model.vector = models[i];
      const auto sent = (*training)->train(model, [] { return true; });
      ASSERT_OK(sent);
      TEST_ASSERT_EQUAL_MEMORY_ARRAY_MESSAGE(&golden.vectors[3 * i], sent->vector.data(), sizeof(float), 3,
                                             golden.attack.c_str());
      TEST_ASSERT_EQUAL_UINT64(golden.samples, sent->samples);
      TEST_ASSERT_TRUE(golden.losses[i] == sent->loss);
    }
  }
}

TEST("Every attack of the list that a live device can carry out crafts an update") {
  Victim victim;
  for (const lab::AttackKind& kind : lab::all_attacks()) {
    const AttackPlan plan{.name = std::string(kind.name)};
    if (!lab::missing_on_device(kind).empty()) {
      ASSERT_CONTAINS(testing::message_of(make_malicious_training(plan, victim.trainer, victim.source, 7)),
                      "attack '" + std::string(kind.name) + "' needs");
      continue;
    }
    const auto update = victim.training(plan)->train(victim.model, [] { return true; });
    TEST_ASSERT_TRUE_MESSAGE(update.ok(), kind.name.data());
    TEST_ASSERT_EQUAL_size_t(1, update->vector.size());
    TEST_ASSERT_TRUE_MESSAGE(kind.not_finite || std::isfinite(update->vector[0]), kind.name.data());
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(2, update->samples, kind.name.data());
  }
}

TEST("A lie that doubles the batch doubles its sum") {
  testing::LinearTrainer trainer(1);
  LyingTrainer lying(trainer);
  const std::vector<float> theta = {1};
  const std::vector<float> features = {1, 2};
  const std::vector<float> values = {3, 6};
  const Batch batch{2, features, {}, values};
  std::vector<float> honest(1);
  ASSERT_OK(lying.gradient(theta, batch, honest));
  const lab::Lie twice = [](lab::FalseBatch& changed) {
    changed.size = 4;
    changed.features = {1, 2, 1, 2};
    changed.values = {3, 6, 3, 6};
  };
  lying.tell(&twice);
  std::vector<float> gradient(1);
  ASSERT_OK(lying.gradient(theta, batch, gradient));
  TEST_ASSERT_EQUAL_FLOAT(2 * honest[0], gradient[0]);
}

TEST("An option that the attack does not have is named with the nearest that it has") {
  Victim victim;
  const AttackPlan plan{.name = "gd", .options = {{"facter", 3}}};
  ASSERT_CONTAINS(testing::message_of(make_malicious_training(plan, victim.trainer, victim.source, 7)),
                  "did you mean 'factor'?");
}
