#pragma once

#include <string>

namespace aflguard {

/// Machine and build: what a reader needs to judge results, and nothing that changes from run to run.
struct MachineContext {
  std::string version;
  std::string processor;
  unsigned cores = 0;
  std::string compiler;
  std::string build;  ///< "optimised" or "with assertions"
};

[[nodiscard]] MachineContext machine_context();

/// For nlohmann's ordered JSON, which this room does not know.
template <typename Json>
void to_json(Json& json, const MachineContext& machine) {
  json["version"] = machine.version;
  json["processor"] = machine.processor;
  json["cores"] = machine.cores;
  json["compiler"] = machine.compiler;
  json["build"] = machine.build;
}

}  // namespace aflguard
