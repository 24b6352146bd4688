#include "edge_client/status/status_publisher.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/rfc3339.h"
#include "core/system/process_memory.h"

namespace aflguard::edge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBetweenStatuses(1);
/// Figures change with every update; a fleet of a thousand shall not drown its broker in them.
constexpr seconds kBetweenFigures(10);
constexpr seconds kBetweenRefusalLines(10);
constexpr std::chrono::hours kCertificateWarning(14 * 24);

}  // namespace

StatusPublisher::StatusPublisher(StatusOptions options, MessageBus& bus, const Clock& clock, LogSink& log,
                                 std::function<BoardReadings()> board)
    : options_(std::move(options)), bus_(bus), clock_(clock), log_(log), board_(std::move(board)) {
  status_.device = options_.device;
  status_.software = options_.software;
  status_.certificate_until = options_.certificate_until;
  status_.model = options_.model;
  status_.model_hash = options_.model_hash;
  status_.accepted = status_.rejected = status_.refused = status_.samples = 0;
}

// Figures.

void StatusPublisher::upgrading(std::optional<std::uint64_t> number, const std::string& progress) {
  if (status_.model_number != number) ++figures_;
  status_.model_number = number;
  status_.upgrade = progress;
}

void StatusPublisher::model_taken(std::uint64_t version) {
  status_.version = version;
  ++figures_;
}

void StatusPublisher::trained(double loss, std::uint64_t samples) {
  status_.loss = loss;
  status_.samples = samples;
}

void StatusPublisher::offer_wanted(bool wanted) {
  if (std::exchange(status_.wants_offer, wanted) != wanted) ++figures_;
}

void StatusPublisher::judged(bool accepted, std::string reason, std::uint64_t delay) {
  ++*(accepted ? status_.accepted : status_.rejected);
  status_.verdict = LastVerdict{accepted, std::move(reason), delay};
  ++figures_;
}

void StatusPublisher::refused(std::string_view reason, const std::string& message) {
  ++*status_.refused;
  ++refusal_lines_.held_back;
  const Time now = clock_.steady();
  if (now - refusal_lines_.last < kBetweenRefusalLines && refusal_lines_.last != Time{}) return;
  const std::uint64_t more = refusal_lines_.held_back - 1;
  log_.warning("message refused (" + std::string(reason) + "): " + message +
               (more > 0 ? ", and " + std::to_string(more) + " more since the last one" : ""));
  refusal_lines_ = {0, now};
}

void StatusPublisher::asked_to_wait(const std::string& message) {
  const Time now = clock_.steady();
  if (now - wait_lines_.last < kBetweenRefusalLines && wait_lines_.last != Time{}) return;
  log_.warning(message + "; it goes again later");
  wait_lines_.last = now;
}

// Alerts.

void StatusPublisher::raise(Alert alert, const std::string& text) {
  std::string& current = alerts_[static_cast<std::size_t>(alert)];
  if (current != text) log_.error(text);
  current = text;
}

void StatusPublisher::check_certificate() {
  const auto until = options_.certificate_until;
  if (until && clock_.wall() >= *until) {
    raise(Alert::kCertificate, "the certificate ended at " + to_rfc3339(*until) +
                                   "; renew it with 'aflguard device' and restart the client");
  }
}

// Publishing.

DeviceState StatusPublisher::state(const Activity& activity) const {
  const bool alert =
      std::any_of(alerts_.begin(), alerts_.end(), [](const auto& text) { return !text.empty(); });
  if (alert) return DeviceState::kAlert;
  return activity.takes_part ? DeviceState::kTraining : DeviceState::kReady;
}

std::string StatusPublisher::message(const Activity& activity) const {
  for (const std::string& text : alerts_) {
    if (!text.empty()) return text;
  }
  if (!activity.waiting_for.empty()) return activity.waiting_for;
  const auto until = options_.certificate_until;
  if (until && clock_.wall() > *until - kCertificateWarning) {
    return "the certificate ends at " + to_rfc3339(*until) + "; renew it";
  }
  return {};
}

StatusPublisher::Time StatusPublisher::publish_when_due(Time now, const Activity& activity) {
  const bool changed = !published_.known || state(activity) != published_.state ||
                       message(activity) != published_.message || status_.upgrade != published_.upgrade;
  milliseconds wait = options_.interval;
  if (figures_ != published_.figures) wait = std::min<milliseconds>(wait, kBetweenFigures);
  if (changed) wait = kBetweenStatuses;
  const Time due = published_.time + wait;
  if (published_.known && now < due) return due;
  publish(now, activity);
  return now + options_.interval;
}

void StatusPublisher::publish(Time now, const Activity& activity) {
  published_.figures = figures_;
  status_.time = clock_.wall();
  status_.board = board_();
  status_.state = published_.state = state(activity);
  status_.message = published_.message = message(activity);
  published_.upgrade = status_.upgrade;
  status_.rss_mb = resident_megabytes();
  if (send().ok()) published_.known = true;
  published_.time = now;
}

Result<PublishId> StatusPublisher::send() {
  const std::string json = to_json(status_);
  const auto bytes = std::as_bytes(std::span(json));
  return bus_.publish({options_.topic, Bytes(bytes.begin(), bytes.end()), /*retained=*/true});
}

void StatusPublisher::say_goodbye() {
  status_.state = DeviceState::kDisconnected;
  status_.message.clear();
  status_.time = clock_.wall();
  if (const auto id = send(); id.ok()) goodbye_ = *id;
}

void StatusPublisher::publish_ended(PublishId id) {
  if (id == goodbye_) goodbye_ = 0;
}

}  // namespace aflguard::edge
