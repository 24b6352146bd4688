#include "tests/support/test_broker.h"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include "core/base/check.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/file_descriptor.h"
#include "core/system/free_port.h"
#include "core/system/programs.h"

namespace aflguard::testing {

std::uint16_t free_loopback_port() {
  const auto port = aflguard::free_loopback_port();
  check(port.ok(), "there is a free port");
  return *port;
}

namespace {

bool accepts_connections(std::uint16_t port) {
  const FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return ::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

/// Mosquitto tells nobody when it listens, so its port is asked.
void wait_until_listening(std::uint16_t port) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!accepts_connections(port)) {
    check(std::chrono::steady_clock::now() < deadline, "the broker listens; its log is in the test's folder");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

ConfiguredBroker::ConfiguredBroker(const std::filesystem::path& configuration, std::uint16_t port,
                                   const std::filesystem::path& log)
    : process_({mosquitto_program(), "-c", configuration.string()}, configuration.parent_path(), log) {
  wait_until_listening(port);
}

bool have_mosquitto() {
  return run_program({mosquitto_program(), "-h"}, ".").ok();
}

TestBroker::TestBroker(const std::filesystem::path& folder, TestAuthority& authority,
                       const BrokerSettings& settings)
    : folder_(folder),
      port_(free_loopback_port()),
      own_openssl_settings_(!settings.openssl_settings.empty()) {
  const CertificateFiles own = authority.issue("broker", CertificateUse::kServer, settings.server_names);
  const std::string port = std::to_string(port_);
  // Started by root, Mosquitto would turn into a user who cannot read the test's folder.
  const std::string text =
      "user root\nper_listener_settings false\nlistener " + port + " 127.0.0.1\ncafile " +
      authority.certificate().string() + "\ncertfile " + own.certificate.string() + "\nkeyfile " +
      own.key.string() +
      "\nrequire_certificate true\nuse_identity_as_username true\nallow_anonymous false\n" + settings.extra;
  check(write_file_atomically(folder_ / ("broker-" + port + ".conf"), text).ok(),
        "the configuration is written");
  const std::string openssl =
      "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = defaults\n[defaults]\n";
  check(write_file_atomically(folder_ / ("broker-" + port + ".openssl"),
                              openssl + settings.openssl_settings + "\n")
            .ok(),
        "OpenSSL's configuration is written");
  start();
}

void TestBroker::start() {
  const std::string stem = "broker-" + std::to_string(port_);
  std::vector<std::string> command = {mosquitto_program(), "-c", (folder_ / (stem + ".conf")).string()};
  if (own_openssl_settings_) {
    command.insert(command.begin(), {"env", "OPENSSL_CONF=" + (folder_ / (stem + ".openssl")).string()});
  }
  process_.emplace(command, folder_, folder_ / (stem + ".log"));
  wait_until_listening(port_);
}

void TestBroker::end(int signal) {
  if (process_) process_->end(signal);
  process_.reset();
}

}  // namespace aflguard::testing
