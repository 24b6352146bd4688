#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/identity/certificate.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"

namespace aflguard::edge {

/// Where a renewed identity lies: key and certificate in one file, so that a board has the former pair or the
/// new one, whenever its power fails.
[[nodiscard]] std::filesystem::path renewed_identity(const std::filesystem::path& state_folder);

struct RenewalSettings {
  std::string fleet;
  std::string device;
  Certificate certificate;  ///< the one in use
  std::filesystem::path state_folder;
};

/// What makes and checks keys and certificates. Borrowed functions of the identity adapter.
struct RenewalParts {
  MessageBus& bus;
  EnvelopeSealer& sealer;  ///< the key in use
  const Clock& clock;
  LogSink& log;
  std::function<Result<std::string>()> new_key;                                ///< PEM
  std::function<Result<std::string>(const std::string& key_pem)> request_for;  ///< PEM
  /// kInvalidInput unless it is this device's, for that key, from this fleet's authority, and valid.
  std::function<Result<Certificate>(const std::string& certificate_pem, const std::string& key_pem)> check;
};

/// Gets a new certificate before the present one ends: makes a key, publishes a request that both keys have
/// signed, until the answer is here, and puts both where the next start finds them. From a third of the
/// certificate's life before its end. Works in the loop of the program; one thread.
class CertificateRenewal final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  CertificateRenewal(RenewalSettings settings, const FleetTopics& topics, RenewalParts parts);

  /// Does what is due; when to call again.
  [[nodiscard]] Time step();
  /// Looks at every event of the bus; takes none away.
  void notice(const BusEvent& event);
  /// A new identity lies in the state folder: the program goes on with it after a restart of its parts.
  [[nodiscard]] bool renewed() const { return renewed_; }
  /// Why there is none although it is time; empty: nothing is wrong.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  [[nodiscard]] bool due() const;
  [[nodiscard]] Status ask();
  [[nodiscard]] Status provide_key();
  [[nodiscard]] Status install(const std::string& certificate_pem);

  RenewalSettings settings_;
  const std::string request_topic_;
  const std::string answer_topic_;
  RenewalParts parts_;
  std::string key_pem_;  ///< the new one; empty: not made yet
  bool connected_ = false;
  bool asked_ = false;  ///< on this connection
  bool renewed_ = false;
  std::string problem_;
  Time retry_at_{};
};

}  // namespace aflguard::edge
