#include <set>
#include <sstream>

#include "core/verdict/verdict.h"
#include "gateway_server/telemetry/prometheus_text.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

Scrape some_scrape() {
  Scrape scrape;
  scrape.name = {"green\"house\\", "aflguard", "0.1.0"};
  scrape.metrics.refused = {{"malformed", 2}, {"bad-signature", 1}};
  scrape.metrics.devices = 5;
  scrape.metrics.reference_version = 10;
  scrape.metrics.store_free_bytes = 123456789012;
  scrape.broker_connected = true;
  return scrape;
}

}  // namespace

TEST("Metrics have their values") {
  GatewayCounters counters;
  counters.version = 12;
  counters.accepted = 3;
  counters.rejected_by[static_cast<std::size_t>(Reason::kTooFar)] = 4;
  counters.commits = 2;
  counters.commit_microseconds = 1500;
  counters.test_error = 0.125;
  const std::string text = prometheus_text(counters, some_scrape());
  for (const char* line :
       {"aflguard_gateway_info{fleet=\"green\\\"house\\\\\",guard=\"aflguard\",software=\"0.1.0\"} 1\n",
        "aflguard_updates_accepted_total 3\n", "aflguard_updates_rejected_total{reason=\"too-far\"} 4\n",
        "aflguard_updates_rejected_total{reason=\"too-old\"} 0\n",
        "aflguard_messages_refused_total{reason=\"bad-signature\"} 1\n", "aflguard_model_version 12\n",
        "aflguard_test_error 0.125\n", "aflguard_reference_age_versions 2\n",
        "aflguard_commit_duration_seconds_sum 0.0015\n", "aflguard_commit_duration_seconds_count 2\n",
        "aflguard_store_free_bytes 123456789012\n", "aflguard_broker_connected 1\n"}) {
    ASSERT_CONTAINS(text, line);
  }
}

TEST("The histogram's buckets add up") {
  GatewayCounters counters;
  counters.delay_counts[0] = 3;
  counters.delay_counts[4] = 2;
  counters.delay_counts[kDelayBounds.size()] = 1;
  counters.delay_sum = 1000;
  const std::string text = prometheus_text(counters, some_scrape());
  for (const char* line :
       {"_bucket{le=\"0\"} 3\n", "_bucket{le=\"4\"} 3\n", "_bucket{le=\"8\"} 5\n", "_bucket{le=\"128\"} 5\n",
        "_bucket{le=\"+Inf\"} 6\n", "_sum 1000\n", "_count 6\n"}) {
    ASSERT_CONTAINS(text, std::string("aflguard_update_delay_versions") + line);
  }
}

TEST("What is not known has no sample") {
  const GatewayCounters counters;
  const std::string text = prometheus_text(counters, {});
  for (const char* name : {"aflguard_test_error", "aflguard_reference_age_seconds",
                           "aflguard_reference_age_versions", "aflguard_store_free_bytes"}) {
    TEST_ASSERT_TRUE_MESSAGE(text.find(std::string("\n") + name + " ") == std::string::npos, name);
    ASSERT_CONTAINS(text, std::string("# TYPE ") + name + " gauge");
  }
}

TEST("Every sample stands behind its own HELP and TYPE, each told once") {
  const GatewayCounters counters;
  std::istringstream lines(prometheus_text(counters, some_scrape()));
  std::set<std::string> described;
  std::string line;
  std::string current;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      TEST_ASSERT_TRUE_MESSAGE(described.insert(current).second, line.c_str());
    } else if (!line.starts_with("#")) {
      TEST_ASSERT_TRUE_MESSAGE(line.starts_with(current), line.c_str());
    }
  }
  TEST_ASSERT_TRUE(described.size() > 30);
}
