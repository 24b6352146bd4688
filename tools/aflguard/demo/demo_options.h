#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace aflguard::cli {

struct DemoOptions {
  std::string dataset = "mnist";
  std::size_t clients = 10;
  std::size_t malicious = 2;
  std::string attack = "gd";
  std::string guard = "aflguard";
  std::optional<std::uint64_t> updates;  ///< otherwise as many as the data set needs
  std::uint64_t seed = 1;
  std::string output;  ///< folder for report, recording and logs; otherwise a temporary one
  bool recording = true;
  std::uint64_t recording_megabytes = 300;  ///< then the recording ends, and the fleet goes on
  bool json = false;
};

}  // namespace aflguard::cli
