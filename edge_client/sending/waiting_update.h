#pragma once

#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/verdict/refusal.h"
#include "edge_client/sending/update_spool.h"

namespace aflguard::edge {

/// Opens an update that an earlier run has left in the spool. Since then the board may have been given
/// another key, another name, another fleet or another model. A gateway refuses what does not fit, and never
/// answers it: a device that sent that would wait for ever. Refused here when the gateway of `membership`
/// would take it from this device under no key (other device, fleet or model), or when nobody can tell: a
/// file without an author, and an envelope that `own_key` has not signed. What is opened may still be signed
/// with a former key of this device: payload.key() says so.
[[nodiscard]] Admitted<VerifiedPayload> open_waiting_update(SpooledUpdate waiting,
                                                            const Membership& membership,
                                                            const PublicKey& own_key,
                                                            const Verifier& verifier);

}  // namespace aflguard::edge
