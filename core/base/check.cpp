#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/result.h"

namespace aflguard {

void fail_check(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "bug: %.*s (%s:%u in %s)\n", static_cast<int>(what.size()), what.data(),
               where.file_name(), where.line(), where.function_name());
  std::abort();
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidInput:
      return "invalid input";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kIo:
      return "input/output";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "unknown";
}

}  // namespace aflguard
