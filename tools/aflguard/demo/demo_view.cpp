#include "tools/aflguard/demo/demo_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace aflguard::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{200};
constexpr std::chrono::seconds kPlainInterval{5};

std::string tally(const char* name, const sim::ClientTally& tally) {
  return std::string(" | ") + name + " +" + std::to_string(tally.accepted) + " -" +
         std::to_string(tally.rejected);
}

std::string bar(const sim::FleetRunState& state, std::uint64_t total, std::size_t width) {
  const auto done = std::min(state.updates, total);
  const auto filled = static_cast<std::size_t>(width * done / std::max<std::uint64_t>(1, total));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
         std::to_string(state.updates) + "/" + std::to_string(total);
}

std::string number(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Everything that is worth seeing, in one line.
std::string full_line(const sim::FleetRunState& state, std::uint64_t total) {
  std::uint64_t refused = 0;
  for (const auto& [reason, count] : state.refused) refused += count;
  return bar(state, total, 20) + " updates" + number(" %3.0f/s", state.updates_per_second) +
         tally("honest", state.honest) + tally("malicious", state.malicious) +
         (refused > 0 ? " | refused " + std::to_string(refused) : "") + " | test error " +
         (state.test_error ? number("%.3f", *state.test_error) : "-");
}

/// The same for 80 columns, with what matters most in front.
std::string short_line(const sim::FleetRunState& state, std::uint64_t total) {
  return bar(state, total, 6) + number(" %.0f/s", state.updates_per_second) + " | error " +
         (state.test_error ? number("%.3f", *state.test_error) : "-") + tally("honest", state.honest) +
         tally("malicious", state.malicious);
}

std::size_t terminal_width() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

}  // namespace

DemoView::DemoView(std::uint64_t updates) : total_(updates), terminal_(::isatty(STDERR_FILENO) != 0) {}

DemoView::~DemoView() {
  finish();
}

void DemoView::show(const sim::FleetRunState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(kTerminalInterval)
                           : std::chrono::milliseconds(kPlainInterval));
  draw(state);
}

void DemoView::draw(const sim::FleetRunState& state) {
  std::string text = full_line(state, total_);
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  // A line that wraps cannot be redrawn.
  const std::size_t room = terminal_width() - 1;
  if (text.size() > room) text = short_line(state, total_);
  if (text.size() > room) text.resize(room);
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void DemoView::finish() {
  if (terminal_ && drawn_) std::fputc('\n', stderr);
  drawn_ = false;
}

}  // namespace aflguard::cli
