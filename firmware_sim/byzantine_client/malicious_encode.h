#pragma once

#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "firmware_sim/byzantine_client/attack.h"

namespace aflguard::sim {

/// How the attack encodes updates. Some send under a valid signature what the product's own encoder refuses
/// to write: numbers that are not finite (AttackKind::not_finite) or no message at all (AttackKind::damage).
[[nodiscard]] Result<Payload> malicious_encode(const AttackPlan& plan, const UpdateMessage& update);

}  // namespace aflguard::sim
