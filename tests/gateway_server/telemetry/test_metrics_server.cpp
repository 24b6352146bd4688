#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "gateway_server/telemetry/metrics_server.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

struct ServerBench {
  SetClock clock;
  KeptLog log;
  GatewayCounters counters;
  GatewayHealth health{counters, clock};
  MetricsServer server{{"orchard", "aflguard", "0.1.0"}, counters, health};
};

}  // namespace

TEST("/metrics has the counters of now and the figures that were shown last") {
  ServerBench bench;
  bench.counters.accepted = 17;
  GatewayMetrics metrics;
  metrics.devices = 3;
  bench.server.show(metrics);
  const HttpReply reply = bench.server.answer("/metrics");
  TEST_ASSERT_EQUAL_INT(200, reply.status);
  ASSERT_CONTAINS(reply.type, "version=0.0.4");
  ASSERT_CONTAINS(reply.body, "aflguard_devices_enrolled 3\n");
  ASSERT_CONTAINS(reply.body, " 17\n");
}

TEST("/healthz answers 503 with the problems until there are none, and nothing else is there") {
  ServerBench bench;
  bench.counters.judge_alive_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(bench.clock.steady().time_since_epoch()).count();
  HttpReply reply = bench.server.answer("/healthz");
  TEST_ASSERT_EQUAL_INT(503, reply.status);
  ASSERT_CONTAINS(nlohmann::json::parse(reply.body).dump(), "the broker is away");
  bench.health.set_connected(true);
  TEST_ASSERT_EQUAL_INT(200, bench.server.answer("/healthz").status);
  TEST_ASSERT_EQUAL_INT(404, bench.server.answer("/").status);
}

TEST("The port is logged, with a warning when the network can reach it") {
  ServerBench bench;
  ASSERT_OK(bench.server.open("127.0.0.1:0", bench.log));
  ASSERT_CONTAINS(bench.log.text(), "metrics on port ");
  TEST_ASSERT_EQUAL_size_t(1, bench.log.lines().size());
  bench.server.close();
  ASSERT_OK(bench.server.open("0.0.0.0:0", bench.log));
  ASSERT_CONTAINS(bench.log.text(), "/metrics is open to the network, without TLS and password");
  TEST_ASSERT_FALSE(bench.server.open("nowhere", bench.log).ok());
}
