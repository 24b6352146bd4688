#pragma once

#include <string>
#include <string_view>

#include "fleet/monitor/frame.h"

namespace aflguard::view {

/// Reads what frame_diff() writes, as a terminal would, for tests and benchmarks that check what is shown.
/// Ignores colours and every other sequence.
class ScreenReader final {
 public:
  explicit ScreenReader(ScreenSize size) : frame_(size) {}

  /// Bytes as they come; a sequence may be cut anywhere.
  void feed(std::string_view bytes);
  [[nodiscard]] const Frame& frame() const { return frame_; }
  /// Whether some row holds it now.
  [[nodiscard]] bool shows(std::string_view text) const;

 private:
  /// How many bytes of `rest_` the first sequence or glyph has; 0 while it is not whole.
  [[nodiscard]] std::size_t take_one();
  void obey(std::string_view sequence);

  Frame frame_;
  std::string rest_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

}  // namespace aflguard::view
