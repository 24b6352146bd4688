#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace aflguard::testing {

/// A pseudo-terminal that keeps what programs draw on it: tmux without anybody looking. It ends with this
/// object.
class TmuxScreen final {
 public:
  /// Starts `bash` in `folder` on a screen of that size; skips the test where tmux is not installed.
  TmuxScreen(const std::filesystem::path& folder, int columns, int rows);
  TmuxScreen(const TmuxScreen&) = delete;
  TmuxScreen& operator=(const TmuxScreen&) = delete;
  ~TmuxScreen();

  /// One key or one text in tmux's words: "s", "Enter", "C-z", "Escape".
  void press(const std::string& key) const;
  /// A command for the shell.
  void type(const std::string& line) const;
  void resize(int columns, int rows) const;
  /// What is on the screen; with `styles`, as escape sequences.
  [[nodiscard]] std::string text(bool styles = false) const;
  /// Until the screen is as wanted; fails the test with the screen when that takes too long.
  void wait(const std::string& what, const std::function<bool(const std::string&)>& wanted) const;
  void wait_for(const std::string& part) const;

 private:
  [[nodiscard]] std::string tmux(const std::vector<std::string>& arguments) const;
  std::filesystem::path socket_;
};

}  // namespace aflguard::testing
