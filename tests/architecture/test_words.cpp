#include <algorithm>
#include <iterator>

#include "tests/architecture/word_table.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

std::vector<SourceFile> all_sources() {
  std::vector<SourceFile> files = product_sources(source_folder());
  std::vector<SourceFile> tests = test_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 300 && tests.size() > 100, "the source tree was not found");
  std::move(tests.begin(), tests.end(), std::back_inserter(files));
  // This file has examples of what is retired.
  std::erase_if(files, [](const SourceFile& file) { return file.path.ends_with("/test_words.cpp"); });
  return files;
}

RetiredWord row(const std::string& line) {
  const auto rows = parse_words(line);
  ASSERT_OK(rows);
  return rows->front();
}

std::size_t count(const std::string& line, const std::string& path, const std::string& text) {
  return places_of(row(line), {{path, text}}).size();
}

}  // namespace

TEST("Names do not use words that have been retired") {
  assert_words_retired(WordKind::kName, all_sources());
}

TEST("Comments and messages do not use phrases that have been retired") {
  assert_words_retired(WordKind::kPhrase, all_sources());
}

TEST("A retired word is found in every spelling of a name, and in the name of a file") {
  const std::string line = "name | blue_thing | red | 0";
  for (const std::string name :
       {"blue_thing", "BlueThing", "kBlueThings", "my_blue_thing_", "make_blue_things"}) {
    TEST_ASSERT_EQUAL_size_t_MESSAGE(1, count(line, "x.h", "int " + name + " = 1;\n"), name.c_str());
  }
  TEST_ASSERT_EQUAL_size_t(1, count(line, "core/blue_thing.h", ""));
  TEST_ASSERT_EQUAL_size_t(0, count(line, "x.h", "int bluething, blue_other_thing, bluer_thing;\n"));
  TEST_ASSERT_EQUAL_size_t(0, count(line, "x.h", "// blue_thing\nconst char* k = \"blue_thing\";\n"));
}

TEST("A retired phrase is found in comments and messages, also across lines, and in no name") {
  const std::string line = "phrase | \"is no \" | is not a | 0 | | there is no, is no longer";
  TEST_ASSERT_EQUAL_size_t(1, count(line, "x.h", "// what is no\n// number\n"));
  TEST_ASSERT_EQUAL_size_t(1, count(line, "x.h", "auto k = \"x is no \"\n         \"number\";\n"));
  TEST_ASSERT_EQUAL_size_t(1, count(line, "x.h", "auto k = R\"(x\nis no number)\";\n"));
  TEST_ASSERT_EQUAL_size_t(
      0, count(line, "x.h", "// There is no number, and it is no longer asked. This no one.\n"));
  TEST_ASSERT_EQUAL_size_t(
      0, count("phrase | anew | again | 0", "x.h", "int anew = 1;  // a newer one, anewer\n"));
}

TEST("A row may name paths and longer names that are fine") {
  const std::string line = "name | blue | red | 0 | paint/ core/x.h | blue_client, blue_sky";
  TEST_ASSERT_EQUAL_size_t(1, count(line, "core/y.h", "int blue, blue_client, kBlueSky;\n"));
  TEST_ASSERT_EQUAL_size_t(1, count("name | blue | red | 0 | paint/ |", "core/x.h", "int blue;\n"));
  TEST_ASSERT_EQUAL_size_t(0, count(line, "core/x.h", "int blue;\n"));
  TEST_ASSERT_EQUAL_size_t(0, count(line, "paint/x.h", "int blue;\n"));
}

TEST("One more than the table says fails, one less asks for a lower number") {
  const RetiredWord word = row("name | blue | red | 2");
  ASSERT_CONTAINS(judge(word, {"a", "b", "c"}).failure, "'blue' stands 3 times; words.txt allows 2; say red");
  TEST_ASSERT_TRUE(judge(word, {"a", "b"}).failure.empty() && judge(word, {"a", "b"}).hint.empty());
  ASSERT_CONTAINS(judge(word, {"a"}).hint, "lower its number to 1");
}

TEST("A row that cannot be read is refused") {
  ASSERT_CONTAINS(message_of(parse_words("name | blue | red")), "is not 'kind | word | say | most");
  ASSERT_CONTAINS(message_of(parse_words("colour | blue | red | 0")), "is not one of name, phrase and call");
  ASSERT_CONTAINS(message_of(parse_words("name | blue | red | some")), "is not a number");
}
