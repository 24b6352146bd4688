#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/test.h"

namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;

/// Which of our modules each module may include, besides itself. Data flows one way: nothing includes a
/// module that stands further down, and no product module includes lab, tools or tests.
const std::map<std::string, Names>& allowed_modules() {
  static const std::map<std::string, Names> rules = {
      {"core/base", {}},
      {"core/kernels", {"core/base"}},
      {"core/learning", {"core/base"}},
      {"core/learning_onnx", {"core/base", "core/kernels", "core/learning"}},
      {"core/aggregation", {"core/base", "core/learning"}},
      {"core/config", {"core/base", "core/learning"}},
      {"core/envelope", {"core/base"}},
      {"core/envelope_mbedtls", {"core/base", "core/envelope"}},
      {"core/envelope_openssl", {"core/base", "core/envelope"}},
      {"core/transport", {"core/base"}},
      {"core/transport_mqtt", {"core/base", "core/transport"}},
      {"core/recording", {"core/base", "core/aggregation"}},
      {"fleet", {"core/base", "core/config", "core/envelope"}},
      {"fleet_openssl", {"core/base", "core/envelope", "core/envelope_openssl", "fleet"}},
      {"fleet_view", {"core/base", "core/transport"}},
      {"gateway_server",
       {"core/base", "core/config", "core/learning", "core/learning_onnx", "core/aggregation",
        "core/envelope", "core/envelope_openssl", "core/recording", "core/transport", "core/transport_mqtt",
        "fleet"}},
      {"datasets", {"core/base", "core/learning"}},
      {"edge_client",
       {"core/base", "core/config", "core/learning", "core/learning_onnx", "core/envelope",
        "core/envelope_mbedtls", "core/transport", "core/transport_mqtt"}},
      {"firmware_sim", {"core/base", "core/config", "core/envelope", "core/learning", "edge_client"}},
      {"models", {"core/base", "core/learning"}},
      {"lab", {"core/base", "core/learning", "core/aggregation", "datasets", "models"}},
      {"tools",
       {"core/base", "core/learning", "core/learning_onnx", "core/aggregation", "core/kernels",
        "core/envelope", "core/envelope_openssl", "core/recording", "core/transport", "core/transport_mqtt",
        "datasets", "fleet", "fleet_openssl", "fleet_view", "firmware_sim", "models", "lab",
        "gateway_server"}},
  };
  return rules;
}

/// Outside libraries by the start of their headers' names, and the only modules that may include them.
const std::map<std::string, Names>& library_owners() {
  static const std::map<std::string, Names> rules = {
      {"onnxruntime", {"core/learning_onnx"}},
      {"onnx/", {"models"}},
      {"google/protobuf", {"models"}},
      {"Eigen/", {"core/learning", "core/aggregation", "lab"}},
      {"cbor", {"core/envelope"}},
      {"mbedtls/", {"core/envelope_mbedtls"}},
      {"mqtt/", {"core/transport_mqtt"}},
      {"MQTT", {"core/transport_mqtt"}},
      {"openssl/", {"core/envelope_openssl", "core/transport_mqtt", "fleet_openssl"}},
      {"toml", {"core/config"}},
      {"png", {"datasets"}},
      {"lzma", {"datasets"}},
      {"sqlite3", {"gateway_server"}},
      {"zlib", {"datasets"}},
      {"CLI/", {"edge_client", "firmware_sim", "gateway_server", "tools"}},
      {"nlohmann/",
       {"core/learning", "datasets", "edge_client", "firmware_sim", "fleet", "fleet_view", "gateway_server",
        "lab", "tools"}},
  };
  return rules;
}

std::string module_of(const std::string& path) {
  for (const auto& [module, allowed] : allowed_modules()) {
    if (path.starts_with(module + "/")) return module;
  }
  return {};
}

/// Every include line of the file: the name between quotes or brackets, with the opening character in front.
std::vector<std::string> includes(const fs::path& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include ")) continue;
    const auto open = line.find_first_of("<\"");
    const auto close = line.find_first_of(">\"", open + 1);
    if (open != std::string::npos && close != std::string::npos)
      found.push_back(line.substr(open, close - open));
  }
  return found;
}

std::string violation(const std::string& file, const std::string& module, const std::string& include) {
  const std::string name = include.substr(1);
  if (include.front() == '"') {
    const std::string target = module_of(name);
    const Names& allowed = allowed_modules().at(module);
    if (!target.empty() && target != module && !allowed.contains(target)) {
      return file + " includes " + name + ": " + module + " may not depend on " + target + "\n";
    }
    return {};
  }
  for (const auto& [prefix, owners] : library_owners()) {
    if (name.starts_with(prefix) && !owners.contains(module)) {
      return file + " includes <" + name + ">, which only its adapter may\n";
    }
  }
  return {};
}

}  // namespace

TEST("Includes go one way: a module sees only the modules below it, and a library only its adapter") {
  const fs::path root = aflguard::testing::source_folder();
  std::string violations;
  std::size_t files = 0;
  for (const auto& [module, allowed] : allowed_modules()) {
    if (!fs::exists(root / module)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / module)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      for (const std::string& include : includes(entry.path())) {
        violations += violation(file, module_of(file), include);
      }
    }
  }
  TEST_ASSERT_TRUE_MESSAGE(files > 20, "the source tree was not found");
  TEST_ASSERT_TRUE_MESSAGE(violations.empty(), violations.c_str());
}

TEST("The rule finds a wrong include when there is one") {
  TEST_ASSERT_FALSE(violation("core/base/x.h", "core/base", "\"core/learning/data/npy.h").empty());
  TEST_ASSERT_FALSE(violation("core/learning/x.h", "core/learning", "<onnxruntime_c_api.h").empty());
  TEST_ASSERT_TRUE(violation("models/x.cpp", "models", "<onnx/onnx_pb.h").empty());
  TEST_ASSERT_TRUE(violation("tools/x.cpp", "tools", "\"core/base/result.h").empty());
}
