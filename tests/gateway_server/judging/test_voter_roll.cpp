#include "gateway_server/judging/voter_roll.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace std::chrono_literals;

namespace {

DeviceRecord device(ClientId id, const std::string& name, std::int64_t last_seen_ms) {
  DeviceRecord record;
  record.id = id;
  record.name = name;
  record.last_seen_ms = last_seen_ms;
  return record;
}

VoterRoll::Devices three_devices() {
  return {{"pi-1", device(1, "pi-1", 3000)},
          {"pi-2", device(2, "pi-2", 1000)},
          {"pi-3", device(3, "pi-3", 2000)}};
}

/// A new update of that device at `now_ms`.
bool vote(VoterRoll& roll, DeviceRecord& voter, std::int64_t now_ms) {
  const std::int64_t before = std::exchange(voter.last_seen_ms, now_ms);
  return roll.note_vote(voter, before);
}

void expect(const std::vector<ClientId>& wanted, const std::vector<ClientId>& got) {
  TEST_ASSERT_TRUE(wanted == got);
}

}  // namespace

TEST("Without rules every device counts for ever") {
  VoterRoll::Devices devices = three_devices();
  VoterRoll roll;
  expect({}, roll.take_departed(devices, {.everything = true}));
  expect({}, roll.take_silent(1'000'000'000'000));
  TEST_ASSERT_TRUE(vote(roll, devices.at("pi-1"), 5000));
  expect({}, roll.take_silent(1'000'000'000'000));
}

TEST("Devices that were silent for longer than is allowed are named once, the longest silent first") {
  VoterRoll::Devices devices = three_devices();
  VoterRoll roll({.silence = 10s}, devices);
  expect({}, roll.take_silent(11'000));  // exactly as long as is allowed
  expect({2}, roll.take_silent(11'001));
  expect({}, roll.take_silent(11'001));
  expect({3, 1}, roll.take_silent(100'000));
}

TEST("A device that sends again counts again, from its latest update") {
  VoterRoll::Devices devices = three_devices();
  VoterRoll roll({.silence = 10s}, devices);
  TEST_ASSERT_TRUE(vote(roll, devices.at("pi-2"), 11'000));
  expect({3, 1}, roll.take_silent(14'000));
  TEST_ASSERT_TRUE(vote(roll, devices.at("pi-3"), 15'000));  // it was forgotten
  DeviceRecord fresh = device(4, "pi-4", 0);
  TEST_ASSERT_TRUE(vote(roll, fresh, 15'000));
  expect({2}, roll.take_silent(21'001));
  expect({3, 4}, roll.take_silent(25'001));
}

TEST("A device that is not enrolled any more is named once, and again only after it was enrolled again") {
  VoterRoll::Devices devices = three_devices();
  std::string revoked = "pi-2";
  VoterRoll roll(
      {.silence = 10s, .is_enrolled = [&revoked](std::string_view name) { return name != revoked; }},
      devices);
  expect({2}, roll.take_departed(devices, {.everything = true}));
  expect({}, roll.take_departed(devices, {.everything = true}));
  expect({3, 1}, roll.take_silent(100'000));  // pi-2 is not named twice
  revoked.clear();
  expect({}, roll.take_departed(devices, {.everything = true}));
  revoked = "pi-2";
  expect({2}, roll.take_departed(devices, {.everything = true}));
}

TEST("An update that was under way when its device was revoked does not count") {
  VoterRoll::Devices devices = three_devices();
  std::string revoked;
  VoterRoll roll(
      {.silence = 10s, .is_enrolled = [&revoked](std::string_view name) { return name != revoked; }},
      devices);
  revoked = "pi-1";
  TEST_ASSERT_FALSE(vote(roll, devices.at("pi-1"), 5000));
  expect({}, roll.take_departed(devices, {.everything = true}));  // named already
  expect({2, 3}, roll.take_silent(100'000));
}
