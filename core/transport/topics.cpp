#include "core/transport/topics.h"

#include <array>
#include <utility>

#include "core/base/identifier.h"

namespace aflguard {

namespace {

constexpr std::string_view kRoot = "aflguard/v1/";
/// Any level, in filters; no device has this name.
constexpr std::string_view kAnyDevice = "+";

/// What stands before and after a name; topics without a name have all of it in front.
struct Pattern {
  TopicKind kind;
  std::string_view before;
  std::string_view after;
};
constexpr std::array<Pattern, 16> kPatterns = {{
    {TopicKind::kUpdate, "up/", "/update"},
    {TopicKind::kDeviceStatus, "up/", "/status"},
    {TopicKind::kVerdict, "down/", "/verdict"},
    {TopicKind::kModel, "model", ""},
    {TopicKind::kGatewayStatus, "gateway/status", ""},
    {TopicKind::kGatewayMetrics, "gateway/metrics", ""},
    {TopicKind::kEvents, "events", ""},
    {TopicKind::kDeviceSummary, "gateway/devices/", ""},
    {TopicKind::kQuestion, "ask/", "/history"},
    {TopicKind::kAnswer, "tell/", "/history"},
    {TopicKind::kRelease, "release/order", ""},
    {TopicKind::kReleasePiece, "release/piece/", ""},
    {TopicKind::kTrial, "up/", "/trial"},
    {TopicKind::kRollout, "gateway/rollout", ""},
    {TopicKind::kRenewal, "up/", "/renewal"},
    {TopicKind::kCertificate, "down/", "/certificate"},
}};

bool has_device(const Pattern& pattern) {
  return pattern.before.ends_with('/');
}

std::string topic_text(TopicKind kind, std::string_view fleet, std::string_view device) {
  const Pattern& pattern = kPatterns[static_cast<std::size_t>(kind)];
  std::string text(kRoot);
  text.append(fleet).append("/").append(pattern.before);
  if (has_device(pattern)) text.append(device).append(pattern.after);
  return text;
}

/// The part before the first '/' and the part after it.
std::pair<std::string_view, std::string_view> split_level(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return {text, {}};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace

std::string Topic::text() const {
  return topic_text(kind, fleet, device);
}

Result<Topic> parse_topic(std::string_view text) {
  if (text.size() > kMaxTopicLength) {
    return invalid_input("topic of " + std::to_string(text.size()) + " bytes is over the limit of " +
                         std::to_string(kMaxTopicLength));
  }
  if (!text.starts_with(kRoot)) return invalid_input("topic does not start with " + std::string(kRoot));
  const auto [fleet, rest] = split_level(text.substr(kRoot.size()));
  TRY_STATUS(check_identifier("fleet in a topic", fleet));
  for (const Pattern& pattern : kPatterns) {
    if (!has_device(pattern)) {
      if (rest == pattern.before) return Topic{pattern.kind, std::string(fleet), {}};
      continue;
    }
    if (!rest.starts_with(pattern.before) || !rest.ends_with(pattern.after)) continue;
    const std::size_t around = pattern.before.size() + pattern.after.size();
    if (rest.size() < around) continue;
    const std::string_view device = rest.substr(pattern.before.size(), rest.size() - around);
    TRY_STATUS(check_identifier("name in a topic", device));
    return Topic{pattern.kind, std::string(fleet), std::string(device)};
  }
  return invalid_input("topic of fleet '" + std::string(fleet) + "' is none that this protocol knows");
}

Result<FleetTopics> FleetTopics::create(std::string_view fleet) {
  TRY_STATUS(check_identifier("fleet", fleet));
  return FleetTopics(fleet);
}

std::string FleetTopics::text(TopicKind kind, std::string_view device) const {
  return topic_text(kind, fleet_, device);
}

std::string FleetTopics::update(std::string_view device) const {
  return text(TopicKind::kUpdate, device);
}
std::string FleetTopics::device_status(std::string_view device) const {
  return text(TopicKind::kDeviceStatus, device);
}
std::string FleetTopics::verdict(std::string_view device) const {
  return text(TopicKind::kVerdict, device);
}
std::string FleetTopics::model() const {
  return text(TopicKind::kModel);
}
std::string FleetTopics::gateway_status() const {
  return text(TopicKind::kGatewayStatus);
}
std::string FleetTopics::gateway_metrics() const {
  return text(TopicKind::kGatewayMetrics);
}
std::string FleetTopics::events() const {
  return text(TopicKind::kEvents);
}
std::string FleetTopics::device_summary(std::string_view device) const {
  return text(TopicKind::kDeviceSummary, device);
}
std::string FleetTopics::question(std::string_view viewer) const {
  return text(TopicKind::kQuestion, viewer);
}
std::string FleetTopics::answer(std::string_view viewer) const {
  return text(TopicKind::kAnswer, viewer);
}
std::string FleetTopics::renewal(std::string_view device) const {
  return text(TopicKind::kRenewal, device);
}
std::string FleetTopics::certificate(std::string_view device) const {
  return text(TopicKind::kCertificate, device);
}
std::string FleetTopics::all_renewals() const {
  return text(TopicKind::kRenewal, kAnyDevice);
}
std::string FleetTopics::all_device_summaries() const {
  return text(TopicKind::kDeviceSummary, kAnyDevice);
}
std::string FleetTopics::all_questions() const {
  return text(TopicKind::kQuestion, kAnyDevice);
}
std::string FleetTopics::release() const {
  return text(TopicKind::kRelease);
}
std::string FleetTopics::release_piece(std::string_view piece) const {
  return text(TopicKind::kReleasePiece, piece);
}
std::string FleetTopics::trial(std::string_view device) const {
  return text(TopicKind::kTrial, device);
}
std::string FleetTopics::rollout() const {
  return text(TopicKind::kRollout);
}
std::string FleetTopics::all_trials() const {
  return text(TopicKind::kTrial, kAnyDevice);
}
std::string FleetTopics::all_updates() const {
  return text(TopicKind::kUpdate, kAnyDevice);
}
std::string FleetTopics::all_device_statuses() const {
  return text(TopicKind::kDeviceStatus, kAnyDevice);
}

bool topic_matches(std::string_view filter, std::string_view topic) {
  // A wildcard in front does not match the broker's own topics.
  if (topic.starts_with('$') && !filter.starts_with('$')) return false;
  while (true) {
    if (filter == "#") return true;
    const auto [filter_level, filter_rest] = split_level(filter);
    const auto [topic_level, topic_rest] = split_level(topic);
    if (filter_level != "+" && filter_level != topic_level) return false;
    const bool filter_ends = filter_level.size() == filter.size();
    const bool topic_ends = topic_level.size() == topic.size();
    if (topic_ends) return filter_ends || filter_rest == "#";
    if (filter_ends) return false;
    filter = filter_rest;
    topic = topic_rest;
  }
}

}  // namespace aflguard
