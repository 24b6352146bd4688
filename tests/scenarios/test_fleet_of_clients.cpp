#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "core/base/random.h"
#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/background_process.h"
#include "tests/support/from_environment.h"
#include "tests/support/programs.h"
#include "tests/support/random_moment.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFeatures = 20'000;  // an update of 80 KB, five pieces
constexpr std::size_t kSamples = 4;
constexpr int kClients = 3;
constexpr const char* kAgain = "yet; sending it again";

/// The real gateway, the real broker and real client processes, each of which may be killed.
class ClientFleet final {
 public:
  explicit ClientFleet(std::uint64_t seed)
      : random_(seed), fleet_({.learning_rate = 1e-6, .features = kFeatures}) {
    write_samples();
    for (int i = 0; i < kClients; ++i) set_up(name(i), fleet_.enrol(name(i)));
    fleet_.start_gateway();
    for (int i = 0; i < kClients; ++i) start_client(i);
    wait_for_progress();
  }

  [[nodiscard]] static std::string name(int i) { return "pi-" + std::to_string(i + 1); }

  void break_something() {
    let_random_time_pass(random_, std::chrono::milliseconds(300));
    const std::uint64_t what = random_.below(6);
    if (what == 0) fleet_.end_gateway(SIGKILL);
    if (what == 1) fleet_.broker().end(SIGKILL);
    if (what == 1) fleet_.broker().start();
    if (what == 0) fleet_.start_gateway();
    for (int i = 0; i < kClients; ++i) {
      if (what >= 2 && random_.below(2) == 0) {
        clients_[i]->end(SIGKILL);
        start_client(i);
      }
    }
    wait_for_progress();
  }

  /// Client `i` is renewed while an update that it signed with its old key waits: the fleet knows only the
  /// new one by the time the client is back.
  void renew_with_an_update_waiting(int i) {
    fleet_.end_gateway(SIGTERM);
    wait_for_log(i, kAgain, count_in_log(i, kAgain) + 1);
    TEST_ASSERT_EQUAL_INT(0, clients_[i]->end(SIGTERM));
    set_up(name(i), fleet_.renew(name(i)));
    fleet_.start_gateway();
    start_client(i);
    wait_for_log(i, "it is signed again", 1);
    wait_for_progress();
  }

  /// Every client ends cleanly, then the gateway.
  void finish() {
    for (int i = 0; i < kClients; ++i) TEST_ASSERT_EQUAL_INT(0, clients_[i]->end(SIGTERM));
    fleet_.end_gateway(SIGTERM);
  }

  [[nodiscard]] LiveFleet& fleet() { return fleet_; }
  /// Sequence numbers and versions of the accepted updates in a client's log.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> acknowledged(int i) const {
    std::map<std::uint64_t, std::uint64_t> found;
    std::ifstream log(log_of(i));
    for (std::string line; std::getline(log, line);) {
      unsigned long long sequence = 0;
      unsigned long long version = 0;
      if (std::sscanf(line.c_str(), "info: verdict %llu: accepted, version %llu", &sequence, &version) == 2) {
        found[sequence] = version;
      }
    }
    return found;
  }

 private:
  [[nodiscard]] fs::path folder(const std::string& device) const { return fleet_.path() / device; }
  [[nodiscard]] fs::path log_of(int i) const { return folder(name(i)) / "client.log"; }

  void write_samples() {
    std::vector<float> features(kSamples * kFeatures);
    for (float& feature : features) feature = static_cast<float>(random_.uniform());
    ASSERT_OK(write_npy(fleet_.path() / "x.npy", features, {kSamples, kFeatures}));
    ASSERT_OK(write_npy(fleet_.path() / "y.npy", std::vector<float>{1, 2, 3, 4}, {kSamples}));
  }

  void set_up(const std::string& device, const CertificateFiles& files) {
    fs::create_directories(folder(device));
    ASSERT_OK(write_file_atomically(folder(device) / "device.key", read_text_file(files.key).value(),
                                    FileAccess::kOwnerOnly));
    const auto gateway_key = run_program(
        {"openssl", "pkey", "-in", fleet_.files("gateway").key.string(), "-pubout"}, fleet_.path());
    ASSERT_OK(gateway_key);
    ASSERT_OK(write_file_atomically(folder(device) / "gateway.pem", gateway_key->output));
    ASSERT_OK(write_file_atomically(
        folder(device) / "client.toml",
        "[fleet]\nname = \"orchard\"\ndevice = \"" + device + "\"\n[broker]\nhost = \"localhost\"\nport = " +
            std::to_string(fleet_.broker().port()) + "\nanswer_seconds = 1\n[identity]\ncertificate = \"" +
            files.certificate.string() + "\"\nca = \"" + fleet_.authority().certificate().string() +
            "\"\n[model]\npackage = \"../model\"\n[data]\nformat = \"npy\"\nfeatures = \"../x.npy\"\n"
            "labels = \"../y.npy\"\n"));
  }

  void start_client(int i) {
    clients_[i].emplace(std::vector<std::string>{program("aflguard-client"), "--config",
                                                 (folder(name(i)) / "client.toml").string()},
                        fleet_.path(), log_of(i));
  }

  [[nodiscard]] std::size_t count_in_log(int i, const std::string& text) const {
    const std::string log = read_text_file(log_of(i)).value();
    std::size_t found = 0;
    for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found;
  }

  /// Returns when client `i` has said `text` at least `times` times.
  void wait_for_log(int i, const std::string& text, std::size_t times) const {
    wait_until(name(i) + " says '" + text + "'", [&] { return count_in_log(i, text) >= times; });
  }

  /// Every client gets one more verdict.
  void wait_for_progress() {
    for (int i = 0; i < kClients; ++i) {
      const std::size_t before = acknowledged(i).size();
      wait_until(name(i) + " goes on; its log is " + log_of(i).string(),
                 [&] { return acknowledged(i).size() > before; });
    }
  }

  Random random_;
  LiveFleet fleet_;
  std::optional<BackgroundProcess> clients_[kClients];
};

/// What the clients were told is in the gateway's history, once, and no number is left out.
void assert_history_agrees(ClientFleet& clients) {
  std::map<ClientId, std::string> names;
  for (const DeviceRecord& device : clients.fleet().devices()) names[device.id] = device.name;
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> history;  // device -> sequence -> version
  std::uint64_t version = 0;
  for (const VerdictRecord& verdict : clients.fleet().history()) {
    TEST_ASSERT_TRUE(verdict.verdict.accepted);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(++version, verdict.version, "versions have no gap");
    TEST_ASSERT_TRUE_MESSAGE(
        history[names.at(verdict.device)].emplace(verdict.sequence, verdict.version).second,
        "an update counts once");
  }
  for (int i = 0; i < kClients; ++i) {
    const auto& judged = history[ClientFleet::name(i)];
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(judged.size(), judged.rbegin()->first, "no sequence number is left out");
    for (const auto& [sequence, known] : clients.acknowledged(i)) {
      const std::string text = ClientFleet::name(i) + " was told that update " + std::to_string(sequence) +
                               " is in version " + std::to_string(known);
      TEST_ASSERT_TRUE_MESSAGE(judged.contains(sequence), text.c_str());
      // The answer to a repeat names the model of that moment, which contains the update too.
      TEST_ASSERT_TRUE_MESSAGE(known >= judged.at(sequence), text.c_str());
    }
  }
}

}  // namespace

TEST(
    "Clients, gateway and broker are killed again and again: every acknowledged update is in the history, "
    "once") {
  const std::uint64_t seed = from_environment("AFLGUARD_SEED", 1);
  const std::uint64_t rounds = from_environment("AFLGUARD_ROUNDS", 6);
  std::printf("AFLGUARD_SEED=%llu AFLGUARD_ROUNDS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(rounds));
  ClientFleet clients(seed);
  for (std::uint64_t i = 0; i < rounds; ++i) clients.break_something();
  clients.finish();
  assert_history_agrees(clients);
}

TEST("A client that is renewed while an update waits sends it under its new key, and it counts once") {
  ClientFleet clients(1);
  clients.renew_with_an_update_waiting(1);
  clients.finish();
  assert_history_agrees(clients);
}
