#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard {

/// How far the gateway is with the latest order.
enum class RolloutStage : std::uint8_t {
  kUnknown,   ///< not a name of this program
  kNone,      ///< there was no order yet
  kFetching,  ///< the gateway fetches the package
  kTrial,     ///< the canaries try it
  kSwitching,
  kDone,
  kFailed,  ///< it stopped by itself: the fleet goes on as it was
};

[[nodiscard]] std::string_view to_string(RolloutStage stage);
[[nodiscard]] RolloutStage parse_rollout_stage(std::string_view text);

/// One device that tries a model before the others.
struct CanaryState {
  std::string device{};
  std::string state{};  ///< "waiting", "passed" or "failed"
  std::string text{};
};

/// A model as people know it, and as programs do.
struct NumberedModel {
  std::uint64_t number = 0;  ///< 0: not known
  std::string name{};
  std::string hash{};  ///< hex
};

/// gateway/rollout: which model the fleet trains, and how the latest order is.
struct RolloutStatus {
  RolloutStage stage = RolloutStage::kNone;
  NumberedModel current{};
  std::uint64_t release = 0;  ///< number of the latest order; 0: none
  NumberedModel target{};     ///< of that order
  std::uint64_t pieces = 0;
  std::uint64_t pieces_here = 0;
  std::vector<CanaryState> canaries{};  ///< at most kMaxShownCanaries
  std::string message{};
};

inline constexpr std::size_t kMaxShownCanaries = 8;

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const RolloutStatus& status);

/// None when the text is something else or its stage has no known name. Texts are made harmless for a
/// terminal.
[[nodiscard]] std::optional<RolloutStatus> read_rollout_status(std::string_view payload);

}  // namespace aflguard
