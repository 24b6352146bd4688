#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace aflguard::fleet {

/// One certificate that was issued to a viewer.
struct ViewerCertificate {
  std::string serial;                               ///< lower-case hex
  std::chrono::system_clock::time_point not_after;  ///< to the second

  friend bool operator==(const ViewerCertificate&, const ViewerCertificate&) = default;
};

/// A person, or a program, that may watch the fleet and decide nothing: reads statuses, metrics, summaries
/// and events, asks for history (docs/topics.md), and may do nothing else.
struct Viewer {
  std::string name;
  std::vector<ViewerCertificate> certificates;  ///< oldest first
  bool revoked = false;                         ///< for good: a revoked name never comes back

  friend bool operator==(const Viewer&, const Viewer&) = default;
};

/// Every viewer that a fleet has ever had.
struct ViewerBook {
  std::vector<Viewer> viewers;

  /// Null when there is no viewer of that name.
  [[nodiscard]] Viewer* find(std::string_view name);
  [[nodiscard]] const Viewer* find(std::string_view name) const;

  friend bool operator==(const ViewerBook&, const ViewerBook&) = default;
};

/// Every fleet has these: for people (`aflguard monitor`), for the dashboard, and for short looks
/// (`aflguard doctor`, `aflguard status`). Each has its own identity, because a broker that makes
/// client ids from certificates lets one connection per identity live.
inline constexpr std::array<std::string_view, 3> kFleetViewers = {"operator", "dashboard", "doctor"};

inline constexpr std::size_t kMaxViewersInBook = 1000;

/// The book in JSON. Where there is no such file, the fleet is older than viewers and has the operator only.
/// kCorrupt with the path when it is not a viewer book, repeats a name or exceeds a limit.
[[nodiscard]] Result<ViewerBook> read_viewer_book(const std::filesystem::path& path);

/// Whole or not at all. kInvalidInput when it could not be read back.
[[nodiscard]] Status write_viewer_book(const std::filesystem::path& path, const ViewerBook& book);

}  // namespace aflguard::fleet
