#include <algorithm>
#include <map>

#include "tests/architecture/definitions.h"
#include "tests/architecture/source_text.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

/// "kMalformed", "kOversized", ... of an enum's body.
std::vector<std::string> enumerators(const std::string& body) {
  std::vector<std::string> names;
  for (const std::string& one : split(body, ',')) {
    const std::string name = trimmed(one.substr(0, one.find('=')));
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

/// Values that the function to_string of their enum has no name for. An enum in core/verdict or
/// core/telemetry, whose values are sent and stored, must have one, unless its values are bits.
std::string without_a_name(const std::vector<SourceFile>& files) {
  std::map<std::string, Definition> writers;
  std::vector<Definition> enums;
  for (const SourceFile& file : files) {
    for (Definition& one : definitions_in(file)) {
      if (one.kind == DefinitionKind::kEnum) enums.push_back(one);
      if (one.name == "to_string") writers[one.space + one.parameters] = std::move(one);
    }
  }
  std::string wrong;
  for (const Definition& one : enums) {
    const auto writer = writers.find(one.space + "(" + one.name + ")");
    const bool sent = one.file.starts_with("core/verdict/") || one.file.starts_with("core/telemetry/");
    const bool bits = one.body.find("<<") != std::string::npos;
    if (writer == writers.end() && sent && !bits) wrong += one.file + ": " + one.name + " has no to_string\n";
    // A writer that looks its names up in a table is checked by the compiler, which counts the table.
    if (writer == writers.end() || writer->second.body.find("case ") == std::string::npos) continue;
    const std::vector<std::string> named = identifiers_of(writer->second.body);
    for (const std::string& value : enumerators(one.body)) {
      if (std::find(named.begin(), named.end(), value) == named.end())
        wrong += writer->second.file + ": to_string(" + one.name + ") has no name for " + value + "\n";
    }
  }
  return wrong;
}

std::string checked(const std::string& path, const std::string& code) {
  return without_a_name({{path, "namespace aflguard {\n" + code + "}\n"}});
}

const std::string kEnum = "enum class Answer : int {\n  kYes = 1,  ///< agreed, or so\n  kNo = 2,\n};\n";

}  // namespace

TEST("Every value of an enum that is sent or stored has a name") {
  const std::vector<SourceFile> files = product_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 300, "the source tree was not found");
  const std::string wrong = without_a_name(files);
  assert_no_violation(wrong);
}

TEST("The rule finds a value without a name, and an enum without names") {
  const std::string yes =
      "std::string_view to_string(Answer answer) {\n  switch (answer) {\n    case Answer::kYes: return "
      "\"\";\n";
  ASSERT_CONTAINS(checked("core/base/x.cpp", kEnum + yes + "  }\n}\n"),
                  "to_string(Answer) has no name for kNo");
  ASSERT_CONTAINS(checked("core/verdict/x.h", kEnum), "Answer has no to_string");
  TEST_ASSERT_EQUAL_STRING("", checked("core/base/x.h", kEnum).c_str());
  TEST_ASSERT_EQUAL_STRING(
      "",
      checked("core/verdict/x.cpp", kEnum + yes + "    case Answer::kNo: return \"\";\n  }\n}\n").c_str());
}
