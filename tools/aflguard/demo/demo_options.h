#pragma once

#include <string>

#include "firmware_sim/local_fleet/client_fleet.h"

namespace aflguard::cli {

/// Who reads the gateway's figures, so that people can watch the same fleet beside the demo.
inline constexpr const char* kDemoViewer = "demo";

struct DemoOptions {
  sim::ClientFleetRequest fleet{.name = "demo", .viewer = kDemoViewer};
  std::string output;  ///< folder for report, recording and logs; default: a temporary one
  bool json = false;
};

}  // namespace aflguard::cli
