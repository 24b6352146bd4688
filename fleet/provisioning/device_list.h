#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::fleet {

/// One of many devices to be enrolled.
struct ListedDevice {
  std::string name;
  std::optional<std::filesystem::path> request;  ///< a signing request; otherwise a key is made here
  std::string where;                             ///< for messages: "list.csv, line 3"
};

/// The devices of a list: on each line a name, and after a comma the file of a signing request where there is
/// one, from the list's folder. Empty lines and lines that begin with '#' say nothing. kInvalidInput with the
/// line for anything else, for repeats, and for an empty list.
[[nodiscard]] Result<std::vector<ListedDevice>> read_device_list(const std::filesystem::path& path);

/// PREFIX1 to PREFIXn for the numbers from `first` on. kInvalidInput when these are not names of devices.
[[nodiscard]] Result<std::vector<ListedDevice>> numbered_devices(const std::string& prefix, std::size_t first,
                                                                 std::size_t count);

}  // namespace aflguard::fleet
