#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "fleet/provisioning/certificate_authority.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {

/// How long the broker may take to cut off a session.
inline constexpr std::chrono::seconds kCutOffTimeout{15};

enum class CutOff : std::uint8_t {
  kDone,              ///< the broker refuses the device, and its live session has ended
  kBrokerNotRunning,  ///< everything is written; the broker will refuse the device from its start on
};

/// Revokes a device and sees to it that the broker enforces that: lists are written, the broker reads them
/// again, a certificate of the same name that was revoked together with the device's must be refused, and
/// then a valid one of that name, which lives for minutes and whose key never leaves this process, takes the
/// device's session over and drops it. Mosquitto by itself keeps sessions that were open before. Can be
/// repeated after a failure; kUnavailable when the broker does not enforce the lists within `timeout`.
[[nodiscard]] Result<CutOff> cut_off_device(Fleet& fleet, const std::string& name,
                                            CertificateAuthority& authority, const Clock& clock,
                                            std::chrono::seconds timeout);

/// The same for a viewer.
[[nodiscard]] Result<CutOff> cut_off_viewer(Fleet& fleet, const std::string& name,
                                            CertificateAuthority& authority, const Clock& clock,
                                            std::chrono::seconds timeout);

}  // namespace aflguard::fleet
