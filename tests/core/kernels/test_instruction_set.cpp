#include "core/kernels/instruction_set.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Without a name the widest instruction set of this processor is taken") {
  const auto unset = instruction_set_of(nullptr);
  ASSERT_OK(unset);
  TEST_ASSERT_TRUE(*unset == widest_instruction_set());
  const auto empty = instruction_set_of("");
  ASSERT_OK(empty);
  TEST_ASSERT_TRUE(*empty == widest_instruction_set());
}

TEST("Each instruction set up to the widest can be named, the next one cannot") {
  for (const InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    const auto named = instruction_set_of(instruction_set_name(set));
    if (set <= widest_instruction_set()) {
      ASSERT_OK(named);
      TEST_ASSERT_TRUE(*named == set);
    } else {
      ASSERT_CONTAINS(testing::message_of(named), "which this processor cannot run; it runs baseline");
    }
  }
}

TEST("A name that does not exist is an error that lists those that do") {
  const std::string message = testing::message_of(instruction_set_of("avx3"));
  ASSERT_CONTAINS(message,
                  "AFLGUARD_KERNELS is 'avx3', which is not a variant; this processor runs baseline");
  ASSERT_CONTAINS(message, instruction_set_name(widest_instruction_set()));
}
