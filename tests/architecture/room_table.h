#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::testing {

/// One line "debt: FILE -> TARGET": an include or a link that goes against the table and has yet to be
/// mended.
struct Debt {
  std::string file;
  std::string target;

  friend auto operator<=>(const Debt&, const Debt&) = default;
};

/// tests/architecture/rooms.txt as values.
struct RoomTable {
  /// What each room may include, as written: rooms, and "x/*" for x and everything in it.
  std::map<std::string, std::vector<std::string>> rooms;
  /// Library headers by the beginning of their names, and the rooms that may include them.
  std::map<std::string, std::set<std::string>> libraries;
  std::set<Debt> debts;
};

/// Refuses a row that names a room which has none, a row twice, and what is not a row.
[[nodiscard]] Result<RoomTable> parse_rooms(const std::string& text);

/// The table of this checkout; fails the test that asks when it cannot be read.
[[nodiscard]] const RoomTable& rooms_of_checkout();

/// The room of a folder, or nothing. Only models, datasets, core/kernels and core/system have subfolders
/// without a row.
[[nodiscard]] std::string room_of(const RoomTable& table, const std::string& folder);

[[nodiscard]] bool may_include(const RoomTable& table, const std::string& from, const std::string& to);

/// "a -> b -> a" when rows name each other in a circle, else nothing. Patterns "x/*" are left out: the
/// programs, which see everything, have them.
[[nodiscard]] std::string cycle_in(const RoomTable& table);

/// Takes what `table` has as debt out of `violations` (by file and target), and adds a line for every debt
/// that `is_of_this_kind` and that nothing violates any more.
[[nodiscard]] std::string without_debts(const RoomTable& table, const std::map<Debt, std::string>& violations,
                                        bool (*is_of_this_kind)(const Debt&));

}  // namespace aflguard::testing
