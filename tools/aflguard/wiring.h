#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/identity/signature.h"
#include "core/learning/model_package.h"
#include "core/learning/trainer.h"
#include "core/transport/message_bus.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/provisioning/certificate_authority.h"
#include "fleet/view/fleet_watch.h"
#include "lab/campaigns/lab_resources.h"

namespace aflguard::cli {

// The one place of this command that names adapters: Paho, ONNX Runtime and OpenSSL.

/// How `aflguard` connects as a viewer.
[[nodiscard]] view::BusFactory viewer_bus();

/// How the holder of the release key connects; certify_release_key() comes first.
[[nodiscard]] Result<std::unique_ptr<MessageBus>> release_bus(const fleet::FleetSettings& settings,
                                                              const fleet::FleetFolder& folder, LogSink& log);
/// The release key.
[[nodiscard]] Result<std::unique_ptr<Signer>> release_signer(const fleet::FleetFolder& folder);
[[nodiscard]] std::unique_ptr<Verifier> release_verifier();

/// ONNX Runtime, loaded once.
struct TrainerSource {
  lab::TrainerFactory make;     ///< with one thread
  std::string runtime_version;  ///< e.g. "1.23.2"
};
/// kNotFound when this machine has no ONNX Runtime.
[[nodiscard]] Result<TrainerSource> load_trainers();

/// One trainer; `operators` is "standard", "fused", or empty: the fastest that the package has.
[[nodiscard]] Result<std::unique_ptr<Trainer>> load_trainer(ModelPackage package, int threads,
                                                            const std::string& operators);

/// The authority whose key is in the fleet's folder.
[[nodiscard]] Result<std::unique_ptr<fleet::CertificateAuthority>> open_authority(
    const fleet::FleetFolder& folder);
/// Checks signatures of devices.
[[nodiscard]] std::unique_ptr<Verifier> signature_verifier();
/// A new one, for a new fleet.
[[nodiscard]] Result<std::unique_ptr<fleet::CertificateAuthority>> make_authority(const std::string& fleet,
                                                                                  const Clock& clock);

}  // namespace aflguard::cli
