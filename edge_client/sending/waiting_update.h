#pragma once

#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/verdict/refusal.h"
#include "edge_client/sending/update_spool.h"

namespace aflguard::edge {

/// Opens an update that an earlier run has left in the spool. Since then the board may have been given
/// another key, another name, another fleet or another model. A gateway refuses such an update and never
/// answers it: a device that sent it would wait for ever. So it is refused here when the gateway of
/// `membership` would not take it from this device under any key (other device, fleet or model), and when
/// that cannot be known: a file without an author whose envelope `own_key` has not signed. An update that
/// opens may still be signed with a former key of this device: payload.key() says so.
[[nodiscard]] Admitted<VerifiedPayload> open_waiting_update(SpooledUpdate waiting,
                                                            const Membership& membership,
                                                            const PublicKey& own_key,
                                                            const Verifier& verifier);

}  // namespace aflguard::edge
