#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/background_process.h"
#include "tests/support/test_certificates.h"

namespace aflguard::testing {

/// Debian's NATS server as a cluster of three on loopback: JetStream keeps what must not be lost on all of
/// them, devices speak MQTT 3.1.1 over TLS with certificates, and what they may do depends on the
/// certificate's name.
class NatsCluster final {
 public:
  static constexpr std::size_t kNodes = 3;

  [[nodiscard]] static bool installed();

  /// Node 0 is where MQTT clients of `port` come. `users` is the text of NATS's authorization block.
  NatsCluster(const std::filesystem::path& folder, TestAuthority& authority, std::uint16_t port,
              const std::string& users);

  void start(std::size_t node);
  void end(std::size_t node, int signal);

 private:
  std::filesystem::path folder_;
  std::array<std::optional<BackgroundProcess>, kNodes> nodes_;
};

}  // namespace aflguard::testing
