#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::sim {

/// One board's way to the broker.
struct RelayPort {
  std::uint16_t port = 0;            ///< of 127.0.0.1; 0: a free one is chosen
  std::filesystem::path state_file;  ///< says how the link shall be (board_link.h); no file: open
};

/// Carries bytes between boards and their broker, each board through its own port, so that links can be
/// cut and slowed one by one whatever the boards are made of. It carries TLS and sees nothing of it.
class LinkRelay final {
 public:
  /// Listens. kIo when a port is taken, kNotFound when `broker_host` has no address.
  [[nodiscard]] static Result<LinkRelay> create(std::vector<RelayPort> ports, const std::string& broker_host,
                                                std::uint16_t broker_port);
  LinkRelay(LinkRelay&&) noexcept;
  LinkRelay& operator=(LinkRelay&&) = delete;
  LinkRelay(const LinkRelay&) = delete;
  ~LinkRelay();

  /// In the order of creation.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  /// Works until `stop` says so; that is asked a few times a second.
  void run(const std::function<bool()>& stop);

 private:
  struct State;
  explicit LinkRelay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// True when a program listens there.
[[nodiscard]] bool answers(const std::string& host, std::uint16_t port);

}  // namespace aflguard::sim
