#pragma once

#include <string>

#include "core/base/log.h"

namespace aflguard::testing {

/// What was logged, one line each.
class KeptLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

}  // namespace aflguard::testing
