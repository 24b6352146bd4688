#pragma once

namespace aflguard::cli {

/// `aflguard lab ...` with a guard or attack as FILE.py:NAME.
[[nodiscard]] bool wants_python(int argc, const char* const* argv);
/// Becomes python3 with the module `aflguard` and the same arguments; comes back only when there is none.
[[nodiscard]] int run_in_python(int argc, const char* const* argv);

}  // namespace aflguard::cli
