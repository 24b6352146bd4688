#pragma once

#include "core/base/result.h"

namespace aflguard::bench {

/// CPU time of a process so far, user and system; 0 when there is none.
[[nodiscard]] double cpu_seconds(int process);
/// The most memory that a process had resident, shared pages included. kUnavailable when it has ended.
[[nodiscard]] Result<double> peak_mb(int process);
/// What a process has resident now, of shared pages its share. kUnavailable when it has ended.
[[nodiscard]] Result<double> own_mb(int process);

/// How idle this machine's cores were, as a share, since the object was made.
class IdleShare final {
 public:
  IdleShare() : begin_(read()) {}
  [[nodiscard]] double value() const;

 private:
  struct Ticks {
    double idle = 0;
    double all = 0;
  };
  [[nodiscard]] static Ticks read();
  Ticks begin_;
};

}  // namespace aflguard::bench
