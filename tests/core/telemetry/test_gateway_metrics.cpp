#include <cmath>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/telemetry/gateway_metrics.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

TEST("What is read of a gateway's metrics writes the same metrics") {
  for (const char* name : {"gateway_metrics.full", "gateway_metrics.minimal"}) {
    const auto metrics = read_gateway_metrics(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(metrics.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*metrics).c_str());
  }
}

TEST("The largest figures are read, too") {
  const std::string text = golden("gateway_metrics.limits");
  TEST_ASSERT_LESS_THAN_size_t(kMaxTelemetryBytes, text.size());
  const auto metrics = read_gateway_metrics(text);
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, *metrics->store_total_bytes);
  TEST_ASSERT_EQUAL_size_t(12, metrics->rejected_by.size());
  TEST_ASSERT_EQUAL_size_t(13, metrics->refused.size());
  TEST_ASSERT_EQUAL_size_t(10, metrics->delay_histogram.counts.size());
  TEST_ASSERT_EQUAL_DOUBLE(0.12345678901234567e-100, *metrics->test_error);
}

TEST("Every plain number of the message is a figure under its name") {
  const auto message = nlohmann::json::parse(golden("gateway_metrics.full"));
  const auto known = figures(*read_gateway_metrics(golden("gateway_metrics.full")));
  std::size_t numbers = 0;
  for (const auto& [name, value] : message.items()) {
    if (!value.is_number()) continue;
    ++numbers;
    TEST_ASSERT_TRUE_MESSAGE(known.contains(name), name.c_str());
    TEST_ASSERT_EQUAL_DOUBLE(value.get<double>(), known.at(name));
  }
  TEST_ASSERT_EQUAL_size_t(numbers, known.size());
  TEST_ASSERT_FALSE(figures(*read_gateway_metrics(golden("gateway_metrics.minimal"))).contains("test_error"));
}

TEST("What is not known or not finite is null, never 0") {
  GatewayMetrics metrics;
  metrics.commit_ms = std::nan("");
  const auto told = nlohmann::json::parse(to_json(metrics));
  for (const char* field : {"time", "version", "commit_ms", "mean_delay", "test_error", "store_free_bytes"}) {
    TEST_ASSERT_TRUE_MESSAGE(told.at(field).is_null(), field);
  }
}

TEST("Figures of a wrong kind are not known, and reasons are bounded") {
  nlohmann::json text = {
      {"schema", "aflguard-gateway-metrics-1"}, {"version", -1},       {"queue", "many"},
      {"mean_delay", nlohmann::json::array()},  {"time", "yesterday"}, {"refused", {{"replay", "one"}}}};
  for (int i = 0; i < 1000; ++i) text["rejected_by"]["reason-" + std::to_string(i)] = i;
  text["delay_histogram"] = {{"bounds", {1, 2}}, {"counts", {1, 2}}};
  const auto metrics = read_gateway_metrics(text.dump());
  TEST_ASSERT_FALSE(metrics->version || metrics->queue || metrics->mean_delay || metrics->time);
  TEST_ASSERT_EQUAL_size_t(0, metrics->refused.size());
  TEST_ASSERT_EQUAL_size_t(kMaxReadReasons, metrics->rejected_by.size());
  TEST_ASSERT_EQUAL_size_t(0, metrics->delay_histogram.bounds.size());
  TEST_ASSERT_FALSE(read_gateway_metrics(golden("gateway_status.full")).has_value());
}
