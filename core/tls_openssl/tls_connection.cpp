#include "core/tls_openssl/tls_connection.h"

#include "core/identity_openssl/x509_text.h"

namespace aflguard {
namespace {

Result<OpensslContext> make_context(const std::string& authority_pem,
                                    const std::optional<TlsIdentity>& identity) {
  OpensslContext context(SSL_CTX_new(TLS_client_method()));
  const OpensslCertificate authority = certificate_from_pem(authority_pem);
  if (!context || !authority || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) != 1) {
    return openssl_error(ErrorKind::kInternal, "OpenSSL cannot prepare a connection");
  }
  if (identity) {
    const OpensslCertificate own = certificate_from_pem(identity->certificate);
    const OpensslKey key = private_key_from_pem(identity->private_key);
    if (!own || !key || SSL_CTX_use_certificate(context.get(), own.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
      return openssl_error(ErrorKind::kInternal, "OpenSSL cannot prepare a connection");
    }
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

}  // namespace

Result<TlsConnection> TlsConnection::prepare(const std::string& host, std::uint16_t port,
                                             const std::string& authority_pem,
                                             const std::optional<TlsIdentity>& identity,
                                             std::chrono::seconds timeout) {
  TRY(auto context, make_context(authority_pem, identity));
  TRY(FileDescriptor socket, open_connection(host, port, timeout));
  OpensslConnection connection(SSL_new(context.get()));
  if (!connection || SSL_set_fd(connection.get(), socket.get()) != 1) {
    return openssl_error(ErrorKind::kInternal, "OpenSSL cannot start a connection");
  }
  TRY_STATUS(expect_host(connection.get(), host));
  return TlsConnection(std::move(socket), std::move(context), std::move(connection));
}

}  // namespace aflguard
