#include <cstdlib>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/programs.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Programs of the same build lie beside this one") {
  const auto folder = own_folder();
  ASSERT_OK(folder);
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").filename();
  const auto found = program_beside_us(own);
  ASSERT_OK(found);
  TEST_ASSERT_EQUAL_STRING((*folder / own).c_str(), found->c_str());
  const auto missing = program_beside_us("aflguard-no-such-program");
  TEST_ASSERT_TRUE(!missing.ok() && missing.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(missing.error().message, "install the whole product");
}

TEST("A program is found through PATH if it can be run, and what is missing names its package") {
  const testing::TemporaryFolder folder;
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  ASSERT_OK(write_file_atomically(folder / "aflguard-tool", "#!/bin/sh\n"));
  const auto not_executable = find_program("aflguard-tool");
  std::filesystem::permissions(folder / "aflguard-tool", std::filesystem::perms(0755));
  const auto executable = find_program("aflguard-tool");
  const Status required = require_program("aflguard-tool", "some-package");
  const Status missing = require_program("aflguard-no-such-program", "some-package");
  ::setenv("PATH", before.c_str(), 1);
  TEST_ASSERT_TRUE(not_executable.empty());
  TEST_ASSERT_EQUAL_STRING((folder / "aflguard-tool").c_str(), executable.c_str());
  ASSERT_OK(required);
  ASSERT_CONTAINS(testing::message_of(missing), "apt-get install some-package");
}
