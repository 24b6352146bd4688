#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

/// The fleet's authority by way of OpenSSL.
class OpensslAuthority final : public CertificateAuthority {
 public:
  /// A new authority with a new P-256 key.
  [[nodiscard]] static Result<OpensslAuthority> create(const std::string& name,
                                                       std::chrono::system_clock::time_point not_before,
                                                       std::chrono::system_clock::time_point not_after);
  /// kInvalidInput when one of the two cannot be read or they do not belong together.
  [[nodiscard]] static Result<OpensslAuthority> load(std::string_view certificate_pem,
                                                     std::string_view private_pem);

  OpensslAuthority(OpensslAuthority&&) noexcept;
  OpensslAuthority& operator=(OpensslAuthority&&) noexcept;
  ~OpensslAuthority() override;

  [[nodiscard]] const std::string& certificate_pem() const override;
  [[nodiscard]] Result<std::string> private_pem() const override;
  [[nodiscard]] std::chrono::system_clock::time_point not_after() const override;
  [[nodiscard]] Result<Credential> issue(const CertificateOptions& terms) override;
  [[nodiscard]] Result<IssuedCertificate> issue_for_key(std::string_view private_pem,
                                                        const CertificateOptions& terms) override;
  [[nodiscard]] Result<IssuedCertificate> issue_for_request(std::string_view request_pem,
                                                            const CertificateOptions& terms) override;
  [[nodiscard]] Result<PublicKey> requested_key(std::string_view request_pem) override;
  [[nodiscard]] Result<std::string> new_password() override;
  [[nodiscard]] Result<std::string> password_verifier(std::string_view password) override;
  [[nodiscard]] Result<std::string> revocation_list(std::span<const std::string> serials,
                                                    std::string_view previous_pem,
                                                    std::chrono::system_clock::time_point now) override;

 private:
  struct State;
  explicit OpensslAuthority(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aflguard::fleet
