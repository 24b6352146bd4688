#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/peer/peer.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "core/envelope/refusal_message.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/transport/topics.h"

namespace aflguard::bench {

struct CrowdSettings {
  Identity identity;  ///< of the one connection; the broker's access list lets it write for all
  ModelHash model_hash{};
  PublicKey gateway_key{};
  std::vector<float> vector;       ///< of every update
  std::filesystem::path key_file;  ///< private keys of crowd-1, crowd-2, ..., as PEM, one after the other
};

/// What a crowd saw. Times are from the first piece of an update to its verdict.
struct CrowdOutcome {
  std::size_t devices = 0;
  std::size_t turns = 0;    ///< verdicts
  std::size_t without = 0;  ///< devices that got no verdict at all
  double seconds = 0;       ///< until the last verdict
  double median_turns = 0;
  double slowest_tenth_turns = 0;  ///< mean of the tenth of the devices with the fewest
  double median_ms = 0;
  double longest_ms = 0;
  double above_5_s = 0;      ///< share of the turns
  std::size_t refusals = 0;  ///< signed answers
  std::size_t silent = 0;    ///< sends that nothing answered within the timeout of a device
  [[nodiscard]] std::string text() const;
};

/// Many devices without training over one connection: each signs with its own key, sends pieces, waits for
/// its verdict, comes back when a refusal says so, and sends again after 30 seconds of silence. Signatures of
/// the gateway are not checked here: what a crowd costs its machine shall not be counted against the gateway.
class Crowd final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Crowd>> create(CrowdSettings settings, LogSink& log);

  /// So many of the devices always have one update under way, for so long.
  [[nodiscard]] Result<CrowdOutcome> busy(std::size_t devices, double seconds);
  /// So many devices send one update each, `per_second` of them begin each second (0: all at once).
  [[nodiscard]] Result<CrowdOutcome> once(std::size_t devices, double per_second);

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  struct Device {
    std::string name;
    std::string topic;
    std::string key;  ///< PEM
    std::optional<OpensslSigner> signer;
    std::uint64_t sequence = 0;
    std::optional<PieceSender> sender;  ///< while an update is under way
    bool queued = false;                ///< among those that have pieces to send
    bool held = false;                  ///< until `due`
    bool answered = false;              ///< since the last send
    Time begun{};
    Time due{};
    std::size_t turns = 0;
    double longest_ms = 0;
  };
  struct OnItsWay {
    std::size_t device = 0;
    std::uint16_t index = 0;
    std::uint64_t transfer = 0;
  };

  Crowd(CrowdSettings settings, FleetTopics topics, std::unique_ptr<MqttBus> bus);
  [[nodiscard]] Status read_keys();
  void reset(std::size_t devices);
  [[nodiscard]] Status begin(std::size_t number);
  void enqueue(std::size_t number);
  void pump();
  [[nodiscard]] Status step(Time until);
  void on_published(PublishId id, bool reached);
  void on_message(const Message& message);
  void on_verdict(Device& device, const VerdictMessage& verdict);
  void on_refusal(Device& device, const RefusalMessage& refusal);
  void wake_due(Time now);
  [[nodiscard]] CrowdOutcome outcome(std::size_t devices, Time begin);

  CrowdSettings settings_;
  FleetTopics topics_;
  std::unique_ptr<MqttBus> bus_;
  std::vector<Device> devices_;
  std::unordered_map<std::string, std::size_t> by_topic_;  ///< of verdicts
  std::deque<std::size_t> queue_;
  std::map<PublishId, OnItsWay> on_their_way_;
  std::multimap<Time, std::size_t> alarms_;
  std::vector<std::size_t> finished_;  ///< since they were last looked at
  std::vector<double> waits_ms_;
  PieceAssembler assembler_;
  std::size_t under_way_ = 0;
  std::size_t refusals_ = 0;
  std::size_t silent_ = 0;
  std::uint64_t version_ = 0;
  Time last_verdict_{};
};

}  // namespace aflguard::bench
