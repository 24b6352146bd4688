#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/system/file_descriptor.h"

namespace aflguard::bench {

/// How the link behaves, the same in both directions.
struct SlowLinkOptions {
  double megabits_per_s = 20;
  std::chrono::milliseconds round_trip{50};
  int send_buffer_bytes =
      65'536;  ///< largest of a TCP connection on the board's end: boards have little memory
};

/// A network namespace that stands for a board behind a slow link. The link is made of two TUN devices and a
/// thread of ours that carries packets between them, late and one after the other: kernels of small machines
/// and containers lack netem. Needs root, /dev/net/tun and iproute2. Nothing of it is left when the object is
/// gone.
class SlowLink final {
 public:
  /// kUnavailable, with the reason, where this system does not allow it.
  [[nodiscard]] static Result<std::unique_ptr<SlowLink>> create(const SlowLinkOptions& terms);
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;
  ~SlowLink();

  /// This end, where the broker listens.
  [[nodiscard]] static const char* address() { return "198.18.147.1"; }
  /// Put before a command, it runs on the board's end.
  [[nodiscard]] std::vector<std::string> prefix() const { return {"ip", "netns", "exec", name_}; }

 private:
  explicit SlowLink(const SlowLinkOptions& terms);
  [[nodiscard]] Status set_up();
  void carry() const;

  SlowLinkOptions terms_;
  std::string name_;
  bool has_namespace_ = false;
  FileDescriptor here_;   ///< TUN device of this end
  FileDescriptor board_;  ///< of the board's end
  std::atomic<bool> stopping_{false};
  std::thread carrier_;
};

}  // namespace aflguard::bench
