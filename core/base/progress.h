#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace aflguard {

/// Where long work says how far it is. Passed in by main(), like the log.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `what` is being done and `done` of `total` steps are over; total 0 when the length is unknown.
  virtual void show(std::string_view what, std::size_t done, std::size_t total) = 0;
  /// The work is over or has failed: the next line written elsewhere starts clean.
  virtual void finish() = 0;
};

class SilentProgress final : public Progress {
 public:
  void show(std::string_view, std::size_t, std::size_t) override {}
  void finish() override {}
};

/// On standard error: a bar that redraws itself on a terminal, one plain line per piece of work otherwise.
class StderrProgress final : public Progress {
 public:
  StderrProgress();
  ~StderrProgress() override { finish(); }
  void show(std::string_view what, std::size_t done, std::size_t total) override;
  void finish() override;

 private:
  bool terminal_;
  std::string current_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace aflguard
