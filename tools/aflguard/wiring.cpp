#include "tools/aflguard/wiring.h"

#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/system/secret_file.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"
#include "fleet/provisioning_openssl/authority_files.h"

namespace aflguard::cli {
namespace {

constexpr std::chrono::seconds kLongestBackoff{10};
/// A large fleet's retained messages come all at once.
constexpr std::size_t kMaxQueuedMessages = 100'000;

}  // namespace

view::BusFactory viewer_bus() {
  return [](const fleet::ViewerIdentity& identity, LogSink& log) -> Result<std::unique_ptr<MessageBus>> {
    MqttOptions options;
    options.host = identity.host;
    options.port = identity.port;
    options.client_id = identity.name;
    options.tls = TlsFiles{identity.authority(), identity.certificate(), identity.key()};
    options.longest_backoff = kLongestBackoff;
    options.max_queued_messages = kMaxQueuedMessages;
    TRY(auto bus, MqttBus::create(options, log));
    return std::unique_ptr<MessageBus>(std::move(bus));
  };
}

Result<std::unique_ptr<MessageBus>> release_bus(const fleet::FleetSettings& settings,
                                                const fleet::FleetFolder& folder, LogSink& log) {
  MqttOptions options;
  options.host = settings.broker_host;
  options.port = settings.broker_port;
  options.client_id = fleet::kReleaseName;
  options.tls = TlsFiles{folder.authority() / "ca.crt", folder.release_certificate(), folder.release_key()};
  options.longest_backoff = kLongestBackoff;
  options.max_queued_messages = kMaxQueuedMessages;
  TRY(auto bus, MqttBus::create(options, log));
  return std::unique_ptr<MessageBus>(std::move(bus));
}

Result<std::unique_ptr<Signer>> release_signer(const fleet::FleetFolder& folder) {
  TRY(const std::string pem, read_secret_file(folder.release_key()));
  TRY(auto signer, OpensslSigner::from_pem(pem));
  return std::unique_ptr<Signer>(std::make_unique<OpensslSigner>(std::move(signer)));
}

std::unique_ptr<Verifier> release_verifier() {
  return std::make_unique<OpensslVerifier>();
}

Result<TrainerSource> load_trainers() {
  TRY(const std::shared_ptr<const OnnxRuntime> runtime, OnnxRuntime::load());
  return TrainerSource{[runtime](const ModelPackage& package) { return make_onnx_trainer(runtime, package); },
                       runtime->version()};
}

Result<std::unique_ptr<Trainer>> load_trainer(ModelPackage package, int threads,
                                              const std::string& operators) {
  OnnxTrainerOptions options;
  options.threads = threads;
  if (operators == "standard") options.graph = GraphChoice::kStandard;
  if (operators == "fused") options.graph = GraphChoice::kFused;
  TRY(auto runtime, OnnxRuntime::load());
  return make_onnx_trainer(std::move(runtime), std::move(package), options);
}

Result<std::unique_ptr<fleet::CertificateAuthority>> open_authority(const fleet::FleetFolder& folder) {
  TRY(auto authority, fleet::load_authority(folder));
  return std::unique_ptr<fleet::CertificateAuthority>(
      std::make_unique<fleet::OpensslAuthority>(std::move(authority)));
}

Result<std::unique_ptr<fleet::CertificateAuthority>> make_authority(const std::string& fleet,
                                                                    const Clock& clock) {
  TRY(auto authority, fleet::OpensslAuthority::create(fleet, clock.wall() - fleet::kCertificateBackdating,
                                                      clock.wall() + fleet::kAuthorityLifetime));
  return std::unique_ptr<fleet::CertificateAuthority>(
      std::make_unique<fleet::OpensslAuthority>(std::move(authority)));
}

std::unique_ptr<Verifier> signature_verifier() {
  return std::make_unique<OpensslVerifier>();
}

}  // namespace aflguard::cli
