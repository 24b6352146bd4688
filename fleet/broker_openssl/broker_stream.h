#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace aflguard::fleet {

/// Bytes to and from a listener of the fleet's broker, over TLS, without a certificate of one's own. It is
/// the fleet's own broker and no other: its certificate is checked. Reading and writing never wait.
class BrokerStream final {
 public:
  /// kUnavailable without an answer within `timeout`, or when another than the fleet's broker answers.
  [[nodiscard]] static Result<BrokerStream> connect(const std::string& host, std::uint16_t port,
                                                    const std::string& authority_pem,
                                                    std::chrono::seconds timeout);
  BrokerStream(BrokerStream&&) noexcept;
  BrokerStream& operator=(BrokerStream&&) noexcept;
  ~BrokerStream();

  /// For poll(): readable means that read() may bring something.
  [[nodiscard]] int descriptor() const;
  /// True when read() brings something although the descriptor may not say so.
  [[nodiscard]] bool pending() const;
  /// How many bytes it brought or took, 0 when none right now. kUnavailable when the connection has ended.
  [[nodiscard]] Result<std::size_t> read(std::span<char> to);
  [[nodiscard]] Result<std::size_t> write(std::span<const char> from);

 private:
  struct State;
  explicit BrokerStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aflguard::fleet
