#include "tests/support/tmux_screen.h"

#include <chrono>
#include <thread>

#include "core/system/child_process.h"
#include "tests/support/test.h"

namespace aflguard::testing {
namespace {

/// Longer than anything takes; a test that waits this long has failed.
constexpr std::chrono::seconds kLong{90};
constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace

TmuxScreen::TmuxScreen(const std::filesystem::path& folder, int columns, int rows)
    : socket_(folder / "tmux") {
  const auto found = run_program({"tmux", "-V"}, folder);
  if (!found.ok()) TEST_IGNORE_MESSAGE("tmux is not installed; ./run setup installs it");
  (void)tmux({"-f", "/dev/null", "new-session", "-d", "-x", std::to_string(columns), "-y",
              std::to_string(rows), "env", "LC_ALL=C.UTF-8", "PS1=shell> ", "HISTFILE=", "bash", "--norc",
              "--noprofile"});
  wait_for("shell>");
}

TmuxScreen::~TmuxScreen() {
  (void)run_program({"tmux", "-S", socket_.string(), "kill-server"}, socket_.parent_path());
}

std::string TmuxScreen::tmux(const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {"env", "LC_ALL=C.UTF-8", "TERM=screen", "tmux", "-u",
                                  "-S",  socket_.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const auto outcome = run_program(all, socket_.parent_path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
  return outcome->output;
}

void TmuxScreen::press(const std::string& key) const {
  (void)tmux({"send-keys", key});
}

void TmuxScreen::type(const std::string& line) const {
  (void)tmux({"send-keys", "-l", line});
  press("Enter");
}

void TmuxScreen::resize(int columns, int rows) const {
  (void)tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
}

std::string TmuxScreen::text(bool styles) const {
  return styles ? tmux({"capture-pane", "-p", "-e"}) : tmux({"capture-pane", "-p"});
}

void TmuxScreen::wait(const std::string& what, const std::function<bool(const std::string&)>& wanted) const {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  std::string last = text();
  while (!wanted(last)) {
    TEST_ASSERT_TRUE_MESSAGE(std::chrono::steady_clock::now() < deadline,
                             ("the screen never had " + what + ":\n" + last).c_str());
    std::this_thread::sleep_for(kPollInterval);
    last = text();
  }
}

void TmuxScreen::wait_for(const std::string& part) const {
  wait("'" + part + "'", [&](const std::string& screen) { return screen.find(part) != std::string::npos; });
}

}  // namespace aflguard::testing
