#include <filesystem>
#include <optional>

#include "tests/architecture/source_tree.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

/// The text between "```rooms" and the next "```".
std::optional<std::string> rooms_block(const std::string& page) {
  const std::string opening = "```rooms\n";
  const auto begin = page.find(opening);
  if (begin == std::string::npos) return std::nullopt;
  const auto end = page.find("\n```", begin);
  return page.substr(begin + opening.size(), end - begin - opening.size());
}

/// The rows as they read, whatever their comments and columns. Debts are not part of the plan that the page
/// shows.
std::string rows_of(const std::string& table) {
  std::string rows;
  for (const std::string& line : table_lines(table)) {
    if (line.starts_with("debt:")) continue;
    const auto colon = line.find(':');
    rows += trimmed(line.substr(0, colon)) + " :";
    for (const std::string& room : words_of(line.substr(colon + 1))) rows += " " + room;
    rows += "\n";
  }
  return rows;
}

/// The first row in which the page and the table differ, or nothing.
std::string difference(const std::string& page, const std::string& table) {
  const auto block = rooms_block(page);
  if (!block) return "docs/architecture.md has no block ```rooms";
  const std::vector<std::string> shown = split(rows_of(*block), '\n');
  const std::vector<std::string> held = split(rows_of(table), '\n');
  for (std::size_t row = 0; row < std::max(shown.size(), held.size()); ++row) {
    const std::string left = row < shown.size() ? shown[row] : "(nothing)";
    const std::string right = row < held.size() ? held[row] : "(nothing)";
    if (left != right)
      return "docs/architecture.md says\n" + left + "\nand tests/architecture/rooms.txt says\n" + right;
  }
  return {};
}

}  // namespace

TEST("docs/architecture.md shows the table of rooms that is tested") {
  const std::filesystem::path page = source_folder() / "docs/architecture.md";
  if (!std::filesystem::exists(page)) TEST_IGNORE_MESSAGE("docs/architecture.md does not exist yet");
  const std::string wrong =
      difference(read_text(page), read_text(source_folder() / "tests/architecture/rooms.txt"));
  assert_no_violation(wrong);
}

TEST("The rule finds a page that shows another table") {
  const std::string table = "# Rooms\na     :\nb/c   : a   # why\ndebt: b/c/x.h -> d.h\n";
  TEST_ASSERT_EQUAL_STRING("", difference("# Page\n```rooms\na :\nb/c : a\n```\nmore\n", table).c_str());
  ASSERT_CONTAINS(difference("```rooms\na :\nb/c : a d\n```\n", table), "b/c : a d");
  ASSERT_CONTAINS(difference("```rooms\na :\n```\n", table), "b/c : a");
  ASSERT_CONTAINS(difference("```text\na :\n```\n", table), "no block");
}
