#include "fleet/monitor/monitor_screen.h"
#include "tests/fleet/view/messages.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;
using namespace aflguard::testing;
using Wish = MonitorScreen::Wish;

namespace {

struct Stage {
  FleetState picture = small_fleet();
  MonitorScreen screen{Glyphs::kUnicode};
  ScreenSize size{120, 30};
  ConnectionNotice connection;

  [[nodiscard]] std::vector<std::string> lines() {
    return screen.render(picture, size, kNow, connection).text();
  }
  [[nodiscard]] std::string all() {
    std::string text;
    for (const std::string& line : lines()) text += line + "\n";
    return text;
  }
  Wish press(char character) { return screen.press({KeyKind::kCharacter, character}, picture, kNow); }
  Wish press(KeyKind kind) { return screen.press({kind}, picture, kNow); }
  void type(const std::string& text) {
    for (const char letter : text) (void)press(letter);
  }
  /// The names in the table, from top to bottom.
  [[nodiscard]] std::string table() {
    std::string names;
    bool in_table = false;
    for (const std::string& line : lines()) {
      if (line.starts_with(" DEVICE")) {
        in_table = true;
      } else if (in_table && (line.starts_with(" EVENTS") || line.empty())) {
        break;
      } else if (in_table) {
        names += line.substr(1, line.find(' ', 1) - 1) + " ";
      }
    }
    return names;
  }
};

}  // namespace

TEST("The screen shows the fleet, its devices by trouble, and its events") {
  Stage stage;
  const std::string text = stage.all();
  for (const char* part :
       {"AFLGuard  f   gateway ready   guard aflguard", "12:00:00 UTC", "devices 3", "suspicious 1", "lost 1",
        "model v1,234", "rejected by too-far 338, stale 3", "refused replay 1", "disk free 41 GB", "0.0546",
        "updates/s", "97 % rejected", "EVENTS", "too-far: 310.2, bound 18.9", "q quit"}) {
    ASSERT_CONTAINS(text, part);
  }
  TEST_ASSERT_EQUAL_STRING("pi-9 pi-2 pi-1 ", stage.table().c_str());
}

TEST("Every size from nothing to huge is drawn within its bounds") {
  Stage stage;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "board-with-a-rather-long-name-" + std::to_string(i);
    take(stage.picture, "up/" + name + "/status", status(name, "ready"));
  }
  for (const std::size_t columns : {0, 1, 20, 39, 40, 53, 80, 96, 120, 400}) {
    for (const std::size_t rows : {0, 1, 9, 10, 11, 17, 18, 24, 60, 300}) {
      for (int page = 0; page < 3; ++page) {
        stage.size = {columns, rows};
        TEST_ASSERT_EQUAL_size_t(rows, stage.lines().size());
        if (page == 0) (void)stage.press('?');
        if (page == 1) (void)stage.press('?');
        if (page == 1) (void)stage.press(KeyKind::kEnter);
        if (page == 2) (void)stage.press(KeyKind::kEscape);
      }
    }
  }
}

TEST("s and S sort, r turns the order round") {
  Stage stage;
  (void)stage.press('s');
  TEST_ASSERT_EQUAL_STRING("pi-1 pi-2 pi-9 ", stage.table().c_str());
  ASSERT_CONTAINS(stage.all(), "by name");
  (void)stage.press('r');
  TEST_ASSERT_EQUAL_STRING("pi-9 pi-2 pi-1 ", stage.table().c_str());
  (void)stage.press('r');
  (void)stage.press('s');
  (void)stage.press('s');
  ASSERT_CONTAINS(stage.all(), "by rejected");
  TEST_ASSERT_EQUAL_STRING("pi-9 pi-2 pi-1 ", stage.table().c_str());
  for (int i = 0; i < 3; ++i) (void)stage.press('S');
  ASSERT_CONTAINS(stage.all(), "by trouble");
  (void)stage.press('S');
  ASSERT_CONTAINS(stage.all(), "by seen");
}

TEST("A filter keeps the devices whose name or state has the text, while and after it is typed") {
  Stage stage;
  (void)stage.press('/');
  stage.type("qs1");
  ASSERT_CONTAINS(stage.all(), "filter: qs1_");
  ASSERT_CONTAINS(stage.all(), "no device matches");
  for (int i = 0; i < 3; ++i) (void)stage.press(KeyKind::kBackspace);
  (void)stage.press(KeyKind::kBackspace);
  stage.type("-9");
  (void)stage.press(KeyKind::kEnter);
  TEST_ASSERT_EQUAL_STRING("pi-9 ", stage.table().c_str());
  ASSERT_CONTAINS(stage.all(), "devices 3");  // the summary is of all
  ASSERT_CONTAINS(stage.all(), "filter: -9 (1)");
  (void)stage.press(KeyKind::kEscape);
  TEST_ASSERT_EQUAL_STRING("pi-9 pi-2 pi-1 ", stage.table().c_str());
  (void)stage.press('/');
  stage.type("lost");
  (void)stage.press(KeyKind::kEnter);
  TEST_ASSERT_EQUAL_STRING("pi-2 ", stage.table().c_str());
}

TEST("Arrows choose a device and pages scroll; the choice stays with the device when rows move") {
  Stage stage;
  for (int i = 100; i < 150; ++i) {
    const std::string name = "b-" + std::to_string(i);
    take(stage.picture, "up/" + name + "/status", status(name, "ready"));
  }
  (void)stage.lines();
  (void)stage.press(KeyKind::kDown);
  ASSERT_CONTAINS(stage.all(), ">pi-9");
  (void)stage.press(KeyKind::kEnd);
  ASSERT_CONTAINS(stage.all(), ">pi-1");
  TEST_ASSERT_TRUE(stage.all().find("pi-9  ") == std::string::npos);
  (void)stage.press(KeyKind::kPageUp);
  (void)stage.press(KeyKind::kUp);
  TEST_ASSERT_TRUE(stage.all().find(">pi-1 ") == std::string::npos);
  (void)stage.press(KeyKind::kHome);
  ASSERT_CONTAINS(stage.all(), ">pi-9");
  (void)stage.press(KeyKind::kPageDown);
  TEST_ASSERT_TRUE(stage.all().find(">pi-9") == std::string::npos);
  (void)stage.press(KeyKind::kHome);
  ASSERT_CONTAINS(stage.all(), ">pi-9");
  take(stage.picture, "up/pi-2/status", status("pi-2", "alert"));
  take(stage.picture, "gateway/devices/pi-2", summary("pi-2", 0, 900, 1.0, 20));
  ASSERT_CONTAINS(stage.all(), ">pi-9");
  TEST_ASSERT_TRUE(stage.table().starts_with("pi-2 pi-9 "));
}

TEST("Enter opens a device's page and asks for its past; Escape goes back") {
  Stage stage;
  TEST_ASSERT_TRUE(stage.press(KeyKind::kEnter) == Wish::kDeviceHistory);
  TEST_ASSERT_EQUAL_STRING("pi-9", stage.screen.device().c_str());
  const std::string page = stage.all();
  for (const char* part :
       {"trouble", "97 % rejected", "2, 300 (lately 97 % rejected)", "distance / bound     12.50",
        "too-far, distance 125, bound 10, delay 3", "version 812, loss 0.3100, 32 samples",
        "51.5 C, memory free 310 MB", "distances, bound 1", "too-far: 310.2"}) {
    ASSERT_CONTAINS(page, part);
  }
  TEST_ASSERT_TRUE(stage.press(KeyKind::kDown) == Wish::kDeviceHistory);
  ASSERT_CONTAINS(stage.all(), "lost; last heard 10 s ago");
  stage.picture.take("aflguard/v1/f/up/pi-2/status", "", kNow);
  ASSERT_CONTAINS(stage.all(), "this device is gone");
  (void)stage.press(KeyKind::kEscape);
  TEST_ASSERT_TRUE(stage.screen.device().empty());
  ASSERT_CONTAINS(stage.all(), "EVENTS");
}

TEST("Space pauses, ? helps, t takes back, q quits") {
  Stage stage;
  TEST_ASSERT_TRUE(stage.press(' ') == Wish::kNothing);
  TEST_ASSERT_TRUE(stage.screen.paused());
  ASSERT_CONTAINS(stage.all(), "PAUSED");
  (void)stage.press(' ');
  TEST_ASSERT_FALSE(stage.screen.paused());
  (void)stage.press('?');
  ASSERT_CONTAINS(stage.all(), "sort by the next");
  (void)stage.press(KeyKind::kEscape);
  TEST_ASSERT_TRUE(stage.all().find("sort by the next") == std::string::npos);
  TEST_ASSERT_TRUE(stage.press('t') == Wish::kTakeBack);
  TEST_ASSERT_TRUE(stage.press('x') == Wish::kNothing);
  TEST_ASSERT_TRUE(stage.press('q') == Wish::kQuit);
}

TEST("The connection's state and the gateway's silence are told") {
  Stage stage;
  stage.connection = {"not connected: the broker does not answer", true};
  ASSERT_CONTAINS(stage.all(), "not connected: the broker does not answer");
  const Frame later = stage.screen.render(stage.picture, stage.size, kNow + std::chrono::minutes(3), {});
  ASSERT_CONTAINS(later.text()[0], "gateway ready: silent for 3 min");
  stage.picture = empty_picture();
  ASSERT_CONTAINS(stage.all(), "no device was heard yet");
  ASSERT_CONTAINS(stage.all(), "no events yet");
}

TEST("A terminal without Unicode gets ASCII only") {
  Stage stage;
  stage.screen = MonitorScreen(Glyphs::kAscii);
  for (const std::string& line : stage.lines()) {
    for (const char letter : line) TEST_ASSERT_TRUE(letter >= ' ' && letter <= '~');
  }
}

TEST("A device's distances go from what the gateway remembers to its latest verdicts") {
  Stage stage;
  (void)stage.press(KeyKind::kEnter);
  const Json question =
      Json::parse(stage.picture.device_question("pi-9", kNow - std::chrono::hours(24), kNow, 400));
  take(stage.picture, "tell/operator/history",
       {{"schema", "aflguard-history-1"},
        {"id", question.at("id")},
        {"series", "device"},
        {"part", 0},
        {"last", true},
        {"step_ms", 300000},
        {"fields", {"time_ms", "accepted", "rejected", "distance", "bound", "delay"}},
        // Two steps of the past, and one that holds what the latest verdicts tell one by one.
        {"points",
         {{1769850000000, 4, 0, 1.0, 10.0, 2.0},
          {1769850300000, 4, 0, 1.0, 10.0, 2.0},
          {1769860900000, 0, 16, 125.0, 10.0, 2.0}}}});
  ASSERT_CONTAINS(stage.all(), "distances, bound 1   ▁▁████████████████\n");
}

TEST("A rate that jumps is shown as its mean of the last moments") {
  Stage stage;
  for (int i = 0; i < 4; ++i) {
    take(stage.picture, "gateway/metrics",
         metrics("2026-01-31T11:59:5" + std::to_string(2 * i + 3) + "Z", i % 2 == 0 ? 6.0 : 0.0, 0.0546));
  }
  std::string line;
  for (const std::string& one : stage.lines()) {
    if (one.find("updates/s") != std::string::npos) line = one;
  }
  TEST_ASSERT_TRUE_MESSAGE(line.ends_with(" 3.0"), line.c_str());
}
