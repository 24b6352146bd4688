#include <map>
#include <set>

#include "tests/architecture/definitions.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

using Exceptions = std::map<std::string, std::string>;

/// Names that are defined more than once for a reason.
const Exceptions kExceptions = {
    {"main(int, char**)", "one for each program"},
    {"aflguard::AFLGUARD_PASSES", "a macro, which the .cpp that includes the .inc defines to be a name"},
};

/// A line for each name that two files define in the same namespace.
std::string defined_twice(const std::vector<SourceFile>& files, const Exceptions& exceptions = {}) {
  std::map<std::string, std::set<std::string>> places;
  for (const SourceFile& file : files) {
    for (const Definition& one : definitions_in(file)) places[one.full_name()].insert(file.path);
  }
  std::string found;
  for (const auto& [name, in] : places) {
    if (in.size() < 2 || exceptions.contains(name)) continue;
    found += name + " is defined in";
    for (const std::string& file : in) found += " " + file;
    found += "\n";
  }
  for (const auto& [name, reason] : exceptions) {
    if (places[name].size() < 2) found += name + " is an exception, but is no longer defined twice\n";
  }
  return found;
}

std::string inside(const std::string& code) {
  return "namespace aflguard::edge {\n" + code + "\n}  // namespace aflguard::edge\n";
}

std::string twice(const std::string& first, const std::string& second) {
  return defined_twice({{"edge_client/a.h", inside(first)}, {"edge_client/b.cpp", inside(second)}});
}

}  // namespace

TEST("No name is defined twice in one namespace") {
  const std::vector<SourceFile> files = product_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 300, "the source tree was not found");
  const std::string found = defined_twice(files, kExceptions);
  assert_no_violation(found);
}

TEST("The rule finds types, aliases, constants and functions that are defined twice") {
  ASSERT_CONTAINS(twice("struct A {\n  int x;\n};", "class A final : public B {\n};"),
                  "aflguard::edge::A is");
  ASSERT_CONTAINS(twice("enum class A : int { kX };", "using A = int;"), "aflguard::edge::A is");
  ASSERT_CONTAINS(twice("inline constexpr int kMost = 1;", "constexpr std::size_t kMost{2};"), "kMost is");
  ASSERT_CONTAINS(
      twice("std::string name(const A& a) {\n  return {};\n}", "int name(const A& b) { return 1; }"),
      "name(const A&) is");
  ASSERT_CONTAINS(twice("[[nodiscard]] bool operator==(A a, A b) {\n}", "bool operator==(A x, A y) {\n}"),
                  "operator==(A, A)");
  ASSERT_CONTAINS(twice("A::A(int x) : x_{x}, y_(1) {\n}\nstruct C {};", "struct C {};"),
                  "aflguard::edge::C is");
}

TEST("Declarations, overloads, members, comments and anonymous namespaces are not second definitions") {
  TEST_ASSERT_EQUAL_STRING("", twice("class A;", "class A {};").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("int f(A a = {}, int b = 1);", "int f(A a, int b) {\n}").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("namespace fs = std::filesystem;", "namespace fs = other;").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("int f(A a);", "int f(A a) {\n  return 1;\n}").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("int f(A a) {\n}", "int f(B b) {\n}").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("int A::f() {\n}", "int B::f() {\n}").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("extern const int kMost;", "const int kMost = 1;").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("namespace {\nstruct A {};\n}", "struct A {};").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("// struct A {};\n/* struct A {}; */", "struct A {};").c_str());
  TEST_ASSERT_EQUAL_STRING("", twice("inline const char* kText = \"struct A {};\";", "struct A {};").c_str());
}

TEST("The same name in two namespaces is two names") {
  TEST_ASSERT_EQUAL_STRING("", defined_twice({{"a.h", "namespace aflguard {\nstruct A {};\n}\n"},
                                              {"b.h", "namespace aflguard::edge {\nstruct A {};\n}\n"}})
                                   .c_str());
}

TEST("An exception excuses one name, and must go when it is no longer needed") {
  const std::vector<SourceFile> files = {{"a.h", "struct A {};\n"}, {"b.h", "struct A {};\nstruct B {};\n"}};
  TEST_ASSERT_EQUAL_STRING("", defined_twice(files, {{"A", "why"}}).c_str());
  ASSERT_CONTAINS(defined_twice(files, {{"A", "why"}, {"B", "why"}}), "B is an exception, but is no longer");
}
