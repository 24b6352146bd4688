#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/envelope/message_codec.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/forked_process.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;  // a sanitizer keeps what was freed
#else
constexpr bool kMemoryIsOurs = true;
#endif

/// The most memory that a process has ever held, in megabytes.
double peak_megabytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  TEST_FAIL_MESSAGE("no such process");
  return 0;
}

/// The same bytes in another round, as a device that starts over says: to the gateway a whole new transfer.
Bytes in_round(Bytes piece, std::uint16_t round) {
  piece[2] = static_cast<std::byte>(round >> 8);
  piece[3] = static_cast<std::byte>(round & 0xFF);
  return piece;
}

constexpr std::uint16_t kRounds = 750;

/// 160 MB of ill will in 3,000 messages: noise, transfers that are begun and never ended, envelopes with
/// wrong signatures, and one update that is right, again and again.
void flood(LiveFleet& fleet) {
  HandDevice device(fleet, "pi-2");
  const Bytes right = device.seal(device.update(1, 0, 0));
  const auto once = HandDevice::pieces(right, right.size());
  TEST_ASSERT_EQUAL_UINT64(1, once.size());
  Bytes wrong = once.front();
  wrong[wrong.size() / 2] ^= std::byte{1};
  const auto halves = HandDevice::pieces(right, right.size() / 2 + 1);
  std::vector<Bytes> messages;
  for (std::uint16_t round = 1; round <= kRounds; ++round) {
    messages.push_back(in_round(once.front(), round));
    Bytes forged = in_round(wrong, round);
    Bytes begun = halves.front();
    std::memcpy(begun.data() + 8, &round, sizeof round);  // another transfer each
    std::memcpy(forged.data() + 10, &round, sizeof round);
    messages.push_back(std::move(forged));
    messages.push_back(std::move(begun));
    messages.push_back(Bytes(kMaxPieceBytes, static_cast<std::byte>(round)));
  }
  device.flood(messages);
}

}  // namespace

TEST("A flood costs bounded memory and a few lines of log, and another device is answered meanwhile") {
  LiveFleetOptions options;
  options.features = 15'000;
  options.gateway_extra =
      "[limits]\ninbox_bytes = 4194304\nwaiting_bytes = 4194304\noutbox_bytes = 4194304\n";
  LiveFleet fleet(options);
  fleet.enrol("pi-1");
  fleet.enrol("pi-2");
  fleet.start_gateway();
  const double before = peak_megabytes(fleet.gateway_pid());
  ForkedProcess flooding([&fleet] { flood(fleet); });
  HandDevice honest(fleet, "pi-1");
  std::uint64_t sequence = 0;
  std::uint64_t version = 0;
  std::chrono::steady_clock::duration longest{};
  while (flooding.running() || sequence < 3) {
    const auto begin = std::chrono::steady_clock::now();
    const VerdictMessage verdict = honest.insist(honest.update(++sequence, version, 0.5F));
    TEST_ASSERT_TRUE(verdict.accepted);
    version = verdict.version;
    longest = std::max(longest, std::chrono::steady_clock::now() - begin);
  }
  TEST_ASSERT_EQUAL_INT(0, flooding.wait());
  // Not all: what comes while its inbox is full a gateway drops unread, and counts by itself.
  fleet.wait_for_refusals("unsupported", kRounds / 4);
  const double growth = peak_megabytes(fleet.gateway_pid()) - before;
  std::printf("%llu honest updates, the longest took %.2f s; the gateway grew by %.1f MB\n",
              static_cast<unsigned long long>(sequence), std::chrono::duration<double>(longest).count(),
              growth);
  if (kMemoryIsOurs) TEST_ASSERT_TRUE_MESSAGE(growth < 40, "the gateway's memory has grown with the flood");
  const std::string log = fleet.gateway_log();
  const auto lines = std::count(log.begin(), log.end(), '\n');
  TEST_ASSERT_TRUE_MESSAGE(lines < 50, log.c_str());
}
