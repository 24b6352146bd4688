#include "tests/architecture/room_table.h"

#include <algorithm>

#include "tests/architecture/source_tree.h"
#include "tests/support/test.h"

namespace aflguard::testing {
namespace {

/// Rooms whose subfolders are part of them.
const std::vector<std::string> kWholeRooms = {"core/kernels", "core/system", "datasets", "models"};

/// "x" of "x/*", or nothing.
std::string pattern_root(const std::string& allowed) {
  return allowed.ends_with("/*") ? allowed.substr(0, allowed.size() - 2) : std::string();
}

bool is_in(const std::string& room, const std::string& root) {
  return room == root || room.starts_with(root + "/");
}

Result<Debt> parse_debt(const std::string& line) {
  const auto arrow = line.find("->");
  if (arrow == std::string::npos) return invalid_input("'" + line + "' is not 'debt: FILE -> TARGET'");
  return Debt{trimmed(line.substr(5, arrow - 5)), trimmed(line.substr(arrow + 2))};
}

Status add_row(RoomTable& table, const std::string& line) {
  const auto colon = line.find(':');
  if (colon == std::string::npos) return invalid_input("'" + line + "' is not 'room : rooms'");
  const std::string name = trimmed(line.substr(0, colon));
  const std::vector<std::string> allowed = words_of(line.substr(colon + 1));
  const bool added = name.starts_with("<")
                         ? table.libraries.try_emplace(name.substr(1), allowed.begin(), allowed.end()).second
                         : table.rooms.try_emplace(name, allowed).second;
  if (!added) return invalid_input("'" + name + "' has two rows");
  return {};
}

Status check_names(const RoomTable& table) {
  const auto known = [&](const std::string& allowed) {
    const std::string root = pattern_root(allowed);
    if (root.empty()) return table.rooms.contains(allowed);
    return std::any_of(table.rooms.begin(), table.rooms.end(),
                       [&](const auto& row) { return is_in(row.first, root); });
  };
  for (const auto& [room, allowed] : table.rooms) {
    for (const std::string& other : allowed) {
      if (!known(other)) return invalid_input("row '" + room + "' names '" + other + "', which has no row");
    }
  }
  for (const auto& [prefix, rooms] : table.libraries) {
    for (const std::string& room : rooms) {
      if (!known(room)) return invalid_input("row '<" + prefix + "' names '" + room + "', which has no row");
    }
  }
  return {};
}

/// Walks from the last room of `path`; returns the circle that it meets.
std::string walk(const RoomTable& table, std::vector<std::string>& path, std::set<std::string>& done) {
  const std::string room = path.back();
  for (const std::string& next : table.rooms.at(room)) {
    if (!pattern_root(next).empty() || done.contains(next)) continue;
    const auto seen = std::find(path.begin(), path.end(), next);
    if (seen != path.end()) {
      std::string circle;
      for (auto step = seen; step != path.end(); ++step) circle += *step + " -> ";
      return circle + next;
    }
    path.push_back(next);
    const std::string circle = walk(table, path, done);
    if (!circle.empty()) return circle;
    path.pop_back();
  }
  done.insert(room);
  return {};
}

}  // namespace

Result<RoomTable> parse_rooms(const std::string& text) {
  RoomTable table;
  for (const std::string& line : table_lines(text)) {
    if (line.starts_with("debt:")) {
      TRY(Debt debt, parse_debt(line));
      table.debts.insert(std::move(debt));
    } else {
      TRY_STATUS(add_row(table, line));
    }
  }
  TRY_STATUS(check_names(table));
  return table;
}

const RoomTable& rooms_of_checkout() {
  static const Result<RoomTable> table =
      parse_rooms(read_text(source_folder() / "tests/architecture/rooms.txt"));
  ASSERT_OK(table);
  return *table;
}

std::string room_of(const RoomTable& table, const std::string& folder) {
  if (table.rooms.contains(folder)) return folder;
  for (const std::string& room : kWholeRooms) {
    if (is_in(folder, room) && table.rooms.contains(room)) return room;
  }
  return {};
}

bool may_include(const RoomTable& table, const std::string& from, const std::string& to) {
  if (from == to) return true;
  const std::vector<std::string>& allowed = table.rooms.at(from);
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& one) {
    const std::string root = pattern_root(one);
    return root.empty() ? one == to : is_in(to, root);
  });
}

std::string cycle_in(const RoomTable& table) {
  std::set<std::string> done;
  for (const auto& [room, allowed] : table.rooms) {
    std::vector<std::string> path = {room};
    const std::string circle = done.contains(room) ? std::string() : walk(table, path, done);
    if (!circle.empty()) return circle;
  }
  return {};
}

std::string without_debts(const RoomTable& table, const std::map<Debt, std::string>& violations,
                          bool (*is_of_this_kind)(const Debt&)) {
  std::string lines;
  for (const auto& [violation, text] : violations) {
    if (!table.debts.contains(violation)) lines += text + "\n";
  }
  for (const Debt& debt : table.debts) {
    if (is_of_this_kind(debt) && !violations.contains(debt))
      lines += "paid, remove it from rooms.txt: debt: " + debt.file + " -> " + debt.target + "\n";
  }
  return lines;
}

}  // namespace aflguard::testing
