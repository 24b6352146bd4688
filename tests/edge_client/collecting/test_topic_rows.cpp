#include <fstream>

#include "core/learning/data/csv_follower.h"
#include "core/learning/json_row.h"
#include "core/system/atomic_file.h"
#include "core/transport/in_process_broker.h"
#include "edge_client/collecting/topic_rows.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/small_disk.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

struct Rig {
  explicit Rig(TopicSettings given) : settings(std::move(given)) {
    settings.topic = "press/1";
    ASSERT_OK(sensor->start());
    ASSERT_OK(board->start());
    broker.settle();
  }

  void publish(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_OK(sensor->publish({"press/1", Bytes(bytes.begin(), bytes.end())}));
    broker.settle();
  }
  TopicRows open(const fs::path& file) {
    auto rows = TopicRows::open(settings, file, *board, log);
    ASSERT_OK(rows);
    broker.settle();
    return std::move(*rows);
  }

  TopicSettings settings;
  TemporaryFolder folder;
  InProcessBroker broker{1};
  std::unique_ptr<MessageBus> sensor = broker.client("sensor");
  std::unique_ptr<MessageBus> board = broker.client("board");
  KeptLog log;
};

std::string text_of(const fs::path& file) {
  return read_text_file(file).value();
}

}  // namespace

TEST("Rows of a topic stand in the table when collect() is over, and are samples then") {
  Rig rig({.topic = "press/1", .json = false, .fields = {"t", "p", "state"}});
  const fs::path file = rig.folder / "rows.csv";
  TopicRows rows = rig.open(file);
  rig.publish("1,2,0");
  rig.publish("3,4,1\r\n\n5,x,1\n6,7,1\n");
  TEST_ASSERT_EQUAL_STRING("t,p,state\n", text_of(file).c_str());
  ASSERT_OK(rows.collect());
  TEST_ASSERT_EQUAL_STRING("t,p,state\n1,2,0\n3,4,1\n5,x,1\n6,7,1\n", text_of(file).c_str());
  TEST_ASSERT_EQUAL_UINT64(4, rows.rows());
  CsvOptions options;
  options.classes = 2;
  options.sample_shape = {2};
  CsvFollower follower("rows", file, options, 100);
  TEST_ASSERT_EQUAL_size_t(3, *follower.poll());
  ASSERT_CONTAINS(follower.last_problem(), "line 4, column 2: 'x' is not a number");
}

TEST("JSON payloads become rows, and what is not one is refused and named") {
  Rig rig({.topic = "press/1", .json = true, .fields = {"t", "p", "state"}});
  const fs::path file = rig.folder / "rows.csv";
  TopicRows rows = rig.open(file);
  for (const char* payload : {R"({"p": 2.5, "state": "run", "t": -1e3, "more": 7})", R"([1, null, "a,b"])",
                              R"({"t": 1, "state": "idle"})", "[1, 2]", "no json", "7",
                              R"({"t": {"x": 1}, "p": 1, "state": "run"})"}) {
    rig.publish(payload);
  }
  ASSERT_OK(rows.collect());
  TEST_ASSERT_EQUAL_STRING("t,p,state\n-1000.0,2.5,run\n1,,\"a,b\"\n1,,idle\n", text_of(file).c_str());
  TEST_ASSERT_EQUAL_UINT64(4, rows.refused());
  ASSERT_CONTAINS(rig.log.text, "4 payloads of topic press/1 refused, the last one because field 't'");
}

TEST("A text cannot end a row or begin another column") {
  TEST_ASSERT_EQUAL_STRING("\"a \"\"b\"\" c\"", csv_field("a\n\"b\"\tc").c_str());
  TEST_ASSERT_EQUAL_STRING("plain text", csv_field("plain text").c_str());
  TEST_ASSERT_EQUAL_STRING("\"1;2\"", csv_field("1;2").c_str());
}

TEST("A line that a power cut tore is ended, and rows go on behind it") {
  Rig rig({});
  const fs::path file = rig.folder / "rows.csv";
  ASSERT_OK(write_file_atomically(file, std::string_view("1,2,0\n3,4")));
  TopicRows rows = rig.open(file);
  rig.publish("5,6,1");
  ASSERT_OK(rows.collect());
  TEST_ASSERT_EQUAL_STRING("1,2,0\n3,4\n5,6,1\n", text_of(file).c_str());
}

TEST("A full disk keeps the rows for later and leaves nothing half-written") {
  Rig rig({});
  SmallDisk disk(rig.folder / "disk", 4);
  const fs::path file = rig.folder / "disk/rows.csv";
  TopicRows rows = rig.open(file);
  rig.publish("1,2,0");
  ASSERT_OK(rows.collect());
  disk.fill();
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "3,4,1\n";
  rig.publish(many);
  ASSERT_CONTAINS(message_of(rows.collect()), "rows.csv");
  TEST_ASSERT_EQUAL_STRING("1,2,0\n", text_of(file).c_str());
  disk.make_room();
  ASSERT_OK(rows.collect());
  TEST_ASSERT_EQUAL_STRING(("1,2,0\n" + many).c_str(), text_of(file).c_str());
}

TEST("At its limit the table becomes another file and a new one begins with the header") {
  Rig rig({.topic = "press/1", .json = false, .fields = {"a", "b"}, .max_bytes = 10});
  const fs::path file = rig.folder / "rows.csv";
  TopicRows rows = rig.open(file);
  for (const char* row : {"1,2", "3,4", "5,6", "7,8"}) {
    rig.publish(row);
    ASSERT_OK(rows.collect());
  }
  TEST_ASSERT_EQUAL_STRING("a,b\n1,2\n3,4\n", text_of(rig.folder / "rows.csv.1").c_str());
  TEST_ASSERT_EQUAL_STRING("a,b\n5,6\n7,8\n", text_of(file).c_str());
}

TEST("Payloads that are too large or not text are refused") {
  Rig rig({});
  TopicRows rows = rig.open(rig.folder / "rows.csv");
  rig.publish(std::string((1 << 20) + 1, '1'));
  rig.publish(std::string_view("1,2\0,3", 6));
  rig.publish(std::string(1 << 20, '1'));
  ASSERT_OK(rows.collect());
  TEST_ASSERT_EQUAL_UINT64(2, rows.refused());
  TEST_ASSERT_EQUAL_UINT64(1, rows.rows());
}
