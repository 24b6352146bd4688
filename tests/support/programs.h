#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/test.h"

namespace aflguard::testing {

/// Where the programs under test are.
inline std::filesystem::path programs_folder() {
  const char* folder = std::getenv("AFLGUARD_BIN");
  TEST_ASSERT_NOT_NULL_MESSAGE(folder, "AFLGUARD_BIN is not set; run this test with ctest");
  return folder;
}

/// One of them.
inline std::string program(const std::string& name) {
  return (programs_folder() / name).string();
}

}  // namespace aflguard::testing
