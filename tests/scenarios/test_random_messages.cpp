#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>

#include "core/base/random.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/from_environment.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::uint64_t kMessagesPerRound = 50;
constexpr std::uint64_t kSequences = 6;  // that the hostile device signs; numbers above are never its own

Bytes noise(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

/// One real message with something wrong about it, or one that never was a message. Some of the changes leave
/// it right: a repeat, another order.
class Damage final {
 public:
  Damage(Random& random, std::vector<Bytes> real) : random_(random), real_(std::move(real)) {}

  [[nodiscard]] Bytes next() {
    Bytes message = any();
    switch (random_.below(8)) {
      case 0:
        return message;  // once more
      case 1:
        return noise(random_, random_.below(2000));
      case 2:
        message.resize(random_.below(message.size() + 1));
        break;
      case 3: {
        const Bytes more = noise(random_, 1 + random_.below(200));
        message.insert(message.end(), more.begin(), more.end());
        break;
      }
      case 4: {  // the beginning of one and the end of another
        const Bytes other = any();
        const std::uint64_t cut = random_.below(std::min(message.size(), other.size()));
        message.resize(cut);
        message.insert(message.end(), other.begin() + static_cast<std::ptrdiff_t>(cut), other.end());
        break;
      }
      case 5:  // in the header: round, index, count, transfer, total
        change(message, random_.below(kPieceHeaderBytes));
        break;
      default:
        for (std::uint64_t i = 0; i <= random_.below(4); ++i) change(message, random_.below(message.size()));
    }
    return message;
  }

 private:
  [[nodiscard]] Bytes any() { return real_[random_.below(real_.size())]; }
  void change(Bytes& message, std::uint64_t at) {
    message[at] ^= static_cast<std::byte>(1 + random_.below(255));
  }

  Random& random_;
  std::vector<Bytes> real_;
};

/// What the hostile device really signed, whole and in pieces of several sizes.
std::vector<Bytes> real_messages(HandDevice& device, Random& random) {
  std::vector<Bytes> messages;
  for (std::uint64_t sequence = 1; sequence <= kSequences; ++sequence) {
    const Bytes envelope = device.seal(device.update(sequence, 0, 1));
    for (const Bytes& piece : HandDevice::pieces(envelope, 40 + random.below(envelope.size()))) {
      messages.push_back(piece);
    }
  }
  return messages;
}

}  // namespace

TEST("Whatever is done to real messages, only what was signed counts, and only once") {
  const std::uint64_t seed = from_environment("AFLGUARD_SEED", 1);
  const std::uint64_t rounds = from_environment("AFLGUARD_ROUNDS", 6);
  std::printf("AFLGUARD_SEED=%llu AFLGUARD_ROUNDS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(rounds));
  Random random(seed, 4);
  LiveFleetOptions options;
  options.features = 40;
  options.gateway_extra = "[limits]\nsilence_seconds = 1\nupdate_bytes = 4096\ndevice_bytes = 16384\n";
  LiveFleet fleet(options);
  fleet.enrol("pi-1");
  fleet.enrol("pi-2");
  fleet.start_gateway();
  HandDevice honest(fleet, "pi-1");
  HandDevice hostile(fleet, "pi-2");
  Damage damage(random, real_messages(hostile, random));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    std::vector<Bytes> messages;
    for (std::uint64_t i = 0; i < kMessagesPerRound; ++i) messages.push_back(damage.next());
    hostile.flood(messages);
    const VerdictMessage verdict = honest.insist(honest.update(round, 0, 2));
    TEST_ASSERT_TRUE(verdict.accepted);
    TEST_ASSERT_TRUE(fleet.gateway_runs());
  }
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));

  std::map<ClientId, std::string> names;
  for (const DeviceRecord& device : fleet.devices()) names[device.id] = device.name;
  std::set<std::pair<std::string, std::uint64_t>> judged;
  double sum = 0;
  for (const VerdictRecord& record : fleet.history()) {
    const std::string& name = names.at(record.device);
    TEST_ASSERT_TRUE_MESSAGE(judged.insert({name, record.sequence}).second, "judged twice");
    TEST_ASSERT_TRUE(record.sequence >= 1 && record.sequence <= (name == "pi-2" ? kSequences : rounds));
    TEST_ASSERT_TRUE(record.verdict.accepted);
    sum += name == "pi-2" ? 1 : 2;
  }
  for (const float parameter : fleet.stored_model()) TEST_ASSERT_EQUAL_DOUBLE(-sum, parameter);
  std::printf("%zu updates judged after %llu damaged messages\n", judged.size(),
              static_cast<unsigned long long>(rounds * kMessagesPerRound));
}
