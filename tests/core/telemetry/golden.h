#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/test.h"

namespace aflguard::testing {

/// A text that is not ASCII, as golden files have it.
inline const std::string kForeignText = "Füllstand 80 % – Σ日本🌱";

/// The message in tests/golden/telemetry/NAME.json.
inline std::string golden(const std::string& name) {
  std::ifstream file(source_folder() / "tests/golden/telemetry" / (name + ".json"));
  std::stringstream text;
  text << file.rdbuf();
  std::string message = text.str();
  TEST_ASSERT_TRUE_MESSAGE(message.ends_with("\n"), name.c_str());
  message.pop_back();
  return message;
}

inline void assert_golden(const std::string& name, const std::string& message) {
  TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), message.c_str());
  TEST_ASSERT_LESS_THAN_size_t(4096, message.size());
}

}  // namespace aflguard::testing
