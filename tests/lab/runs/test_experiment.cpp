#include "lab/runs/experiment.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

ExperimentSettings synthetic(std::string_view guard, std::string_view attack, std::uint64_t seed) {
  auto settings = default_settings("synthetic").value();
  settings.guard = guard;
  settings.attack = attack;
  settings.seed = seed;
  return settings;
}

double mean_mee(std::string_view guard, std::string_view attack) {
  double sum = 0;
  for (const std::uint64_t seed : {101, 102, 103}) {
    const auto result =
        run_experiment(synthetic(guard, attack, seed), full_catalog(), linear_model(), nullptr);
    TEST_ASSERT_TRUE_MESSAGE(result.ok(), message_of(result).c_str());
    sum += *result->metrics.mee / 3;
  }
  return sum;
}

std::string failure(const ExperimentSettings& settings) {
  return message_of(run_experiment(settings, full_catalog(), linear_model(), nullptr));
}

}  // namespace

TEST("AFLGuard learns the synthetic model under no attack and under the paper's attacks") {
  for (const char* attack : {"none", "lf", "gauss", "gd", "adapt-reverse"}) {
    const double mee = mean_mee("aflguard", attack);
    TEST_ASSERT_TRUE_MESSAGE(mee <= 0.26, attack);
  }
}

TEST("The rivals behave as the paper's table says") {
  TEST_ASSERT_DOUBLE_WITHIN(0.035, 0.225, mean_mee("asyncsgd", "none"));
  TEST_ASSERT_TRUE(mean_mee("asyncsgd", "gd") > 1000);
  TEST_ASSERT_DOUBLE_WITHIN(0.075, 0.425, mean_mee("zeno++", "none"));
  TEST_ASSERT_TRUE(mean_mee("kardam", "none") < 0.3);
  const double basgd = mean_mee("basgd", "none");
  TEST_ASSERT_TRUE(basgd > 1 && basgd < 2.5);
}

TEST("Attackers who know AFLGuard's rule break it") {
  TEST_ASSERT_TRUE(mean_mee("aflguard", "adapt-boundary") > 50);
  TEST_ASSERT_TRUE(mean_mee("aflguard", "adapt-sign") > 1000);
}

TEST("SpanGuard learns under every attack of a fifth of the clients, those who know everything included") {
  TEST_ASSERT_TRUE(mean_mee("span-guard", "none") <= 0.27);
  for (const char* attack :
       {"lf", "gauss", "gd", "adapt-reverse", "adapt-fang", "adapt-sign", "adapt-boundary", "own",
        "own-blind", "own-fixed", "own-alternating", "own-noise", "own-late"}) {
    TEST_ASSERT_TRUE_MESSAGE(mean_mee("span-guard", attack) < 1, attack);
  }
}

TEST("Rubbish harms no guard: not finite, all zero, all equal, the same again and again") {
  for (const char* attack : {"not-finite", "zero", "all-equal", "replay"}) {
    TEST_ASSERT_TRUE_MESSAGE(mean_mee("span-guard", attack) < 0.4, attack);
    TEST_ASSERT_TRUE_MESSAGE(mean_mee("aflguard", attack) < 0.4, attack);
  }
}

TEST("Attackers who come under a new name every time outvote SpanGuard: identities have to be certified") {
  TEST_ASSERT_TRUE(mean_mee("span-guard", "sybil") > 2 * mean_mee("span-guard", "own"));
}

TEST("The same settings give the same result, and another seed another") {
  const auto settings = synthetic("aflguard", "lf", 7);
  const auto first = run_experiment(settings, full_catalog(), linear_model(), nullptr);
  const auto again = run_experiment(settings, full_catalog(), linear_model(), nullptr);
  ASSERT_OK(first);
  TEST_ASSERT_TRUE(*first == *again);
  const auto other = run_experiment(synthetic("aflguard", "lf", 8), full_catalog(), linear_model(), nullptr);
  TEST_ASSERT_FALSE(*first == *other);
  TEST_ASSERT_EQUAL_UINT64(2000, first->accepted.honest + first->accepted.malicious + first->rejected.honest +
                                     first->rejected.malicious);
}

TEST("Without an attack nobody is malicious") {
  const auto result =
      run_experiment(synthetic("asyncsgd", "none", 1), full_catalog(), linear_model(), nullptr);
  TEST_ASSERT_EQUAL_UINT64(2000, result->accepted.honest);
  TEST_ASSERT_EQUAL_UINT64(0, result->accepted.malicious + result->rejected.malicious);
}

TEST("Synchronous AFLGuard learns in rounds and judges every client in each") {
  auto settings = synthetic("sync-aflguard", "gd", 1);
  settings.iterations = 600;
  const auto result = run_experiment(settings, full_catalog(), linear_model(), nullptr);
  ASSERT_OK(result);
  TEST_ASSERT_EQUAL_UINT64(600 * 20, result->rejected.malicious + result->accepted.malicious);
  TEST_ASSERT_TRUE(*result->metrics.mee < 0.3);
}

TEST("Everyone malicious, nobody malicious and more clients than samples all run") {
  auto settings = synthetic("aflguard", "adapt-reverse", 1);
  settings.iterations = 30;
  settings.malicious = 1;
  ASSERT_OK(run_experiment(settings, full_catalog(), linear_model(), nullptr));
  settings.malicious = 0;
  ASSERT_OK(run_experiment(settings, full_catalog(), linear_model(), nullptr));
  settings.clients = 9000;
  ASSERT_OK(run_experiment(settings, full_catalog(), linear_model(), nullptr));
}

TEST("Wrong names and combinations are refused before anything runs") {
  ASSERT_CONTAINS(failure(synthetic("aflgard", "none", 1)), "did you mean 'aflguard'?");
  ASSERT_CONTAINS(failure(synthetic("aflguard", "gaus", 1)), "did you mean 'gauss'?");
  ASSERT_CONTAINS(failure(synthetic("aflguard", "bd", 1)), "regression");
  auto settings = synthetic("aflguard", "none", 1);
  settings.malicious = 2;
  ASSERT_CONTAINS(failure(settings), "malicious fraction");
  settings = synthetic("basgd", "none", 1);
  settings.guard_options["bufers"] = 3;
  ASSERT_CONTAINS(failure(settings), "did you mean 'buffers'?");
}

TEST("A model that does not fit the data is named with both shapes") {
  const auto result =
      run_experiment(synthetic("aflguard", "none", 1), full_catalog(), linear_model(99), nullptr);
  ASSERT_CONTAINS(message_of(result), "model 'linear' does not fit data set 'synthetic': it takes [99]");
}

TEST("Encoded updates teach the same model, and the guard does not mind") {
  for (const auto& [encoding, feedback] :
       {std::pair("int8", false), std::pair("auto", false), std::pair("int4", true)}) {
    auto settings = synthetic("aflguard", "none", 5);
    const auto plain = run_experiment(settings, full_catalog(), linear_model(), nullptr);
    settings.encoding = encoding;
    settings.feedback = feedback;
    const auto coded = run_experiment(settings, full_catalog(), linear_model(), nullptr);
    ASSERT_OK(coded);
    TEST_ASSERT_FALSE(*plain == *coded);
    TEST_ASSERT_TRUE(*coded->metrics.mee < 1.1 * *plain->metrics.mee);
    TEST_ASSERT_TRUE(*run_experiment(settings, full_catalog(), linear_model(), nullptr) == *coded);
  }
}
