#include <map>

#include "tests/architecture/room_table.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

/// What is wrong with one include, or nothing.
std::string violation(const RoomTable& table, const std::string& file, const std::string& include) {
  const std::string room = room_of(table, folder_of(file));
  if (room.empty()) return file + ": its folder is not a room in rooms.txt";
  const std::string name = include.substr(1);
  if (include.front() == '"') {
    const std::string target = room_of(table, folder_of(name));
    if (target.empty()) return file + " includes " + name + ", which is in no room";
    if (!may_include(table, room, target))
      return file + " includes " + name + ": " + room + " may not include " + target;
    return {};
  }
  for (const auto& [prefix, owners] : table.libraries) {
    if (name.starts_with(prefix) && !owners.contains(room))
      return file + " includes <" + name + ">, which only its adapters may";
  }
  return {};
}

std::map<Debt, std::string> violations(const RoomTable& table, const std::vector<SourceFile>& files) {
  std::map<Debt, std::string> found;
  for (const SourceFile& file : files) {
    for (const std::string& include : includes_of(file.text)) {
      const std::string text = violation(table, file.path, include);
      if (!text.empty()) found.try_emplace({file.path, include.substr(1)}, text);
    }
  }
  return found;
}

bool is_include(const Debt& debt) {
  return !debt.file.ends_with("CMakeLists.txt");
}

const char* const kSmallTable =
    "core/base : \n"
    "core/zip  : core/base\n"
    "models    : core/base\n"
    "tools     : core/*\n"
    "<zlib     : core/zip\n";

}  // namespace

TEST(
    "Includes go one way: a room sees only the rooms that its row names, and a library only its adapters "
    "do") {
  const std::vector<SourceFile> files = product_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 300, "the source tree was not found");
  const RoomTable& table = rooms_of_checkout();
  const std::string wrong = without_debts(table, violations(table, files), is_include);
  assert_no_violation(wrong);
}

TEST("Every folder with product code has a room, and every room has code") {
  const RoomTable& table = rooms_of_checkout();
  std::string wrong;
  std::set<std::string> used;
  for (const SourceFile& file : product_sources(source_folder())) {
    const std::string room = room_of(table, folder_of(file.path));
    if (room.empty()) wrong += file.path + ": its folder is not a room in rooms.txt\n";
    used.insert(room);
  }
  for (const auto& [room, allowed] : table.rooms) {
    if (!used.contains(room)) wrong += "room " + room + " of rooms.txt has no source\n";
  }
  assert_no_violation(wrong);
}

TEST("The table of rooms has no circle") {
  TEST_ASSERT_EQUAL_STRING("", cycle_in(rooms_of_checkout()).c_str());
}

TEST("The rule finds a wrong include when there is one") {
  const auto table = parse_rooms(kSmallTable);
  ASSERT_OK(table);
  ASSERT_CONTAINS(violation(*table, "core/base/x.h", "\"core/zip/y.h"), "core/base may not include core/zip");
  ASSERT_CONTAINS(violation(*table, "core/base/x.inc", "\"tests/support/test.h"), "in no room");
  ASSERT_CONTAINS(violation(*table, "core/base/x.cpp", "<zlib.h"), "only its adapters");
  ASSERT_CONTAINS(violation(*table, "core/zip/new/x.cpp", "<vector"), "is not a room");
  TEST_ASSERT_EQUAL_STRING("", violation(*table, "core/zip/x.cpp", "<zlib.h").c_str());
  TEST_ASSERT_EQUAL_STRING("", violation(*table, "core/zip/x.cpp", "\"core/base/y.h").c_str());
  TEST_ASSERT_EQUAL_STRING("", violation(*table, "models/rules/x.cpp", "\"models/y.h").c_str());
  TEST_ASSERT_EQUAL_STRING("", violation(*table, "tools/x.cpp", "\"core/zip/y.h").c_str());
}

TEST("A debt excuses one include, and must go when it is paid") {
  const auto table = parse_rooms(std::string(kSmallTable) + "debt: core/base/x.h -> core/zip/y.h\n");
  ASSERT_OK(table);
  const std::vector<SourceFile> unpaid = {{"core/base/x.h", "#include \"core/zip/y.h\"\n"}};
  TEST_ASSERT_EQUAL_STRING("", without_debts(*table, violations(*table, unpaid), is_include).c_str());
  const std::vector<SourceFile> another = {
      {"core/base/x.h", "#include \"core/zip/y.h\"\n#include <zlib.h>\n"}};
  ASSERT_CONTAINS(without_debts(*table, violations(*table, another), is_include), "zlib.h");
  ASSERT_CONTAINS(without_debts(*table, {}, is_include), "paid, remove it");
}

TEST("The table refuses circles, unknown rooms and two rows for one room") {
  const auto circle = parse_rooms("a : b\nb : c\nc : a\n");
  ASSERT_OK(circle);
  TEST_ASSERT_EQUAL_STRING("a -> b -> c -> a", cycle_in(*circle).c_str());
  const auto programs = parse_rooms("a : b/*\nb : a\n");
  ASSERT_OK(programs);
  TEST_ASSERT_EQUAL_STRING("", cycle_in(*programs).c_str());
  ASSERT_CONTAINS(message_of(parse_rooms("a : b\n")), "names 'b', which has no row");
  ASSERT_CONTAINS(message_of(parse_rooms("a :\n<zlib : b\n")), "names 'b', which has no row");
  ASSERT_CONTAINS(message_of(parse_rooms("a :\na :\n")), "'a' has two rows");
}
