#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/book/device_book.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/refusal_message.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "gateway_server/judging/gateway_store.h"
#include "tests/support/quiet_log.h"
#include "tests/support/raw_mqtt_client.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

namespace aflguard::testing {
using namespace gateway;

/// Longer than anything takes; a test that waits this long has failed.
inline constexpr std::chrono::seconds kLong{60};

class LiveFleet;

/// A device that a test plays by hand: real certificate, real key, real connection, and no scruples.
class HandDevice final {
 public:
  HandDevice(LiveFleet& fleet, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// An update that is right in every respect: `value` in every coordinate.
  [[nodiscard]] UpdateMessage update(std::uint64_t sequence, std::uint64_t base_version, float value) const;
  [[nodiscard]] Bytes seal(const UpdateMessage& update);
  /// All pieces of an envelope, to be published in whatever order.
  [[nodiscard]] static std::vector<Bytes> pieces(const Bytes& envelope,
                                                 std::size_t body_bytes = kDefaultPieceBody);

  /// Publishes on its own update topic and waits until the broker has it; reconnects when it has to.
  void publish(const Bytes& message);
  void send(const Bytes& envelope);
  /// Publishes all of them as quickly as the broker takes them, without a look at any verdict.
  void flood(const std::vector<Bytes>& messages);
  /// The next verdict that the gateway has signed for this device; fails the test when none comes.
  [[nodiscard]] VerdictMessage next_verdict();
  /// The gateway's signed refusal of this envelope, sending it again and again until it comes.
  [[nodiscard]] RefusalMessage insist_on_refusal(const Bytes& envelope);
  /// The verdict on this sequence number, sending it again and again until it comes.
  [[nodiscard]] VerdictMessage insist(const UpdateMessage& update);

  [[nodiscard]] MqttBus& bus() { return *bus_; }
  [[nodiscard]] OpensslSigner& signer() { return signer_; }

 private:
  void publish_round(const Bytes& envelope, std::uint16_t round);
  [[nodiscard]] std::optional<VerdictMessage> verdict_until(std::chrono::steady_clock::time_point deadline,
                                                            bool until_refusal = false);

  LiveFleet& fleet_;
  std::string name_;
  OpensslSigner signer_;
  EnvelopeSealer sealer_;
  std::unique_ptr<MqttBus> bus_;
  PieceAssembler assembler_;
  std::vector<RefusalMessage> refusals_;
};

struct LiveFleetOptions {
  std::string guard = "asyncsgd";
  std::string guard_extra = {};    ///< more lines of gateway.toml's [guard]
  std::string gateway_extra = {};  ///< more sections of gateway.toml
  std::string store_file = "gateway.db";
  double learning_rate = 1;
  std::size_t features = 4;  ///< of the model, which has one parameter more
};

/// A gateway program beside a broker that a test may kill, with devices that the test plays. Unlike
/// TestFleet's programs, both are configured by hand: tests need a broker without a fleet's limits,
/// certificates that no operator would issue, and a gateway that does not start. Linear regression on a few
/// features, so that a model is a handful of numbers that a test can follow.
class LiveFleet final {
 public:
  explicit LiveFleet(const LiveFleetOptions& options = {});

  /// Certificate, key and entry in the book; before the gateway starts or while it runs.
  CertificateFiles enrol(const std::string& name);
  /// New certificate and key for an enrolled device whose former ones have ended: the book has forgotten
  /// them.
  CertificateFiles renew(const std::string& name);
  void revoke(const std::string& name);

  /// Returns when the gateway is ready.
  void start_gateway();
  /// Returns at once; the gateway may also come to nothing. `environment` in front: "NAME=value".
  void launch_gateway(const std::vector<std::string>& environment = {});
  /// Waits until the gateway has ended by itself: its exit code.
  [[nodiscard]] int wait_for_gateway_end();
  /// Its exit code, as BackgroundProcess tells it.
  int end_gateway(int signal);
  [[nodiscard]] static std::string gateway_program();
  [[nodiscard]] bool gateway_runs() { return gateway_ && gateway_->running(); }
  [[nodiscard]] pid_t gateway_pid() const { return gateway_->pid(); }
  [[nodiscard]] std::string gateway_log() const;
  /// How often `text` is in the log so far.
  [[nodiscard]] std::size_t count_in_log(const std::string& text) const;
  /// Returns when the log has had a line with `text` at least `times` times.
  void wait_for_log(const std::string& text, std::size_t times = 1);

  using Wanted = std::function<bool(const std::string&)>;
  /// The latest retained JSON of gateway/metrics for which `wanted` holds.
  [[nodiscard]] std::string wait_for_metrics(const Wanted& wanted);
  /// The latest message on that topic for which `wanted` holds.
  [[nodiscard]] std::string wait_for_json(const std::string& topic, const Wanted& wanted);
  /// Returns when gateway/status says so.
  void wait_for_state(const std::string& state);
  /// How many messages were refused for that reason, as soon as there are as many as `at_least`.
  void wait_for_refusals(const std::string& reason, std::uint64_t at_least);

  [[nodiscard]] std::vector<VerdictRecord> history() const;  ///< from the store, read as others may
  [[nodiscard]] std::vector<DeviceRecord> devices() const;
  [[nodiscard]] std::vector<float> stored_model() const;

  /// How long everything here waits for anything; kLong by default.
  void set_timeout(std::chrono::seconds timeout) { timeout_ = timeout; }
  [[nodiscard]] std::chrono::seconds timeout() const { return timeout_; }

  /// One text of gateway.toml by another, before the gateway starts.
  void change_config(const std::string& from, const std::string& to);
  [[nodiscard]] MqttOptions bus_options(const std::string& name);
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path config() const { return folder_ / "gateway.toml"; }
  [[nodiscard]] std::filesystem::path store() const { return folder_ / options_.store_file; }
  [[nodiscard]] const ModelHash& model_hash() const { return model_hash_; }
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] const PublicKey& gateway_key() const { return gateway_key_; }
  [[nodiscard]] TestBroker& broker() { return *broker_; }
  [[nodiscard]] TestAuthority& authority() { return *authority_; }
  [[nodiscard]] const CertificateFiles& files(const std::string& name) const { return files_.at(name); }
  QuietLog log;

 private:
  [[nodiscard]] DeviceKey issue(const std::string& name);

  LiveFleetOptions options_;
  std::chrono::seconds timeout_ = kLong;
  TemporaryFolder folder_;
  std::optional<TestAuthority> authority_;
  std::optional<TestBroker> broker_;
  std::optional<DeviceBook> book_;
  std::map<std::string, CertificateFiles> files_;
  ModelHash model_hash_{};
  std::size_t dimension_ = 0;
  PublicKey gateway_key_{};
  std::optional<BackgroundProcess> gateway_;
  std::unique_ptr<RawMqttClient> watcher_;     ///< of what the gateway tells about itself
  std::map<std::string, std::string> latest_;  ///< the same, by topic
  std::set<std::string> watched_;              ///< topics that the watcher listens to
};

}  // namespace aflguard::testing
