#include "fleet/provisioning/device_list.h"

#include <sstream>
#include <unordered_map>

#include "core/identity/device.h"
#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxListBytes = std::uint64_t{1} << 30;

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

Result<ListedDevice> parse_line(const std::string& line, const fs::path& folder, std::string where) {
  const auto comma = line.find(',');
  ListedDevice device{trimmed(line.substr(0, comma)), std::nullopt, std::move(where)};
  if (const Status named = check_device_name(device.name); !named.ok())
    return at(device.where, named.error());
  if (comma == std::string::npos) return device;
  const std::string file = trimmed(std::string_view(line).substr(comma + 1));
  if (file.find(',') != std::string::npos) {
    return invalid_input(device.where + ": a line is NAME or NAME,REQUEST.csr, this one has more commas");
  }
  if (!file.empty()) device.request = folder / file;
  return device;
}

}  // namespace

Result<std::vector<ListedDevice>> read_device_list(const fs::path& path) {
  TRY(const std::string text, read_text_file(path, kMaxListBytes));
  std::vector<ListedDevice> devices;
  std::unordered_map<std::string, std::size_t> lines;
  std::istringstream in(text);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    TRY(ListedDevice device,
        parse_line(line, path.parent_path(), path.string() + ", line " + std::to_string(number)));
    const auto [first, added] = lines.try_emplace(device.name, number);
    if (!added) {
      return invalid_input(device.where + ": device '" + device.name + "' is on line " +
                           std::to_string(first->second) + " already; remove one of the two");
    }
    devices.push_back(std::move(device));
  }
  if (devices.empty()) {
    return invalid_input(path.string() + " names no device; write one name on each line");
  }
  return devices;
}

Result<std::vector<ListedDevice>> numbered_devices(const std::string& prefix, std::size_t first,
                                                   std::size_t count) {
  if (count == 0 || count > kMaxDevicesInBook) {
    return invalid_input("the number of devices is " + std::to_string(count) + ", 1 to " +
                         std::to_string(kMaxDevicesInBook) + " are possible");
  }
  // The longest of these names; every one has the same letters.
  TRY_STATUS(check_device_name(prefix + std::to_string(first + count - 1)));
  std::vector<ListedDevice> devices;
  devices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    devices.push_back({prefix + std::to_string(first + i), std::nullopt, {}});
  }
  return devices;
}

}  // namespace aflguard::fleet
