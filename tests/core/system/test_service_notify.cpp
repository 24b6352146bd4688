#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/system/service_notify.h"
#include "tests/support/test.h"

using namespace aflguard;
using aflguard::testing::TemporaryFolder;

namespace {

/// The service manager's end.
class Listener final {
 public:
  explicit Listener(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    TEST_ASSERT_EQUAL_INT(0, ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Listener() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(fd_);
  }
  [[nodiscard]] std::string next() const {
    char buffer[256];
    const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
    return got < 0 ? "(nothing)" : std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int fd_;
};

}  // namespace

TEST("A service tells its manager that it is ready, what it does, that it lives and that it stops") {
  const TemporaryFolder folder;
  const Listener manager((folder / "notify").string());
  TEST_ASSERT_TRUE(notify_ready());
  TEST_ASSERT_EQUAL_STRING("READY=1", manager.next().c_str());
  TEST_ASSERT_TRUE(notify_status("version 17\nSTOPPING=1"));
  TEST_ASSERT_EQUAL_STRING("STATUS=version 17", manager.next().c_str());
  TEST_ASSERT_TRUE(notify_watchdog());
  TEST_ASSERT_EQUAL_STRING("WATCHDOG=1", manager.next().c_str());
  TEST_ASSERT_TRUE(notify_stopping());
  TEST_ASSERT_EQUAL_STRING("STOPPING=1", manager.next().c_str());
}

TEST("Without a manager nothing is sent, and a socket name that cannot be one is left alone") {
  ::unsetenv("NOTIFY_SOCKET");
  TEST_ASSERT_FALSE(notify_ready());
  for (const std::string& name : {std::string(), std::string("relative"), std::string(300, '/')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    TEST_ASSERT_FALSE(notify_ready());
  }
  ::unsetenv("NOTIFY_SOCKET");
}

TEST("The watchdog's interval counts only for the process that is watched") {
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
  TEST_ASSERT_FALSE(watchdog_interval().has_value());
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  TEST_ASSERT_EQUAL_INT64(30'000'000, watchdog_interval()->count());
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  TEST_ASSERT_TRUE(watchdog_interval().has_value());
  ::setenv("WATCHDOG_PID", "1", 1);
  TEST_ASSERT_FALSE(watchdog_interval().has_value());
  ::unsetenv("WATCHDOG_PID");
  ::setenv("WATCHDOG_USEC", "soon", 1);
  TEST_ASSERT_FALSE(watchdog_interval().has_value());
  ::unsetenv("WATCHDOG_USEC");
}
