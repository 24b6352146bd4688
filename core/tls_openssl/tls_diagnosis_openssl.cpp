#include <chrono>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "core/tls_openssl/broker_socket.h"
#include "core/tls_openssl/tls_diagnosis.h"

namespace aflguard {
namespace {

constexpr std::chrono::seconds kTimeout(3);
constexpr timeval kAlertTimeout{1, 0};  // a broker that objects does so at once

std::string last_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "unknown error" : text;
}

/// Our side: what is wrong with our own files.
std::string prepare(SSL_CTX* context, const TlsFiles& tls) {
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const auto cannot_use = [](const std::filesystem::path& file) {
    return file.string() + " cannot be used: " + last_openssl_error();
  };
  if (SSL_CTX_load_verify_locations(context, tls.ca_file.c_str(), nullptr) != 1)
    return cannot_use(tls.ca_file);
  if (SSL_CTX_use_certificate_chain_file(context, tls.certificate_file.c_str()) != 1) {
    return cannot_use(tls.certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context, tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return cannot_use(tls.key_file);
  }
  return {};
}

/// The last alert that the broker sent; none is below 0.
void note_alert(const SSL* session, int where, int alert) {
  if ((where & SSL_CB_READ) == 0 || (where & SSL_CB_ALERT) == 0) return;
  *static_cast<int*>(SSL_get_ex_data(session, 0)) = alert;
}

}  // namespace

std::string tls_diagnosis(const std::string& host, std::uint16_t port, const TlsFiles& files) {
  ERR_clear_error();
  const OpensslContext context(SSL_CTX_new(TLS_client_method()));
  if (std::string problem = prepare(context.get(), files); !problem.empty()) return problem;
  const auto connection = open_connection(host, port, kTimeout);
  if (!connection.ok()) return connection.error().message;
  const OpensslConnection session(SSL_new(context.get()));
  int alert = -1;
  SSL_set_ex_data(session.get(), 0, &alert);
  SSL_set_info_callback(session.get(), note_alert);
  SSL_set_fd(session.get(), connection->get());
  if (const Status named = expect_host(session.get(), host); !named.ok()) return named.error().message;
  // With TLS 1.3 our side is done before the broker has looked at our certificate: what it says comes after.
  bool done = SSL_connect(session.get()) == 1;
  if (done) {
    ::setsockopt(connection->get(), SOL_SOCKET, SO_RCVTIMEO, &kAlertTimeout, sizeof kAlertTimeout);
    char ignored = 0;
    done = SSL_read(session.get(), &ignored, 1) > 0;
  }
  const long verified = SSL_get_verify_result(session.get());
  if (!done && verified != X509_V_OK) {
    return std::string("the broker's certificate is refused: ") + X509_verify_cert_error_string(verified);
  }
  if (alert >= 0 && (alert & 0xFF) != SSL_AD_CLOSE_NOTIFY) {
    return "the broker refuses " + files.certificate_file.string() + ": " + SSL_alert_desc_string_long(alert);
  }
  ERR_clear_error();
  return {};
}

}  // namespace aflguard
