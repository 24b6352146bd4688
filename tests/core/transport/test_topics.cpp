#include "core/transport/topics.h"
#include "tests/support/test.h"

using namespace aflguard;
using aflguard::testing::message_of;

namespace {
FleetTopics orchard() {
  return FleetTopics::create("orchard").value();
}
}  // namespace

TEST("The topics are those of docs/wire-format.md") {
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/board-1/update", orchard().update("board-1").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/board-1/status",
                           orchard().device_status("board-1").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/down/board-1/verdict", orchard().verdict("board-1").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/model", orchard().model().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/gateway/status", orchard().gateway_status().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/gateway/metrics", orchard().gateway_metrics().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/events", orchard().events().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/gateway/devices/board-1",
                           orchard().device_summary("board-1").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/ask/operator/history",
                           orchard().question("operator").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/tell/operator/history", orchard().answer("operator").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/gateway/devices/+", orchard().all_device_summaries().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/ask/+/history", orchard().all_questions().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/release/order", orchard().release().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/release/piece/0a1b-7",
                           orchard().release_piece("0a1b-7").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/board-1/trial", orchard().trial("board-1").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/+/trial", orchard().all_trials().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/gateway/rollout", orchard().rollout().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/+/update", orchard().all_updates().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/+/status", orchard().all_device_statuses().c_str());
}

TEST("Every topic is read back as what it was") {
  for (const TopicKind kind :
       {TopicKind::kUpdate, TopicKind::kDeviceStatus, TopicKind::kVerdict, TopicKind::kDeviceSummary,
        TopicKind::kQuestion, TopicKind::kAnswer, TopicKind::kReleasePiece, TopicKind::kTrial}) {
    const Topic topic{kind, "orchard", "board-1"};
    const auto parsed = parse_topic(topic.text());
    ASSERT_OK(parsed);
    TEST_ASSERT_TRUE(topic == *parsed);
  }
  for (const TopicKind kind : {TopicKind::kModel, TopicKind::kGatewayStatus, TopicKind::kGatewayMetrics,
                               TopicKind::kEvents, TopicKind::kRelease, TopicKind::kRollout}) {
    const Topic topic{kind, "orchard", ""};
    const auto parsed = parse_topic(topic.text());
    ASSERT_OK(parsed);
    TEST_ASSERT_TRUE(topic == *parsed);
  }
}

TEST("Anything else is not a topic of ours") {
  for (const std::string_view text : {"",
                                      "aflguard",
                                      "aflguard/v1/",
                                      "aflguard/v1//model",
                                      "aflguard/v2/orchard/model",
                                      "aflguard/v1/orchard",
                                      "aflguard/v1/orchard/",
                                      "aflguard/v1/orchard/models",
                                      "aflguard/v1/orchard/model/",
                                      "aflguard/v1/orchard/up//update",
                                      "aflguard/v1/orchard/up/update",
                                      "aflguard/v1/orchard/up/a/b/update",
                                      "aflguard/v1/orchard/up/+/update",
                                      "aflguard/v1/orchard/up/#",
                                      "aflguard/v1/orchard/down/a/update",
                                      "aflguard/v1/orchard/up/a/verdict",
                                      "aflguard/v1/orchard/gateway/devices/",
                                      "aflguard/v1/orchard/gateway/devices/a/b",
                                      "aflguard/v1/orchard/ask/a/other",
                                      "aflguard/v1/orchard/ask/history",
                                      "/aflguard/v1/orchard/model",
                                      "aflguard/v1/or chard/model",
                                      "$SYS/broker/uptime",
                                      "aflguard/v1/orchard/up/a/update/"}) {
    TEST_ASSERT_FALSE_MESSAGE(parse_topic(text).ok(), std::string(text).c_str());
  }
}

TEST("A topic is read up to its longest length, and one byte more is refused by its length") {
  const std::string longest(kMaxTopicLength, 'x');
  ASSERT_CONTAINS(message_of(parse_topic(longest)), "does not start with");
  ASSERT_CONTAINS(message_of(parse_topic(longest + "x")), "over the limit of 256");
  ASSERT_OK(parse_topic("aflguard/v1/" + std::string(64, 'f') + "/up/" + std::string(64, 'd') + "/update"));
  TEST_ASSERT_FALSE(parse_topic("aflguard/v1/" + std::string(65, 'f') + "/model").ok());
  TEST_ASSERT_FALSE(parse_topic("aflguard/v1/f/up/" + std::string(65, 'd') + "/update").ok());
}

TEST("A fleet needs a name that fits one level") {
  TEST_ASSERT_FALSE(FleetTopics::create("a/b").ok());
  TEST_ASSERT_FALSE(FleetTopics::create("+").ok());
}

TEST("Filters match as MQTT says") {
  TEST_ASSERT_TRUE(topic_matches("a/b", "a/b"));
  TEST_ASSERT_TRUE(topic_matches("a/+/c", "a/b/c"));
  TEST_ASSERT_TRUE(topic_matches("a/#", "a/b/c"));
  TEST_ASSERT_TRUE(topic_matches("a/#", "a"));
  TEST_ASSERT_TRUE(topic_matches("#", "a/b"));
  TEST_ASSERT_TRUE(topic_matches("+/+", "/a"));
  TEST_ASSERT_TRUE(topic_matches("a/", "a/"));
  TEST_ASSERT_FALSE(topic_matches("a/+", "a"));
  TEST_ASSERT_FALSE(topic_matches("a/+", "a/b/c"));
  TEST_ASSERT_FALSE(topic_matches("a/b", "a/b/c"));
  TEST_ASSERT_FALSE(topic_matches("a/b/c", "a/b"));
  TEST_ASSERT_FALSE(topic_matches("a", "a/"));
  TEST_ASSERT_FALSE(topic_matches("#", "$SYS/uptime"));
}
