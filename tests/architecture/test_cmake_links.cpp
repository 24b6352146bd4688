#include <algorithm>
#include <map>

#include "tests/architecture/room_table.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

const std::string kPrefix = "aflguard::";

/// "core.learning.data" for every aflguard::core.learning.data in the file.
std::vector<std::string> linked_targets(const std::string& cmake) {
  std::vector<std::string> targets;
  for (const std::string& line : table_lines(cmake)) {
    if (line.find("namespace ") != std::string::npos) continue;  // C++ that CMake writes
    for (auto at = line.find(kPrefix); at != std::string::npos; at = line.find(kPrefix, at + 1)) {
      const auto begin = at + kPrefix.size();
      const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", begin);
      targets.push_back(line.substr(begin, end - begin));
    }
  }
  return targets;
}

/// The names that modules of this file have been given: aflguard_module(edge_client.program ...).
std::vector<std::string> named_modules(const std::string& cmake) {
  std::vector<std::string> names;
  for (const std::string& line : table_lines(cmake)) {
    if (!line.starts_with("aflguard_module(")) continue;
    const std::string first = words_of(line.substr(16) + " SOURCES").front();
    if (first.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos)
      names.push_back(first);
  }
  return names;
}

std::string room_of_target(const RoomTable& table, const std::map<std::string, std::string>& folders,
                           std::string target) {
  if (const auto named = folders.find(target); named != folders.end()) return room_of(table, named->second);
  std::replace(target.begin(), target.end(), '.', '/');
  return room_of(table, target);
}

std::map<Debt, std::string> link_violations(const RoomTable& table, const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> folders;
  for (const SourceFile& file : files) {
    for (const std::string& name : named_modules(file.text)) folders[name] = folder_of(file.path);
  }
  std::map<Debt, std::string> found;
  for (const SourceFile& file : files) {
    const std::string room = room_of(table, folder_of(file.path));
    for (const std::string& target : linked_targets(file.text)) {
      const std::string linked = room_of_target(table, folders, target);
      const std::string link = file.path + " links " + kPrefix + target;
      const Debt debt = {file.path, kPrefix + target};
      if (room.empty()) {
        found[debt] = link + ", but its folder is not a room";
      } else if (linked.empty()) {
        found[debt] = link + ", which is not a room";
      } else if (!may_include(table, room, linked)) {
        found[debt] = link + ": " + room + " may not include " + linked;
      }
    }
  }
  return found;
}

bool is_link(const Debt& debt) {
  return debt.file.ends_with("CMakeLists.txt");
}

}  // namespace

TEST("A room links only rooms that it may include") {
  const std::vector<SourceFile> files = product_cmake_files(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 30, "the source tree was not found");
  const RoomTable& table = rooms_of_checkout();
  const std::string wrong = without_debts(table, link_violations(table, files), is_link);
  assert_no_violation(wrong);
}

TEST("The rule finds a wrong link when there is one") {
  const auto table = parse_rooms("core/base :\ncore/zip : core/base\nedge : core/base\n");
  ASSERT_OK(table);
  const auto found = [&](const std::string& folder, const std::string& text) {
    const auto wrong =
        link_violations(*table, {{"edge/CMakeLists.txt", "aflguard_module(edge.program\n  SOURCES x.cpp)\n"},
                                 {folder + "/CMakeLists.txt", text}});
    return wrong.empty() ? std::string() : wrong.begin()->second;
  };
  ASSERT_CONTAINS(found("core/base", "  LINKS aflguard::core.zip)"), "core/base may not include core/zip");
  ASSERT_CONTAINS(found("core/zip", "  LINKS aflguard::core.base aflguard::edge.program)"),
                  "may not include edge");
  ASSERT_CONTAINS(found("core/zip", "  LINKS aflguard::core.sip)"), "which is not a room");
  ASSERT_CONTAINS(found("core/new", "  LINKS aflguard::core.base)"), "its folder is not a room");
  TEST_ASSERT_EQUAL_STRING(
      "", found("core/zip", "  LINKS aflguard::core.base ZLIB::ZLIB) # aflguard::edge").c_str());
}
