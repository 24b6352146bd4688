#include "tools/aflguard/demo_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unistd.h>

namespace aflguard::tools {
namespace {

constexpr int kBarWidth = 20;
constexpr std::chrono::milliseconds kTerminalInterval{200};
constexpr std::chrono::seconds kPlainInterval{5};

}  // namespace

DemoState DemoState::from(const FleetProgress& progress, const std::vector<DemoDevice>& devices) {
  DemoState state;
  state.updates = progress.iteration;
  state.version = progress.version;
  if (progress.evaluation) state.test_error = progress.evaluation->test_error;
  for (const DeviceTally& tally : progress.devices) {
    const auto known = std::find_if(devices.begin(), devices.end(),
                                    [&](const DemoDevice& device) { return device.name == tally.name; });
    if (known == devices.end()) continue;
    Tally& kind = known->byzantine ? state.byzantine : state.honest;
    kind.accepted += tally.accepted;
    kind.rejected += tally.rejected;
  }
  return state;
}

DemoView::DemoView(std::uint64_t updates) : total_(updates), terminal_(::isatty(STDERR_FILENO) != 0) {}

DemoView::~DemoView() {
  finish();
}

void DemoView::show(DemoState state) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(kTerminalInterval)
                           : std::chrono::milliseconds(kPlainInterval));
  draw(state);
}

void DemoView::draw(const DemoState& state) {
  const auto done = std::min(state.updates, total_);
  const auto filled = static_cast<std::size_t>(kBarWidth * done / std::max<std::uint64_t>(1, total_));
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  std::array<char, 16> error{"  -  "};
  if (state.test_error) std::snprintf(error.data(), error.size(), "%.3f", *state.test_error);
  std::uint64_t refused = 0;
  for (const auto& [reason, count] : state.refused) refused += count;
  const std::string refusals = refused > 0 ? " | refused " + std::to_string(refused) : "";
  std::fprintf(
      stderr,
      "%s[%s] %llu/%llu updates %3.0f/s | honest +%llu -%llu | byzantine +%llu -%llu%s | test error %s%s",
      terminal_ ? "\r" : "", bar.c_str(), static_cast<unsigned long long>(state.updates),
      static_cast<unsigned long long>(total_), state.updates_per_second,
      static_cast<unsigned long long>(state.honest.accepted),
      static_cast<unsigned long long>(state.honest.rejected),
      static_cast<unsigned long long>(state.byzantine.accepted),
      static_cast<unsigned long long>(state.byzantine.rejected), refusals.c_str(), error.data(),
      terminal_ ? "\x1b[K" : "\n");
  std::fflush(stderr);
  drawn_ = true;
}

void DemoView::finish() {
  if (terminal_ && drawn_) std::fputc('\n', stderr);
  drawn_ = false;
}

}  // namespace aflguard::tools
