#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

/// A very small HTTP/1.1 server for scrapers and health checks: plain text, GET and HEAD, one request per
/// connection, no body, no files. Connections, bytes and time are bounded; when all places are taken, the
/// oldest connection gives way to the new one. Runs its own thread.
class HttpListener final {
 public:
  struct Limits {
    std::size_t connections = 16;
    std::size_t request_bytes = 4096;
    std::chrono::milliseconds time{5000};  ///< of one connection, from its first byte to its last
  };
  /// Called on the listener's thread; must be quick.
  using Answer = std::function<HttpReply(std::string_view path)>;

  /// `address`: "127.0.0.1:9464", "[::1]:9464", or a port alone, which means 127.0.0.1; port 0 takes a free
  /// one. kInvalidInput when it is not an address, kIo when it cannot be listened on.
  [[nodiscard]] static Result<std::unique_ptr<HttpListener>> open(const std::string& address, Answer answer,
                                                                  const Limits& limits);
  ~HttpListener();

  [[nodiscard]] std::uint16_t port() const;
  /// Only programs on this machine can connect.
  [[nodiscard]] bool on_loopback() const;

 private:
  class Server;
  explicit HttpListener(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace aflguard
