#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "fleet/broker_openssl/broker_stream.h"

namespace aflguard::fleet {

struct PageServerOptions {
  std::uint16_t port = 0;  ///< on 127.0.0.1; 0: a free one
  std::string page;        ///< HTML
  /// A new connection to the broker's listener for browsers. Called from several threads.
  std::function<Result<BrokerStream>()> connect;
};

/// Serves one page on loopback, and passes WebSockets at /mqtt on to the broker, so that a browser needs to
/// know nothing of the fleet's authority. It understands no MQTT and holds no key: the page brings it.
/// Requests under another name than this machine's, or of other pages, are refused.
class PageServer final {
 public:
  /// kUnavailable when the port is taken.
  [[nodiscard]] static Result<std::unique_ptr<PageServer>> start(PageServerOptions options);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  /// Ends every connection.
  ~PageServer();

  [[nodiscard]] std::uint16_t port() const;

 private:
  struct State;
  explicit PageServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aflguard::fleet
