#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/background_process.h"
#include "tests/support/test_certificates.h"

namespace aflguard::testing {

/// A port on loopback that nothing listens on right now.
[[nodiscard]] std::uint16_t free_loopback_port();

/// True when Mosquitto is installed.
[[nodiscard]] bool have_mosquitto();

/// Mosquitto with a configuration that someone else wrote, whose listener is at `port` on loopback. Returns
/// when it listens; its output goes to `log`.
class ConfiguredBroker final {
 public:
  ConfiguredBroker(const std::filesystem::path& configuration, std::uint16_t port,
                   const std::filesystem::path& log);
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  void end(int signal) { process_.end(signal); }

 private:
  BackgroundProcess process_;
};

struct BrokerSettings {
  std::string server_names = "DNS:localhost,IP:127.0.0.1";  ///< what the certificate says
  std::string extra;                                        ///< further lines of the configuration
  std::string openssl_settings;  ///< lines that rule its OpenSSL, e.g. "MaxProtocol = TLSv1.2"
};

/// A Mosquitto of the test's own with TLS and client certificates required, on one loopback port for its
/// whole life: it can be killed and started again there.
class TestBroker final {
 public:
  TestBroker(const std::filesystem::path& folder, TestAuthority& authority,
             const BrokerSettings& settings = {});
  /// Returns when the broker listens.
  void start();
  void end(int signal);
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// While it runs.
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

 private:
  std::filesystem::path folder_;
  std::uint16_t port_;
  bool own_openssl_settings_;
  std::optional<BackgroundProcess> process_;
};

}  // namespace aflguard::testing
