#pragma once

#include "core/base/log.h"

namespace aflguard::testing {

/// Takes every line and keeps none.
class QuietLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

}  // namespace aflguard::testing
