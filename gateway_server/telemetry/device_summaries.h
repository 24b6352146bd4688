#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rate_budget.h"
#include "core/telemetry/device_summary.h"
#include "core/telemetry/telemetry_limits.h"
#include "gateway_server/judging/judged_update.h"

namespace aflguard::gateway {

/// What the gateway knows of each device, for gateway/devices/<device>: which summary is due, and its JSON. A
/// device waits two seconds between summaries, and all together share a rate; who waits longest goes first.
/// One thread.
class DeviceSummaries final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kBetween{2};

  explicit DeviceSummaries(double per_second) : budget_(per_second) {}

  /// A device as the store knows it.
  void add(const std::string& device, std::uint64_t accepted, std::uint64_t rejected,
           std::int64_t last_seen_ms);
  void judged(const JudgedUpdate& update, Time now);
  /// `count`: refused messages of that device since the start.
  void refused(const std::string& device, std::uint64_t count, Time now);
  void state_changed(const std::string& device, DeviceState state, Time now);
  /// False when nothing was known of it.
  bool forget(std::string_view device);
  /// Forgets every device for which `keep` is false: their names, so that their summaries can be taken back.
  [[nodiscard]] std::vector<std::string> forget_unless(const std::function<bool(std::string_view)>& keep);
  /// Devices of whose recent updates at least half were rejected.
  [[nodiscard]] std::size_t suspicious() const { return suspicious_; }
  [[nodiscard]] bool is_suspicious(std::string_view device) const;
  /// Everything is to be published again: there is a new broker.
  void all_due(Time now);

  struct Due {
    std::string device;
    std::string json;
  };
  /// The next summary to publish, if one may go now.
  [[nodiscard]] std::optional<Due> next(Time now, WallTime wall);

 private:
  /// What the latest verdicts say; a device that has had none since the start needs no room for it.
  struct Verdicts {
    std::optional<JudgedUpdate> last;
    std::deque<JudgedDistance> recent;  ///< at most kMaxRecentVerdicts
    std::uint64_t count = 0;            ///< that the running means have seen
    double rejected_share = 0;
    std::uint64_t ratios = 0;
    double ratio = 0;
  };
  struct Entry {
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    std::uint64_t refused = 0;
    std::int64_t last_seen_ms = 0;
    DeviceState state = DeviceState::kUnknown;
    std::unique_ptr<Verdicts> verdicts;  ///< null: none since the start
    bool suspicious = false;
    Time told{};
    std::optional<Time> due;
  };
  void make_due(const std::string& device, Entry& entry, Time now);
  [[nodiscard]] static DeviceSummary summary(const std::string& device, const Entry& entry, WallTime wall);
  [[nodiscard]] static std::optional<double> trend(const Verdicts& verdicts);
  [[nodiscard]] Due tell(const std::string& device, Entry& entry, Time now, WallTime wall);
  [[nodiscard]] std::optional<std::string> next_again();

  void judge_sender(Entry& entry);

  RateBudget budget_;
  std::size_t suspicious_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::pair<Time, std::string>> queue_;  ///< by when they are due
  std::optional<std::string> again_;              ///< every device from this name on is to be told again
  Time again_since_{};
  bool again_last_ = false;  ///< the two take turns
};

}  // namespace aflguard::gateway
