#include "tests/architecture/word_table.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

TEST("Tests wait for what they expect and do not sleep, outside tests/support") {
  const std::vector<SourceFile> files = test_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 100, "the source tree was not found");
  assert_words_retired(WordKind::kCall, files);
}

TEST("The rule finds a test that sleeps") {
  const auto rows = parse_words("call | doze_for | wait_until | 0 | tests/support/");
  ASSERT_OK(rows);
  const std::string text =
      "void f() {\n  std::this_thread::doze_for(1s);  // doze_for\n  re_doze_for();\n}\n";
  const auto found = places_of(rows->front(), {{"tests/core/x.cpp", text}, {"tests/support/y.cpp", text}});
  TEST_ASSERT_EQUAL_size_t(1, found.size());
  ASSERT_CONTAINS(judge(rows->front(), found).failure, "tests/core/x.cpp: doze_for");
}
