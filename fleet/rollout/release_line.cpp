#include "fleet/rollout/release_line.h"

#include <algorithm>

namespace aflguard::fleet {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTurn(100);

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<ReleaseLine> ReleaseLine::open(std::unique_ptr<MessageBus> bus, const std::string& fleet) {
  TRY(const FleetTopics topics, FleetTopics::create(fleet));
  ReleaseLine line(std::move(bus), topics);
  TRY_STATUS(line.bus_->subscribe_if_allowed(topics.rollout()));
  TRY_STATUS(line.bus_->subscribe_if_allowed(topics.all_device_statuses()));
  TRY_STATUS(line.bus_->start());
  return line;
}

ReleaseLine::~ReleaseLine() {
  if (bus_) bus_->stop();
}

void ReleaseLine::take(BusEvent event) {
  if (std::holds_alternative<BusConnected>(event)) {
    connected_ = true;
    problem_.clear();
  }
  if (const auto* lost = std::get_if<BusDisconnected>(&event)) {
    connected_ = false;
    problem_ = lost->reason;
  }
  if (const auto* done = std::get_if<BusPublished>(&event)) published_ = done->id;
  if (const auto* lost = std::get_if<BusPublishFailed>(&event)) failed_ = lost->id;
  const auto* received = std::get_if<BusReceived>(&event);
  if (received == nullptr) return;
  const auto topic = parse_topic(received->message.topic);
  if (!topic.ok()) return;
  const std::string_view text = text_of(received->message.payload);
  if (topic->kind == TopicKind::kRollout) {
    if (auto status = read_rollout_status(text)) rollout_ = std::move(status);
  } else if (topic->kind == TopicKind::kDeviceStatus) {
    if (auto status = read_device_status(text)) devices_[topic->device] = std::move(*status);
  }
}

void ReleaseLine::listen(Time until, const std::function<bool()>& enough) {
  while (steady_clock::now() < until && !enough()) {
    if (auto event = bus_->next_event(std::min<Time>(until, steady_clock::now() + kTurn))) {
      take(std::move(*event));
    }
  }
}

Status ReleaseLine::publish(const Message& message, Time deadline) {
  while (steady_clock::now() < deadline) {
    const auto id = bus_->publish(message);
    if (!id.ok()) {
      listen(std::min<Time>(deadline, steady_clock::now() + kTurn), [] { return false; });
      continue;
    }
    listen(deadline, [&] { return published_ == *id || failed_ == *id; });
    if (published_ == *id) return {};
  }
  return unavailable("the broker did not take " + message.topic + " in time" +
                     (problem_.empty() ? std::string() : ": " + problem_));
}

Status ReleaseLine::send(const PreparedRelease& prepared, std::chrono::seconds timeout,
                         const std::function<void(std::size_t, std::size_t)>& progress) {
  const ReleaseMessage& release = prepared.release;
  const auto archive = std::span<const std::byte>(prepared.archive);
  for (std::size_t i = 0; i < release.pieces.size(); ++i) {
    const std::size_t at = i * kReleasePieceBytes;
    const auto piece = archive.subspan(at, std::min(kReleasePieceBytes, archive.size() - at));
    TRY_STATUS(publish({.topic = topics_.release_piece(release_piece_name(release.package_digest, i)),
                        .payload = {piece.begin(), piece.end()},
                        .retained = true},
                       steady_clock::now() + timeout));
    progress(i + 1, release.pieces.size());
  }
  return publish({.topic = topics_.release(), .payload = prepared.envelope, .retained = true},
                 steady_clock::now() + timeout);
}

}  // namespace aflguard::fleet
