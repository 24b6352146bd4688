#include "fleet/view/trouble.h"

#include <algorithm>
#include <array>

#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

constexpr double kSomeRejected = 0.2;
/// Updates that a trend is thought ahead.
constexpr double kAhead = 16;
constexpr double kHotCelsius = 80;
constexpr std::chrono::days kCertificateNotice{14};
/// Five intervals of the gateway's metrics, by default.
constexpr std::chrono::seconds kGatewaySilence{10};

/// Retained metrics come at once, however old they are; clocks of two machines differ a little.
constexpr std::chrono::seconds kClockDifference{60};

/// 0 while it publishes.
std::chrono::seconds gateway_silence(const GatewayPicture& gateway, WallTime now) {
  using std::chrono::seconds;
  seconds silence{0};
  if (gateway.heard_at && now - *gateway.heard_at > kGatewaySilence) {
    silence = std::chrono::floor<seconds>(now - *gateway.heard_at);
  }
  if (gateway.metrics.time && now - *gateway.metrics.time > kClockDifference) {
    silence = std::max(silence, std::chrono::floor<seconds>(now - *gateway.metrics.time));
  }
  return silence;
}

/// Keeps the worst as level and reason; every further one moves the device up a little.
void add(Trouble& trouble, TroubleLevel level, double score, std::string why) {
  if (score > trouble.score) {
    trouble.score = score + trouble.score / 1000;
    trouble.why = std::move(why);
  } else {
    trouble.score += score / 1000;
  }
  trouble.level = std::max(trouble.level, level);
}

std::uint64_t verdicts(const DevicePicture& device) {
  return device.accepted().value_or(0) + device.rejected().value_or(0);
}

void add_rejections(Trouble& trouble, const DevicePicture& device) {
  const auto share = device.recent_rejected_share();
  if (!share || verdicts(device) < kFewestVerdicts) return;
  if (*share >= kSuspiciousShare) {
    trouble.suspicious = true;
    add(trouble, TroubleLevel::kAlarm, 300 + 100 * *share, percent(share) + " rejected");
  } else if (*share >= kSomeRejected) {
    add(trouble, TroubleLevel::kWarning, 100 + 100 * *share, percent(share) + " rejected");
  } else {
    trouble.score += *share;
  }
}

void add_distance(Trouble& trouble, const DevicePicture& device) {
  if (!device.summary || !device.summary->distance_ratio) return;
  const double ratio = *device.summary->distance_ratio;
  const double trend = device.summary->distance_trend.value_or(0);
  trouble.score += std::clamp(ratio, 0.0, 1.0);
  if (ratio > 1) return;  // its updates are rejected, which was said
  if (trend > 0 && ratio > 0.5 && ratio + kAhead * trend > 1) {
    add(trouble, TroubleLevel::kNotice, 60, "moves away from the reference update");
  } else if (ratio > 0.9) {
    add(trouble, TroubleLevel::kNotice, 50, "close to the bound");
  }
}

void add_board(Trouble& trouble, const DevicePicture& device, WallTime now) {
  if (!device.status) return;
  const auto& temperature = device.status->board.temperature_c;
  const auto& certificate_until = device.status->certificate_until;
  if (temperature && *temperature >= kHotCelsius) {
    add(trouble, TroubleLevel::kNotice, 40, formatted("%.0f degrees C", *temperature));
  }
  if (certificate_until && *certificate_until - now < kCertificateNotice) {
    const bool over = *certificate_until < now;
    add(trouble, over ? TroubleLevel::kAlarm : TroubleLevel::kNotice, over ? 220 : 45,
        over ? "its certificate has ended"
             : "its certificate ends in " +
                   short_duration(std::chrono::floor<std::chrono::seconds>(*certificate_until - now)));
  }
}

void add_state(Trouble& trouble, const DevicePicture& device, WallTime now) {
  const std::string message = device.status ? device.status->message : std::string();
  switch (device.state) {
    case DeviceState::kAlert:
      add(trouble, TroubleLevel::kAlarm, 250, message.empty() ? "needs attention" : message);
      return;
    case DeviceState::kLost: {
      const auto seen = device.last_seen();
      add(trouble, TroubleLevel::kWarning, 200,
          seen ? "lost; last heard " + short_duration(std::chrono::floor<std::chrono::seconds>(now - *seen)) +
                     " ago"
               : "lost");
      return;
    }
    case DeviceState::kDisconnected:
      add(trouble, TroubleLevel::kNone, 5, "stopped by its owner");
      return;
    default:
      return;
  }
}

}  // namespace

std::string_view to_string(TroubleLevel level) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "notice", "warning", "alarm"};
  return kNames[static_cast<std::size_t>(level)];
}

Trouble trouble_of(const DevicePicture& device, WallTime now) {
  Trouble trouble;
  add_rejections(trouble, device);
  add_state(trouble, device, now);
  add_distance(trouble, device);
  add_board(trouble, device, now);
  if (device.summary && device.summary->refused.value_or(0) > 0) {
    add(trouble, TroubleLevel::kNotice, 30,
        grouped(*device.summary->refused) + (*device.summary->refused == 1
                                                 ? " of its messages was refused"
                                                 : " of its messages were refused"));
  }
  return trouble;
}

Trouble gateway_trouble(const GatewayPicture& gateway, WallTime now) {
  Trouble trouble;
  const GatewayStatus& status = gateway.status;
  if (status.state == GatewayState::kUnknown && !gateway.heard_at) {
    add(trouble, TroubleLevel::kWarning, 100, "the gateway was not heard yet");
    return trouble;
  }
  if (status.state == GatewayState::kAlert) {
    add(trouble, TroubleLevel::kAlarm, 300, status.message.empty() ? "needs attention" : status.message);
  } else if (status.state == GatewayState::kLost) {
    add(trouble, TroubleLevel::kAlarm, 250, "the gateway is lost");
  } else if (status.state == GatewayState::kDisconnected) {
    add(trouble, TroubleLevel::kWarning, 200, "the gateway was stopped");
  } else if (const auto silence = gateway_silence(gateway, now); silence > std::chrono::seconds::zero()) {
    add(trouble, TroubleLevel::kWarning, 150, "silent for " + short_duration(silence));
  } else if (!status.message.empty()) {
    add(trouble, TroubleLevel::kWarning, 120, status.message);
  }
  return trouble;
}

std::vector<DeviceRow> by_trouble(const FleetState& picture, WallTime now) {
  std::vector<DeviceRow> rows;
  rows.reserve(picture.devices().size());
  for (const auto& [name, device] : picture.devices()) {
    rows.push_back({&name, &device, trouble_of(device, now)});
  }
  // Whole points only: a hundredth more or less must not make rows jump while they are read.
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceRow& a, const DeviceRow& b) {
    return static_cast<int>(a.trouble.score) > static_cast<int>(b.trouble.score);
  });
  return rows;
}

FleetTally tally(const std::vector<DeviceRow>& rows) {
  FleetTally result;
  result.devices = rows.size();
  for (const DeviceRow& row : rows) {
    const DeviceState state = row.device->state;
    result.connected += is_connected(state);
    result.lost += state == DeviceState::kLost;
    result.alert += state == DeviceState::kAlert;
    result.suspicious += row.trouble.suspicious;
  }
  return result;
}

}  // namespace aflguard::view
