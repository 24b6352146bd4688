#include "core/http/http_post.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kMaxUrl = 1024;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string name_of(const HttpUrl& url) {
  return url.host + ":" + std::to_string(url.port);
}

/// Waits until the socket is ready for `events`, or the time is over.
bool wait_for(int socket, short events, Time deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd poll{socket, events, 0};
  return ::poll(&poll, 1, static_cast<int>(left.count())) == 1;
}

Result<FileDescriptor> connect_to(const HttpUrl& url, Time deadline) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &wanted, &found);
  if (failed != 0) return unavailable(name_of(url) + ": " + ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::string problem = "no address";
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    FileDescriptor socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) continue;
    if (::connect(socket.get(), address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
      problem = std::strerror(errno);
      continue;
    }
    int error = 0;
    socklen_t size = sizeof(error);
    if (!wait_for(socket.get(), POLLOUT, deadline)) {
      problem = "it does not answer";
    } else if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      problem = std::strerror(error);
    } else {
      return socket;
    }
  }
  return unavailable(name_of(url) + ": " + problem);
}

Status send_all(const HttpUrl& url, int socket, std::string_view text, Time deadline) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return unavailable(name_of(url) + ": " + std::strerror(errno));
    } else if (!wait_for(socket, POLLOUT, deadline)) {
      return unavailable(name_of(url) + ": it does not read");
    }
  }
  return {};
}

}  // namespace

Result<HttpUrl> parse_http_url(std::string_view text) {
  const auto bad = [text] {
    return invalid_input("\"" + std::string(text.substr(0, 100)) +
                         "\" is not an address like http://127.0.0.1:8080/alerts; for https, give a command");
  };
  if (text.size() > kMaxUrl || !text.starts_with(kScheme) || !is_plain(text)) return bad();
  text.remove_prefix(kScheme.size());
  const auto slash = text.find('/');
  std::string_view place = text.substr(0, slash);
  HttpUrl url;
  if (slash != std::string_view::npos) url.path = text.substr(slash);
  const auto bracket = place.find(']');
  const auto colon = place.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = place.substr(colon + 1);
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (failed != std::errc() || end != digits.data() + digits.size() || url.port == 0) return bad();
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty() || place.find('@') != std::string_view::npos) return bad();
  url.host = place;
  return url;
}

Status post_json(const HttpUrl& url, std::string_view body, std::chrono::milliseconds timeout) {
  const Time deadline = std::chrono::steady_clock::now() + timeout;
  TRY(const FileDescriptor socket, connect_to(url, deadline));
  const bool numbers = url.host.find(':') != std::string::npos;
  const std::string head =
      "POST " + url.path + " HTTP/1.1\r\nHost: " + (numbers ? "[" : "") + url.host + (numbers ? "]" : "") +
      ":" + std::to_string(url.port) +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nConnection: close\r\n\r\n";
  TRY_STATUS(send_all(url, socket.get(), head, deadline));
  TRY_STATUS(send_all(url, socket.get(), body, deadline));
  std::array<char, 64> line{};  // "HTTP/1.1 204 No Content"
  std::size_t size = 0;
  while (size < 12) {
    if (!wait_for(socket.get(), POLLIN, deadline)) return unavailable(name_of(url) + ": it does not answer");
    const ssize_t got = ::recv(socket.get(), line.data() + size, line.size() - size, 0);
    if (got > 0) {
      size += static_cast<std::size_t>(got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return unavailable(name_of(url) + ": it ends the connection without an answer");
    }
  }
  const std::string_view answer(line.data(), size);
  if (answer.starts_with("HTTP/1.") && answer[8] == ' ' && answer[9] == '2') return {};
  return unavailable(name_of(url) + ": it answers '" + std::string(answer.substr(0, answer.find('\r'))) +
                     "'");
}

}  // namespace aflguard
