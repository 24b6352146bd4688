#pragma once

#include <filesystem>
#include <string_view>

namespace aflguard::fleet {

/// Where a fleet's files are (docs/operate.md shows the whole tree).
struct FleetFolder {
  std::filesystem::path root;

  [[nodiscard]] std::filesystem::path settings() const { return root / "fleet.toml"; }
  [[nodiscard]] std::filesystem::path device_book() const { return root / "devices.db"; }
  /// Devices that are paused, and those of a group: one name on each line.
  [[nodiscard]] std::filesystem::path paused() const { return root / "paused"; }
  [[nodiscard]] std::filesystem::path group(std::string_view name) const { return root / "groups" / name; }
  [[nodiscard]] std::filesystem::path authority() const { return root / "ca"; }
  /// The orders to change the model, and their packages.
  [[nodiscard]] std::filesystem::path releases() const { return root / "releases"; }
  [[nodiscard]] std::filesystem::path release_key() const { return authority() / "release.key"; }
  [[nodiscard]] std::filesystem::path release_certificate() const { return authority() / "release.crt"; }
  [[nodiscard]] std::filesystem::path release_public_key() const { return authority() / "release.pem"; }
  [[nodiscard]] std::filesystem::path broker() const { return root / "broker"; }
  [[nodiscard]] std::filesystem::path broker_state() const { return broker() / "state"; }
  [[nodiscard]] std::filesystem::path broker_pid() const { return broker_state() / "mosquitto.pid"; }
  [[nodiscard]] std::filesystem::path revocation_list() const { return broker() / "crl.pem"; }
  [[nodiscard]] std::filesystem::path access_list() const { return broker() / "acl"; }
  [[nodiscard]] std::filesystem::path dashboard_passwords() const { return broker() / "dashboard.passwords"; }
  [[nodiscard]] std::filesystem::path dashboard_access_list() const { return broker() / "dashboard.acl"; }
  /// What the page needs to know to be let in, for its owner's eyes.
  [[nodiscard]] std::filesystem::path dashboard_key() const { return root / "dashboard" / "key"; }
  [[nodiscard]] std::filesystem::path gateway() const { return root / "gateway"; }
  [[nodiscard]] std::filesystem::path operator_folder() const { return root / "operator"; }
  [[nodiscard]] std::filesystem::path viewer_book() const { return root / "viewers.json"; }
  [[nodiscard]] std::filesystem::path viewers() const { return root / "viewers"; }
  /// The operator is the first of the viewers, and has always had its own folder.
  [[nodiscard]] std::filesystem::path viewer(std::string_view name) const {
    return name == "operator" ? operator_folder() : viewers() / name;
  }
  [[nodiscard]] std::filesystem::path model() const { return root / "model"; }
  [[nodiscard]] std::filesystem::path devices() const { return root / "devices"; }
  [[nodiscard]] std::filesystem::path device(std::string_view name) const { return devices() / name; }
};

}  // namespace aflguard::fleet
