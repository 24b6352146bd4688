#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/tasks/settings.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using aflguard::testing::message_of;

TEST("The defaults are the paper's parameters") {
  const auto fashion = default_settings("fashion-mnist");
  ASSERT_OK(fashion);
  TEST_ASSERT_EQUAL_UINT64(100, fashion->clients);
  TEST_ASSERT_EQUAL_UINT64(6000, fashion->iterations);
  TEST_ASSERT_EQUAL_UINT64(64, fashion->batch_size);
  TEST_ASSERT_EQUAL_DOUBLE(1.0 / 3200, fashion->learning_rate);
  TEST_ASSERT_EQUAL_DOUBLE(1.8, fashion->lambda);
  TEST_ASSERT_EQUAL_UINT64(10, fashion->server_delay);
  TEST_ASSERT_EQUAL_UINT64(100, fashion->trusted_size);
  TEST_ASSERT_EQUAL_UINT64(30, default_settings("har")->clients);
  TEST_ASSERT_EQUAL_DOUBLE(1.0 / 320, default_settings("har")->learning_rate);
  TEST_ASSERT_EQUAL_UINT64(20000, default_settings("cifar-10")->iterations);
  TEST_ASSERT_EQUAL_UINT64(40, default_settings("colorectal")->clients);
}

TEST("An unknown data set is named with the nearest one that exists") {
  ASSERT_CONTAINS(message_of(default_settings("minst")), "unknown data set 'minst'; did you mean 'mnist'?");
}

TEST("Every number has a range, and the error says which") {
  auto settings = default_settings("mnist").value();
  ASSERT_OK(validate(settings));
  settings.malicious = 1.2;
  ASSERT_CONTAINS(message_of(validate(settings)), "the malicious fraction is 1.2, it must be from 0");
  settings.malicious = std::nan("");
  TEST_ASSERT_FALSE(validate(settings).ok());
  settings.malicious = -0.01;
  TEST_ASSERT_FALSE(validate(settings).ok());
  settings = default_settings("mnist").value();
  settings.clients = 0;
  ASSERT_CONTAINS(message_of(validate(settings)), "clients");
  settings = default_settings("mnist").value();
  settings.lambda = 0;
  ASSERT_CONTAINS(message_of(validate(settings)), "lambda");
  settings = default_settings("mnist").value();
  settings.distribution_shift = 1.01;
  ASSERT_CONTAINS(message_of(validate(settings)), "distribution shift");
}

TEST("Malicious clients are a rounded fraction, and none without an attack") {
  auto settings = default_settings("har").value();
  settings.attack = "gd";
  settings.malicious = 0.45;
  TEST_ASSERT_EQUAL_UINT64(14, malicious_clients(settings));  // 13.5 rounds up
  settings.attack = "none";
  TEST_ASSERT_EQUAL_UINT64(0, malicious_clients(settings));
}

TEST("The fingerprint changes with every setting and with nothing else") {
  const auto settings = default_settings("mnist").value();
  TEST_ASSERT_TRUE(fingerprint(settings) == fingerprint(default_settings("mnist").value()));
  auto other = settings;
  other.seed = 2;
  TEST_ASSERT_FALSE(fingerprint(settings) == fingerprint(other));
  other = settings;
  other.guard_options["buffers"] = 4;
  TEST_ASSERT_FALSE(fingerprint(settings) == fingerprint(other));
  other = settings;
  other.encoding = "int8";
  TEST_ASSERT_FALSE(fingerprint(settings) == fingerprint(other));
  other.feedback = true;
  TEST_ASSERT_FALSE(fingerprint(other) == [&] {
    auto without = other;
    without.feedback = false;
    return fingerprint(without);
  }());
  other = settings;
  other.lambda = std::nextafter(settings.lambda, 2.0);
  TEST_ASSERT_FALSE(fingerprint(settings) == fingerprint(other));
}

TEST("A setting that is not used leaves the keys of stored runs as they were") {
  const auto json = to_json(default_settings("mnist").value());
  TEST_ASSERT_FALSE(json.contains("encoding") || json.contains("feedback"));
}

TEST("An unknown encoding is refused") {
  auto settings = default_settings("mnist").value();
  settings.encoding = "int7";
  ASSERT_CONTAINS(message_of(validate(settings)), "encoding 'int7' is not");
}
