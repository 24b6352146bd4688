#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "fleet/monitor/frame.h"
#include "fleet/monitor/sparkline.h"

namespace aflguard::view {

/// True when standard output is a terminal that can be drawn on.
[[nodiscard]] bool can_draw();

/// The terminal of this process: alternate screen, no echo, keys as they come. However this ends, also by a
/// crash, the terminal is as it was before. One at a time.
class TerminalScreen final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<TerminalScreen>> open();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;
  ~TerminalScreen();

  [[nodiscard]] ScreenSize size() const;
  [[nodiscard]] Glyphs glyphs() const { return glyphs_; }
  /// Writes what differs from what is there. False when the terminal is gone.
  [[nodiscard]] bool show(const Frame& frame);
  /// True when keys can come.
  [[nodiscard]] bool has_keys() const { return keys_; }
  /// Keys that were pressed, without waiting; none when the terminal is gone.
  [[nodiscard]] std::optional<std::string> read_keys() const;

  /// Gives the terminal back, as for Ctrl-Z, and takes it again.
  void leave();
  void enter();

 private:
  TerminalScreen(bool keys, bool colour, Glyphs glyphs) : keys_(keys), colour_(colour), glyphs_(glyphs) {}
  bool keys_;
  bool colour_;
  Glyphs glyphs_;
  std::optional<Frame> shown_;
};

}  // namespace aflguard::view
