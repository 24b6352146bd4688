#include "gateway_server/telemetry/device_presence.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace aflguard::gateway {
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

/// Picks two texts out of a status without building the rest of it: a crowd of devices speaks all the time.
/// Of a key that comes twice the last one counts.
class StatusReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string state;
  std::string message;
  bool is_object = false;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& text) override {
    if (wanted_ != nullptr) *wanted_ = std::move(text);
    wanted_ = nullptr;
    return true;
  }
  bool key(string_t& name) override {
    wanted_ = depth_ != 1 ? nullptr : name == "state" ? &state : name == "message" ? &message : nullptr;
    return true;
  }
  bool start_object(std::size_t) override {
    is_object = is_object || depth_ == 0;
    return enter();
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool other() {
    if (wanted_ != nullptr) wanted_->clear();
    wanted_ = nullptr;
    return true;
  }
  bool enter() {
    (void)other();
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }
  std::string* wanted_ = nullptr;  ///< where the next value goes, if it is a text
  std::size_t depth_ = 0;
};

}  // namespace

std::optional<DevicePresence::Change> DevicePresence::take(std::string_view device,
                                                           std::span<const std::byte> payload,
                                                           bool retained) {
  if (payload.size() >= kMaxBytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  StatusReader status;
  if (!nlohmann::json::sax_parse(text, &status) || !status.is_object) return std::nullopt;
  const std::string_view now = known_state(status.state);
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
  if (change.kind == "alert") change.message = std::move(status.message);
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

}  // namespace aflguard::gateway
