#include "bench/line_process.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;

TEST("A process answers line by line, and ends with its input") {
  auto process = LineProcess::start({"sh", "-c", "while read line; do echo \"heard $line\"; done"});
  ASSERT_OK(process);
  for (const std::string word : {"one", "two"}) {
    ASSERT_OK(process->send(word));
    const auto answer = process->receive();
    ASSERT_OK(answer);
    TEST_ASSERT_EQUAL_STRING(("heard " + word).c_str(), answer->c_str());
  }
}

TEST("A process that has ended is unavailable, and one that does not exist is not found") {
  auto process = LineProcess::start({"true"});
  ASSERT_OK(process);
  const auto answer = process->receive();
  TEST_ASSERT_TRUE(!answer.ok() && answer.error().kind == ErrorKind::kUnavailable);
  const auto missing = LineProcess::start({"aflguard-no-such-program"});
  TEST_ASSERT_TRUE(!missing.ok() && missing.error().kind == ErrorKind::kNotFound);
}
