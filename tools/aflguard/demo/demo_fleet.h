#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/model_package.h"
#include "fleet/folder/fleet_settings.h"
#include "lab/tasks/settings.h"
#include "tools/aflguard/demo/demo_options.h"

namespace aflguard::cli {

/// The viewer that the demo watches its gateway as, so that people can watch the same fleet beside it.
inline constexpr const char* kDemoViewer = "demo";

struct DemoDevice {
  std::string name;
  bool byzantine = false;
  std::size_t samples = 0;
  std::filesystem::path configuration;
};

/// A whole fleet on this machine, ready to start: provisioned, configured, its data dealt out as in the
/// paper's experiments.
struct DemoFleet {
  lab::ExperimentSettings settings;
  ModelPackage package;
  Dataset test;
  fleet::FleetSettings fleet;
  std::filesystem::path folder;  ///< everything of the demo
  std::filesystem::path broker_configuration;
  std::filesystem::path gateway_configuration;
  std::filesystem::path leaked_trusted;  ///< for attackers who know the trusted samples
  std::filesystem::path store;
  std::filesystem::path recording;        ///< empty when there is none
  std::uint64_t recording_megabytes = 0;  ///< that it may have
  std::vector<DemoDevice> devices;
};

/// kInvalidInput when the options ask for what there is not; before anything is made.
[[nodiscard]] Status check_demo(const DemoOptions& options);

/// Gets the data set if it is not installed, and makes the fleet in `folder`, which exists.
/// kInvalidInput when the options ask for what there is not.
[[nodiscard]] Result<DemoFleet> make_demo_fleet(const DemoOptions& options,
                                                const std::filesystem::path& folder);

}  // namespace aflguard::cli
