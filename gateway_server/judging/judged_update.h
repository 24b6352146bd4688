#pragma once

#include <cstdint>
#include <string>

#include "core/aggregation/client_update.h"
#include "core/verdict/verdict.h"

namespace aflguard::gateway {

/// One durable verdict, as the judging reports it to telemetry and history.
struct JudgedUpdate {
  ClientId id = 0;
  std::string device;
  std::uint64_t accepted = 0;  ///< of this device, over its whole life, including this one
  std::uint64_t rejected = 0;
  Verdict verdict;
  std::uint64_t version = 0;  ///< of the model after it
  std::int64_t time_ms = 0;   ///< wall clock, since 1970
};

}  // namespace aflguard::gateway
