#include <vector>

#include "core/base/named_options.h"
#include "tests/support/test.h"

using namespace aflguard;
using aflguard::testing::message_of;

namespace {

Result<OptionValues> parsed(const std::vector<std::string>& pairs) {
  return parse_options(pairs);
}

}  // namespace

TEST("Options are read from NAME=NUMBER, the last of a name counts") {
  const auto values = parsed({"buffers=5", "factor=-1e3", "buffers=7"});
  ASSERT_OK(values);
  TEST_ASSERT_EQUAL_size_t(2, values->size());
  TEST_ASSERT_EQUAL_DOUBLE(7, values->at("buffers"));
  TEST_ASSERT_EQUAL_DOUBLE(-1000, values->at("factor"));
}

TEST("What is not of that form is named") {
  for (const char* wrong : {"five", "buffers=", "buffers=5x", "buffers=five"}) {
    ASSERT_CONTAINS(message_of(parsed({wrong})),
                    std::string("option '") + wrong + "' is not of the form NAME=NUMBER");
  }
}
