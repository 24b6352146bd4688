#include "fleet/provisioning/samples_in_bundle.h"

#include "core/config/toml_document.h"
#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;

Result<std::vector<std::string>> samples_not_in_bundle(const fs::path& device) {
  const fs::path configuration = device / "client.toml";
  TRY(const std::string text, read_text_file(configuration));
  TRY(const ConfigValue document, parse_toml(text, configuration.string()));
  std::vector<std::string> missing;
  const ConfigValue::Table& sections = *document.as_table();
  const auto data = sections.find("data");
  if (data == sections.end() || data->second.as_table() == nullptr) return missing;
  for (const auto& [key, value] : *data->second.as_table()) {
    if (key != "file" && key != "images" && key != "features" && key != "labels") continue;
    const auto* name = std::get_if<std::string>(&value.value);
    if (name == nullptr || fs::path(*name).is_absolute()) continue;
    const fs::path inside = fs::path(*name).lexically_normal();
    std::error_code error;
    const bool outside = !inside.empty() && *inside.begin() == "..";
    if (outside || !fs::is_regular_file(device / inside, error)) missing.push_back(*name);
  }
  return missing;
}

}  // namespace aflguard::fleet
