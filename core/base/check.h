#pragma once

#include <source_location>
#include <string_view>

namespace aflguard {

[[noreturn]] void fail_check(std::string_view what, const std::source_location& where);

/// For bugs only: prints what and where, then aborts. Expected failures are Result<T>.
inline void check(bool holds, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    fail_check(what, where);
  }
}

}  // namespace aflguard
