#include "core/system/service_notify.h"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

bool notify(std::string_view message) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return false;
  const std::size_t length = std::strlen(name);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, name, length);
  if (name[0] == '@') address.sun_path[0] = '\0';  // Linux's abstract sockets
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const ssize_t sent = ::sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                reinterpret_cast<const sockaddr*>(&address), size);
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<long long> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  long long number = 0;
  const char* last = text + std::strlen(text);
  const auto [end, problem] = std::from_chars(text, last, number);
  if (problem != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace

bool notify_ready() {
  return notify("READY=1");
}
bool notify_stopping() {
  return notify("STOPPING=1");
}
bool notify_status(std::string_view text) {
  return notify("STATUS=" + std::string(text.substr(0, text.find('\n'))));
}
bool notify_watchdog() {
  return notify("WATCHDOG=1");
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  const auto microseconds = environment_number("WATCHDOG_USEC");
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  // A child of the watched process inherits the variables, but the service manager does not wait for it.
  const auto watched = environment_number("WATCHDOG_PID");
  if (watched && *watched != ::getpid()) return std::nullopt;
  return std::chrono::microseconds(*microseconds);
}

}  // namespace aflguard
