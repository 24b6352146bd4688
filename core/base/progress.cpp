#include "core/base/progress.h"

#include <algorithm>
#include <unistd.h>

namespace aflguard {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::chrono::milliseconds kRedrawInterval{50};

}  // namespace

StderrProgress::StderrProgress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void StderrProgress::show(std::string_view what, std::size_t done, std::size_t total) {
  const bool new_work = what != current_;
  if (new_work) {
    finish();
    current_ = what;
  }
  if (!terminal_) {
    if (new_work) std::fprintf(stderr, "%s\n", current_.c_str());
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!new_work && done < total && now - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = now;
  drawn_ = true;
  if (total == 0) {
    std::fprintf(stderr, "\r\033[K%s ...", current_.c_str());
  } else {
    const std::size_t filled = std::min(done, total) * kBarWidth / total;
    const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
    std::fprintf(stderr, "\r\033[K%s [%s] %3zu %%", current_.c_str(), bar.c_str(),
                 std::min(done, total) * 100 / total);
  }
  std::fflush(stderr);
}

void StderrProgress::finish() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
  current_.clear();
}

}  // namespace aflguard
