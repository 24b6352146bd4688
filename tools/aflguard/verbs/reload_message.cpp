#include "tools/aflguard/verbs/reload_message.h"

#include <cstdio>

#include "fleet/provisioning/broker_reload.h"

namespace aflguard::cli {

Status tell_broker(const fleet::Fleet& fleet) {
  TRY(const fleet::BrokerReload reload, fleet::reload_broker(fleet.settings(), fleet.folder()));
  std::printf(reload == fleet::BrokerReload::kTold
                  ? "the broker reads its files again\n"
                  : "the broker does not run; it reads them when it starts\n");
  return {};
}

}  // namespace aflguard::cli
