#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway_server/intake/live_registry.h"
#include "gateway_server/judging/gateway_store.h"

namespace aflguard::gateway {

/// Whose updates count for guards that compare devices. The defaults count every device for ever.
struct VoterRules {
  std::chrono::milliseconds silence{0};  ///< a device without an update for so long is forgotten; 0: never
  std::function<bool(std::string_view device)> is_enrolled = {};  ///< empty: every device is
  /// For a look at all devices at once; empty: is_enrolled is asked for each.
  std::function<LiveRegistry::Names()> enrolled_names = {};
};

/// Which devices a guard must forget, and when. It names them; who owns the guard forgets them. One thread.
class VoterRoll final {
 public:
  using Devices = std::map<std::string, DeviceRecord, std::less<>>;

  VoterRoll() = default;
  VoterRoll(VoterRules rules, const Devices& devices);

  /// Those of `news` that are not enrolled any more, each once. One that is enrolled again counts again.
  [[nodiscard]] std::vector<ClientId> take_departed(const Devices& devices, const BookNews& news);
  /// Devices that have been silent for too long, the longest first. Each counts again with its next update.
  [[nodiscard]] std::vector<ClientId> take_silent(std::int64_t now_ms);
  /// Notes an update that was judged just now; `seen_before_ms` is when the one before it was. False when the
  /// device does not count, because it was revoked while its update was under way: forget it.
  [[nodiscard]] bool note_vote(const DeviceRecord& device, std::int64_t seen_before_ms);

 private:
  [[nodiscard]] bool counts(const DeviceRecord& device) const;
  void note(const DeviceRecord& device, bool enrolled, std::vector<ClientId>& departed);

  VoterRules rules_;
  std::set<std::pair<std::int64_t, ClientId>> heard_;  ///< devices by the time of their latest update
  std::set<ClientId> departed_;                        ///< forgotten because they are not enrolled
};

}  // namespace aflguard::gateway
