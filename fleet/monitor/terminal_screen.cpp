#include "fleet/monitor/terminal_screen.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "fleet/monitor/frame_diff.h"

namespace aflguard::view {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t kMostColumns = 500;
constexpr std::size_t kMostRows = 300;

/// What a crash handler must know; signals carry nothing.
std::atomic<bool> entered{false};
termios before{};
bool has_before = false;

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

/// Only calls that are allowed in a signal handler.
void restore() {
  if (!entered.exchange(false)) return;
  (void)write_all(kLeave);
  if (has_before) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void on_crash(int signal) {
  restore();
  ::raise(signal);  // the handler was for one time: this ends the process as it would have ended
}

void install_crash_handlers(bool wanted) {
  for (const int signal : kCrashes) {
    struct sigaction action {};
    action.sa_handler = wanted ? on_crash : SIG_DFL;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigaction(signal, &action, nullptr);
  }
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// As the C library finds out which characters a terminal shows.
bool speaks_unicode() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = environment(name);
  }
  for (const std::string_view name : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
    if (locale.find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool can_draw() {
  const std::string_view kind = environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !kind.empty() && kind != "dumb";
}

Result<std::unique_ptr<TerminalScreen>> TerminalScreen::open() {
  if (!can_draw()) return unsupported("standard output is not a terminal that can be drawn on");
  const bool keys = ::isatty(STDIN_FILENO) == 1;
  has_before = keys && ::tcgetattr(STDIN_FILENO, &before) == 0;
  std::unique_ptr<TerminalScreen> screen(new TerminalScreen(
      keys, environment("NO_COLOR").empty(), speaks_unicode() ? Glyphs::kUnicode : Glyphs::kAscii));
  install_crash_handlers(true);
  screen->enter();
  return screen;
}

TerminalScreen::~TerminalScreen() {
  leave();
  install_crash_handlers(false);
}

void TerminalScreen::enter() {
  if (has_before) {
    termios raw = before;
    // Keys as they come and without echo; Ctrl-C and Ctrl-Z stay signals.
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO | IEXTEN));
    raw.c_iflag &= static_cast<tcflag_t>(~(ICRNL | IXON));
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  entered = true;
  shown_.reset();
  (void)write_all(kEnter);
}

void TerminalScreen::leave() {
  restore();
  shown_.reset();
}

ScreenSize TerminalScreen::size() const {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {std::min<std::size_t>(found.ws_col, kMostColumns), std::min<std::size_t>(found.ws_row, kMostRows)};
}

bool TerminalScreen::show(const Frame& frame) {
  const std::string bytes = frame_diff(shown_, frame, colour_);
  shown_ = frame;
  return write_all(bytes);
}

std::optional<std::string> TerminalScreen::read_keys() const {
  std::string keys;
  std::array<char, 256> bytes{};
  while (true) {
    const ssize_t done = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno != EAGAIN) return std::nullopt;
    if (done <= 0) return keys;
    keys.append(bytes.data(), static_cast<std::size_t>(done));
  }
}

}  // namespace aflguard::view
