#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "fleet/folder/viewer_book.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;

namespace {

Viewer viewer(const std::string& name, const std::string& serial = "0a1") {
  return {name, {{serial, parse_rfc3339("2027-01-02T03:04:05Z").value()}}, false};
}

/// Why the book, with one piece of text replaced, is none.
std::string damaged(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  ASSERT_OK(write_viewer_book(path, {{viewer("operator"), viewer("anna", "0a2")}}));
  std::string text = read_text_file(path).value();
  const auto at = text.find(from);
  TEST_ASSERT_TRUE_MESSAGE(at != std::string::npos, from.c_str());
  ASSERT_OK(write_file_atomically(path, text.replace(at, from.size(), to)));
  return testing::message_of(read_viewer_book(path));
}

}  // namespace

TEST("A viewer book is read back as it was written; without a file there is the operator") {
  testing::TemporaryFolder folder;
  ViewerBook book{{viewer("operator"), viewer("anna", "0a2")}};
  book.viewers[1].revoked = true;
  ASSERT_OK(write_viewer_book(folder / "viewers.json", book));
  const auto read = read_viewer_book(folder / "viewers.json");
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == book);
  TEST_ASSERT_EQUAL_PTR(&read->viewers[1], read->find("anna"));
  TEST_ASSERT_NULL(read->find("bert"));
  const auto older = read_viewer_book(folder / "other.json");
  ASSERT_OK(older);
  TEST_ASSERT_EQUAL_size_t(1, older->viewers.size());
  TEST_ASSERT_NOT_NULL(older->find("operator"));
}

TEST("What is not a viewer book is named together with its path, and is not written") {
  testing::TemporaryFolder folder;
  const auto path = folder / "viewers.json";
  ASSERT_CONTAINS(testing::message_of(write_viewer_book(path, {{viewer("a"), viewer("a")}})),
                  "'a' is there twice");
  ASSERT_CONTAINS(testing::message_of(write_viewer_book(path, {{viewer("a", std::string(41, '0'))}})),
                  "serial");
  const std::vector<Viewer> many(kMaxViewersInBook + 1, viewer("a"));
  ASSERT_CONTAINS(testing::message_of(write_viewer_book(path, {many})), "1001 viewers");
  TEST_ASSERT_FALSE(std::filesystem::exists(path));
  ASSERT_CONTAINS(damaged(path, "book-1", "book-2"), path.string());
  ASSERT_CONTAINS(damaged(path, "book-1", "book-2"), "schema");
  ASSERT_CONTAINS(damaged(path, "anna", "operator"), "'operator' is there twice");
  ASSERT_CONTAINS(damaged(path, "anna", "../1"), "is not a name");
  ASSERT_CONTAINS(damaged(path, "0a1", "0A1"), "serial");
  ASSERT_CONTAINS(damaged(path, "0a1", ""), "serial");
  ASSERT_CONTAINS(damaged(path, "2027-01", "2027-13"), "not a time");
  ASSERT_CONTAINS(damaged(path, "false", "0"), "boolean");
  ASSERT_CONTAINS(damaged(path, "}", ""), "not a JSON object");
}
