#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

enum class TopicKind : std::uint8_t {
  kUpdate,          ///< up/<device>/update
  kDeviceStatus,    ///< up/<device>/status
  kVerdict,         ///< down/<device>/verdict
  kModel,           ///< model
  kGatewayStatus,   ///< gateway/status
  kGatewayMetrics,  ///< gateway/metrics
  kEvents,          ///< events
  kDeviceSummary,   ///< gateway/devices/<device>
  kQuestion,        ///< ask/<viewer>/history
  kAnswer,          ///< tell/<viewer>/history
  kRelease,         ///< release/order
  kReleasePiece,    ///< release/piece/<piece>
  kTrial,           ///< up/<device>/trial
  kRollout,         ///< gateway/rollout
  kRenewal,         ///< up/<device>/renewal
  kCertificate,     ///< down/<device>/certificate
};

/// One topic of docs/wire-format.md or docs/topics.md. A device named in a topic is a claim that the broker's
/// access list backs; who signed a message is another question.
struct Topic {
  TopicKind kind = TopicKind::kUpdate;
  std::string fleet;
  std::string device;  ///< or viewer, in questions and answers, or piece; empty where the topic has none

  [[nodiscard]] std::string text() const;
  friend bool operator==(const Topic&, const Topic&) = default;
};

/// The topic that `text` names; kInvalidInput for anything else, wildcards included.
[[nodiscard]] Result<Topic> parse_topic(std::string_view text);

/// Longer topics are refused before they are read.
inline constexpr std::size_t kMaxTopicLength = 256;

/// The topics and filters of one fleet.
class FleetTopics final {
 public:
  /// kInvalidInput when `fleet` is not a name.
  [[nodiscard]] static Result<FleetTopics> create(std::string_view fleet);

  /// `device` is a name (core/base/identifier.h).
  [[nodiscard]] std::string update(std::string_view device) const;
  [[nodiscard]] std::string device_status(std::string_view device) const;
  [[nodiscard]] std::string verdict(std::string_view device) const;
  [[nodiscard]] std::string model() const;
  [[nodiscard]] std::string gateway_status() const;
  [[nodiscard]] std::string gateway_metrics() const;
  [[nodiscard]] std::string events() const;
  [[nodiscard]] std::string device_summary(std::string_view device) const;
  [[nodiscard]] std::string question(std::string_view viewer) const;
  [[nodiscard]] std::string answer(std::string_view viewer) const;
  [[nodiscard]] std::string release() const;
  [[nodiscard]] std::string release_piece(std::string_view piece) const;
  [[nodiscard]] std::string trial(std::string_view device) const;
  [[nodiscard]] std::string rollout() const;
  [[nodiscard]] std::string renewal(std::string_view device) const;
  [[nodiscard]] std::string certificate(std::string_view device) const;

  /// Filters: of every device, or of every viewer.
  [[nodiscard]] std::string all_updates() const;
  [[nodiscard]] std::string all_device_statuses() const;
  [[nodiscard]] std::string all_device_summaries() const;
  [[nodiscard]] std::string all_questions() const;
  [[nodiscard]] std::string all_trials() const;
  [[nodiscard]] std::string all_renewals() const;

 private:
  explicit FleetTopics(std::string_view fleet) : fleet_(fleet) {}
  [[nodiscard]] std::string text(TopicKind kind, std::string_view device = {}) const;
  std::string fleet_;
};

/// MQTT's rule for filters: '+' stands for one level, '#' at the end for all that follow.
[[nodiscard]] bool topic_matches(std::string_view filter, std::string_view topic);

}  // namespace aflguard
