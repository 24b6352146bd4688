#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"

namespace aflguard::fleet {

/// The operator's connection to the broker on which devices ask for certificates.
class RenewalDesk final {
 public:
  using Requests = std::map<std::string, Bytes>;

  /// Starts connecting.
  [[nodiscard]] static Result<RenewalDesk> open(std::unique_ptr<MessageBus> bus, const std::string& fleet);
  RenewalDesk(RenewalDesk&&) = default;
  RenewalDesk& operator=(RenewalDesk&&) = delete;
  ~RenewalDesk();

  /// What the broker keeps of devices that ask, by the device in whose topic it lies. kUnavailable when there
  /// is no connection in time.
  [[nodiscard]] Result<Requests> collect(std::chrono::seconds timeout);
  /// Publishes a device's certificate and takes its request off the broker.
  [[nodiscard]] Status answer(const std::string& device, const std::string& certificate_pem,
                              std::chrono::seconds timeout);
  /// Takes a request off the broker.
  [[nodiscard]] Status drop(const std::string& device, std::chrono::seconds timeout);

 private:
  using Time = std::chrono::steady_clock::time_point;
  RenewalDesk(std::unique_ptr<MessageBus> bus, FleetTopics topics)
      : bus_(std::move(bus)), topics_(std::move(topics)) {}
  [[nodiscard]] Status publish(Message message, std::chrono::seconds timeout);

  std::unique_ptr<MessageBus> bus_;
  FleetTopics topics_;
};

}  // namespace aflguard::fleet
