#include "tests/scenarios/nats_cluster.h"

#include <unistd.h>

#include "core/base/check.h"
#include "core/system/atomic_file.h"
#include "tests/support/test_broker.h"

namespace aflguard::testing {
namespace {

std::string nats_program() {
  constexpr const char* kDebian = "/usr/sbin/nats-server";
  return ::access(kDebian, X_OK) == 0 ? kDebian : "/usr/bin/nats-server";
}

std::string loopback(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

}  // namespace

bool NatsCluster::installed() {
  return ::access(nats_program().c_str(), X_OK) == 0;
}

NatsCluster::NatsCluster(const std::filesystem::path& folder, TestAuthority& authority, std::uint16_t port,
                         const std::string& users)
    : folder_(folder) {
  const CertificateFiles own =
      authority.issue("broker", CertificateUse::kServer, "DNS:localhost,IP:127.0.0.1");
  std::array<std::uint16_t, kNodes> cluster_ports{};
  std::string routes;
  for (std::uint16_t& cluster_port : cluster_ports) {
    cluster_port = free_loopback_port();
    routes += (routes.empty() ? "\"nats-route://" : ", \"nats-route://") + loopback(cluster_port) + "\"";
  }
  for (std::size_t node = 0; node < kNodes; ++node) {
    const std::string name = "nats-" + std::to_string(node);
    const std::uint16_t mqtt_port = node == 0 ? port : free_loopback_port();
    const std::string text = "server_name: " + name + "\nlisten: \"" + loopback(free_loopback_port()) +
                             "\"\njetstream { store_dir: \"" + (folder_ / name).string() +
                             "\" }\ncluster { name: fleet, listen: \"" + loopback(cluster_ports[node]) +
                             "\", routes: [" + routes + "] }\nmqtt { listen: \"" + loopback(mqtt_port) +
                             "\"\n  tls { cert_file: \"" + own.certificate.string() + "\", key_file: \"" +
                             own.key.string() + "\", ca_file: \"" + authority.certificate().string() +
                             "\", verify_and_map: true } }\n" + users;
    check(write_file_atomically(folder_ / (name + ".conf"), text).ok(), "NATS's configuration is written");
    start(node);
  }
}

void NatsCluster::start(std::size_t node) {
  const std::string name = "nats-" + std::to_string(node);
  nodes_[node].emplace(std::vector<std::string>{nats_program(), "-c", (folder_ / (name + ".conf")).string()},
                       folder_, folder_ / (name + ".log"));
}

void NatsCluster::end(std::size_t node, int signal) {
  nodes_[node]->end(signal);
}

}  // namespace aflguard::testing
