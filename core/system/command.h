#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aflguard {

/// A program to start: where, and which file takes what it writes.
struct Command {
  std::vector<std::string> arguments;  ///< the program first, found through PATH
  std::filesystem::path folder;
  std::filesystem::path log;

  friend bool operator==(const Command&, const Command&) = default;
};

}  // namespace aflguard
