#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/envelope/refusal_message.h"

namespace aflguard::edge {

/// What a device does about an update that the gateway refused.
enum class RefusalAction : std::uint8_t {
  kSendLater,   ///< there is no room now; nothing is wrong
  kFetchModel,  ///< the fleet trains another model: ask for it, and send again later
  kAskForHelp,  ///< only the operator can change it: report it, and send again now and then
  kGiveUp,      ///< this update will never be taken: report it, and train the next one
};

struct RefusalResponse {
  RefusalAction action = RefusalAction::kSendLater;
  std::chrono::milliseconds wait{0};  ///< until it is sent again; 0: one of the growing waits
  std::string text;                   ///< for log and status: "update 7 was refused (expired): ..."
};

/// An update is given up only for what the gateway found in it after this device's signature had matched. All
/// else may be the work of a broker between the two, and the update stays.
[[nodiscard]] RefusalResponse respond_to(const RefusalMessage& refusal, std::uint64_t sequence);

}  // namespace aflguard::edge
