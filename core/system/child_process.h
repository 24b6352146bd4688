#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// How a program ended, and what it said.
struct ProgramOutcome {
  int exit_code = 0;   ///< 128 + signal number when a signal ended it, as shells count
  std::string output;  ///< standard output and standard error together, the last kMaxProgramOutput bytes

  /// The last line that is not empty, for one-line errors.
  [[nodiscard]] std::string last_line() const;
};

inline constexpr std::size_t kMaxProgramOutput = 64 * 1024;

/// Runs arguments[0] (found through PATH) in `folder` until it ends; no shell is involved, and its standard
/// input is empty. kNotFound when there is no such program. A program that fails is an outcome, not an error.
[[nodiscard]] Result<ProgramOutcome> run_program(const std::vector<std::string>& arguments,
                                                 const std::filesystem::path& folder);

}  // namespace aflguard
