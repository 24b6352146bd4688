#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/identity/signature.h"
#include "core/learning/model_package.h"
#include "core/release/release_message.h"
#include "core/telemetry/rollout_status.h"
#include "fleet/folder/fleet_folder.h"

namespace aflguard::fleet {

/// What the operator asks for.
struct RolloutRequest {
  std::filesystem::path package;
  std::optional<std::filesystem::path> parameters;  ///< .npy to start with; otherwise the package's own
  std::vector<std::string> canaries;
  bool force = false;  ///< an older model than the fleet's, or in the middle of another roll-out
};

/// An order that is ready to be sent.
struct PreparedRelease {
  ReleaseMessage release;
  Bytes envelope;
  Bytes archive;
};

/// The orders that a fleet was given, and the packages that they were about, in DIR/releases: the operator's
/// record, from which every model can be rolled out again.
class ReleaseBook final {
 public:
  /// kCorrupt when an order in there was not signed with this fleet's release key.
  [[nodiscard]] static Result<ReleaseBook> open(const FleetFolder& folder, const std::string& fleet,
                                                Signer& signer, const Verifier& verifier);

  /// Orders, oldest first.
  [[nodiscard]] const std::vector<ReleaseMessage>& orders() const { return orders_; }

  /// Checks package and request against what the fleet trains (`now`, as the gateway says), signs the order,
  /// and keeps both. `message_bytes`: the broker's limit.
  [[nodiscard]] Result<PreparedRelease> prepare(const RolloutRequest& request, const RolloutStatus& now,
                                                std::uint64_t message_bytes);
  /// The order that stops a roll-out that is under way, or else takes the fleet to the model that it trained
  /// before; with `force` also after a roll-out that has stopped by itself.
  [[nodiscard]] Result<PreparedRelease> prepare_undo(const RolloutStatus& now, bool force);

  /// DIR/model becomes the package with that hash, so that new boards get it in their bundles. Nothing
  /// happens when it is that already.
  [[nodiscard]] Status install_model(const std::string& hash) const;

 private:
  ReleaseBook(FleetFolder folder, std::string fleet, Signer& signer)
      : folder_(std::move(folder)), fleet_(std::move(fleet)), signer_(signer) {}
  [[nodiscard]] std::filesystem::path place(const std::string& hash) const;
  [[nodiscard]] Status keep(const std::filesystem::path& package, const std::string& hash) const;
  [[nodiscard]] Status keep_current(const RolloutStatus& now) const;
  [[nodiscard]] Result<PreparedRelease> sign(const std::filesystem::path& package,
                                             std::span<const float> start, const RolloutStatus& now,
                                             std::uint64_t model_number,
                                             const std::vector<std::string>& canaries);
  [[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& hash,
                                                       const RolloutStatus& now) const;

  FleetFolder folder_;
  std::string fleet_;
  Signer& signer_;
  std::vector<ReleaseMessage> orders_;
};

}  // namespace aflguard::fleet
