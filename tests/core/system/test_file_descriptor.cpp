#include <array>
#include <cerrno>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/file_descriptor.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

FileDescriptor open_null() {
  return FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

}  // namespace

TEST("A descriptor is closed with its owner, and by the owner's close") {
  int number = -1;
  {
    const FileDescriptor file = open_null();
    number = file.get();
    TEST_ASSERT_TRUE(file.valid() && is_open(number));
  }
  TEST_ASSERT_FALSE(is_open(number));
  FileDescriptor again = open_null();
  number = again.get();
  TEST_ASSERT_TRUE(again.close());
  TEST_ASSERT_FALSE(again.valid() || is_open(number));
  TEST_ASSERT_TRUE(again.close());  // nothing happens
}

TEST("Moving hands the descriptor over, and what its new owner had before is closed") {
  FileDescriptor first = open_null();
  const int number = first.get();
  FileDescriptor second = std::move(first);
  TEST_ASSERT_EQUAL_INT(number, second.get());
  FileDescriptor third = open_null();
  const int before = third.get();
  third = std::move(second);
  TEST_ASSERT_EQUAL_INT(number, third.get());
  TEST_ASSERT_TRUE(is_open(number));
  TEST_ASSERT_FALSE(is_open(before));
}

TEST("A released descriptor stays open") {
  int number = -1;
  {
    FileDescriptor file = open_null();
    number = file.release();
    TEST_ASSERT_FALSE(file.valid());
  }
  TEST_ASSERT_TRUE(is_open(number));
  const FileDescriptor owner(number);
}

TEST("Owning nothing leaves errno to who looks for the reason") {
  const FileDescriptor missing(::open("/no/such/file", O_RDONLY | O_CLOEXEC));
  TEST_ASSERT_EQUAL_INT(ENOENT, errno);
  TEST_ASSERT_FALSE(missing.valid());
}

TEST("More than a pipe takes at once is written and read whole") {
  auto pipe = make_pipe();
  ASSERT_OK(pipe);
  const std::string sent(1 << 20, 'x');
  std::thread writer([&] {
    TEST_ASSERT_TRUE(write_all(pipe->write_end.get(), sent));
    pipe->write_end.close();
  });
  std::string received(sent.size(), '\0');
  const bool whole = read_exactly(pipe->read_end.get(), std::as_writable_bytes(std::span(received)));
  writer.join();
  TEST_ASSERT_TRUE(whole);
  TEST_ASSERT_TRUE(sent == received);
}

TEST("The end of the file is told from an error") {
  auto pipe = make_pipe();
  ASSERT_OK(pipe);
  TEST_ASSERT_TRUE(write_all(pipe->write_end.get(), "ab"));
  pipe->write_end.close();
  std::array<std::byte, 3> bytes{};
  TEST_ASSERT_FALSE(read_exactly(pipe->read_end.get(), bytes));
  TEST_ASSERT_EQUAL_INT(0, errno);
  TEST_ASSERT_FALSE(read_exactly(-1, bytes));
  TEST_ASSERT_EQUAL_INT(EBADF, errno);
  TEST_ASSERT_FALSE(write_all(-1, "ab"));
  TEST_ASSERT_EQUAL_INT(EBADF, errno);
}

TEST("A log keeps what was in it, is its owner's alone, and is closed in other programs") {
  const testing::TemporaryFolder folder;
  for (const char* word : {"one ", "two"}) {
    const auto log = open_log(folder / "log");
    ASSERT_OK(log);
    TEST_ASSERT_TRUE(write_all(log->get(), word));
    TEST_ASSERT_EQUAL_INT(FD_CLOEXEC, ::fcntl(log->get(), F_GETFD));
  }
  TEST_ASSERT_EQUAL_STRING("one two", read_text_file(folder / "log").value().c_str());
  const auto mode = std::filesystem::status(folder / "log").permissions();
  TEST_ASSERT_TRUE(mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  ASSERT_CONTAINS(testing::message_of(open_log(folder / "no" / "log")), "cannot write");
}

TEST("What a library opened can be kept from other programs") {
  const FileDescriptor file(::open("/dev/null", O_RDONLY));
  TEST_ASSERT_EQUAL_INT(0, ::fcntl(file.get(), F_GETFD));
  TEST_ASSERT_TRUE(set_close_on_exec(file.get()));
  TEST_ASSERT_EQUAL_INT(FD_CLOEXEC, ::fcntl(file.get(), F_GETFD));
  TEST_ASSERT_FALSE(set_close_on_exec(-1));
}
