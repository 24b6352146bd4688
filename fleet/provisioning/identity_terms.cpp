#include "fleet/provisioning/identity_terms.h"

#include <algorithm>

#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {
namespace {

using std::chrono::system_clock;

CertificateOptions client_terms(const FleetSettings& settings, const std::string& name, int days,
                                system_clock::time_point now) {
  return {.name = name,
          .use = CertificateUse::kClient,
          .alternative_names = {"URI:urn:aflguard:" + settings.name + ":" + name},
          .not_before = now - kCertificateBackdating,
          .not_after = now + std::chrono::days(days)};
}

}  // namespace

CertificateOptions device_terms(const FleetSettings& settings, const std::string& name, int days,
                                system_clock::time_point now) {
  return client_terms(settings, name, days, now);
}

CertificateOptions gateway_terms(const FleetSettings& settings, system_clock::time_point now) {
  return client_terms(settings, "gateway", settings.certificate_days, now);
}

CertificateOptions viewer_terms(const FleetSettings& settings, const std::string& name, int days,
                                system_clock::time_point now) {
  return client_terms(settings, name, days, now);
}

CertificateOptions broker_terms(const FleetSettings& settings, system_clock::time_point now) {
  CertificateOptions terms = client_terms(settings, "broker", settings.certificate_days, now);
  terms.use = CertificateUse::kServer;
  terms.alternative_names = {"DNS:localhost", "IP:127.0.0.1", "IP:::1"};
  const std::string host = (is_ip_address(settings.broker_host) ? "IP:" : "DNS:") + settings.broker_host;
  const auto known = std::find(terms.alternative_names.begin(), terms.alternative_names.end(), host);
  if (known == terms.alternative_names.end()) {
    terms.alternative_names.insert(terms.alternative_names.begin(), host);
  }
  return terms;
}

}  // namespace aflguard::fleet
