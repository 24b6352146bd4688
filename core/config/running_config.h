#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/config/config_file.h"

namespace aflguard {

/// Keys of a configuration file that have other values than a running program works with.
struct ConfigChanges {
  std::vector<std::string> live;           ///< "[section] key", taken over now
  std::vector<std::string> after_restart;  ///< the program works with the former value until then

  /// What a program logs after it has read its file again, as one line.
  [[nodiscard]] std::string text() const;
};

/// The values that a running program works with, to find out what a new version of its file changes.
class RunningConfig final {
 public:
  /// `live`: keys, "[section] key", or whole sections, "[section]", that can change while the program runs.
  RunningConfig(const ConfigFile& file, std::set<std::string> live)
      : live_(std::move(live)), values_(file.values()) {}

  /// What differs from the values at work; `file` is valid. From then on its live keys are at work.
  [[nodiscard]] ConfigChanges follow(const ConfigFile& file);
  /// What is at work, as ConfigFile::values() has it.
  [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }

 private:
  [[nodiscard]] bool is_live(const std::string& key) const;
  const std::set<std::string> live_;
  std::map<std::string, std::string> values_;
};

}  // namespace aflguard
