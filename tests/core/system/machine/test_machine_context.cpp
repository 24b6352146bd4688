#include <nlohmann/json.hpp>

#include "core/base/version.h"
#include "core/system/machine/machine_context.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Machine and build are told as they always were in results") {
  const nlohmann::ordered_json context = machine_context();
  std::string names;
  for (const auto& [name, value] : context.items()) names += name + " ";
  TEST_ASSERT_EQUAL_STRING("version processor cores compiler build ", names.c_str());
  TEST_ASSERT_EQUAL_STRING(kVersion, context["version"].get<std::string>().c_str());
  TEST_ASSERT_TRUE(context["cores"].get<unsigned>() > 0);
}
