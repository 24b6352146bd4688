#include "gateway_server/device_presence.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace aflguard {
namespace {

/// The contract's limit for every JSON message.
constexpr std::size_t kMaxBytes = 4096;
constexpr std::array<std::string_view, 6> kStates = {"init",  "ready", "training",
                                                     "alert", "lost",  "disconnected"};

bool is_connected(std::string_view state) {
  return !state.empty() && state != "lost" && state != "disconnected";
}

/// Our own constant of that name; empty for anything else.
std::string_view known_state(std::string_view name) {
  const auto* const found = std::find(kStates.begin(), kStates.end(), name);
  return found == kStates.end() ? std::string_view() : *found;
}

std::string_view event_kind(std::string_view before, std::string_view now) {
  if (now == "lost") return is_connected(before) ? "lost" : "";
  if (now == "disconnected") return is_connected(before) ? "left" : "";
  if (now == "alert") return "alert";
  if (before.empty()) return "joined";
  return is_connected(before) ? "" : "returned";
}

std::string text_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<DevicePresence::Change> DevicePresence::take(std::string_view device,
                                                           std::span<const std::byte> payload,
                                                           bool retained) {
  if (payload.size() >= kMaxBytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const std::string_view now = known_state(text_of(json, "state"));
  if (now.empty()) return std::nullopt;

  auto found = states_.find(device);
  const bool known = found != states_.end();
  if (!known) found = states_.emplace(std::string(device), std::string_view()).first;
  const std::string_view before = std::exchange(found->second, now);
  if (before == now) return std::nullopt;
  connected_ += is_connected(now) ? 1 : 0;
  connected_ -= is_connected(before) ? 1 : 0;
  Change change;
  change.state = now;
  if (known || !retained) change.kind = event_kind(before, now);
  if (change.kind == "alert") change.message = text_of(json, "message");
  return change;
}

std::string_view DevicePresence::state(std::string_view device) const {
  const auto found = states_.find(device);
  return found == states_.end() ? std::string_view() : found->second;
}

void DevicePresence::forget_unless(const std::function<bool(std::string_view)>& keep) {
  for (auto entry = states_.begin(); entry != states_.end();) {
    if (keep(entry->first)) {
      ++entry;
      continue;
    }
    connected_ -= is_connected(entry->second) ? 1 : 0;
    entry = states_.erase(entry);
  }
}

}  // namespace aflguard
