#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "firmware_sim/local_fleet/client_fleet.h"
#include "gateway_server/store/store_reader.h"
#include "tools/aflguard/demo/demo_view.h"

namespace aflguard::cli {

/// What a demo came to.
struct DemoOutcome {
  DemoState state;
  double test_error = 0;  ///< of the last model on all test samples; mean squared error for regression
  std::filesystem::path folder;
  std::string remark;  ///< e.g. why it ended early; may be empty
};

/// One HTML page that needs nothing else: figures, test error and verdicts over time, every device.
[[nodiscard]] Result<std::string> demo_report(const sim::ClientFleet& demo, const DemoOutcome& outcome,
                                              gateway::StoreReader& history);

}  // namespace aflguard::cli
