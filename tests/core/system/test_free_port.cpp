#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/system/file_descriptor.h"
#include "core/system/free_port.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A free port can be listened on") {
  const auto port = free_loopback_port();
  ASSERT_OK(port);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(*port);
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  TEST_ASSERT_EQUAL_INT(0, ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  TEST_ASSERT_EQUAL_INT(0, ::listen(listener.get(), 1));
}

TEST("An address that is not this machine's has no free port") {
  const auto elsewhere = free_port("192.0.2.1");  // set aside for documents
  TEST_ASSERT_TRUE(!elsewhere.ok() && elsewhere.error().kind == ErrorKind::kUnavailable);
  TEST_ASSERT_FALSE(free_port("no address").ok());
}
