#include "fleet/rollout/release_book.h"

#include <algorithm>

#include "core/base/short_text.h"
#include "core/envelope/model_hash.h"
#include "core/identity/device_registry.h"
#include "core/learning/data/npy.h"
#include "core/release/package_archive.h"
#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kMaxOrderFile = 1u << 20;
constexpr std::uint64_t kRoomForFields = 64u << 10;

Result<std::vector<float>> start_of(const RolloutRequest& request, const ModelPackage& package) {
  if (!request.parameters) return initial_theta(package, kFirstSeed);
  TRY(const NpyArray array, read_npy(*request.parameters));
  if (!array.layout_hash.empty() && array.layout_hash != package.description.hash) {
    return invalid_input(request.parameters->string() + " was made for another model (" +
                         short_hash(array.layout_hash) + ") than the package (" +
                         short_hash(package.description.hash) + ")");
  }
  return array.as_float32(request.parameters->string());
}

bool under_way(const RolloutStatus& now) {
  return now.stage == RolloutStage::kFetching || now.stage == RolloutStage::kTrial ||
         now.stage == RolloutStage::kSwitching;
}

std::string numbered(std::uint64_t number, const std::string& name) {
  return name + " (number " + std::to_string(number) + ")";
}

}  // namespace

Result<ReleaseBook> ReleaseBook::open(const FleetFolder& folder, const std::string& fleet, Signer& signer,
                                      const Verifier& verifier) {
  ReleaseBook book(folder, fleet, signer);
  KeyTable keys;
  TRY_STATUS(keys.add("release", signer.public_key()));
  const EnvelopeOpener opener(keys, verifier);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.releases(), error)) {
    if (entry.path().extension() != ".order") continue;
    TRY(Bytes envelope, read_file(entry.path(), kMaxOrderFile));
    auto order = open_release(std::move(envelope), opener, fleet);
    if (!order.ok()) {
      return corrupt(entry.path().string() + " is not an order of this fleet's release key (" +
                     order.error().message + "); move it away");
    }
    book.orders_.push_back(std::move(*order));
  }
  std::ranges::sort(book.orders_, {}, &ReleaseMessage::number);
  return book;
}

fs::path ReleaseBook::place(const std::string& hash) const {
  return folder_.releases() / ("model-" + hash.substr(0, 16));
}

Status ReleaseBook::keep(const fs::path& package, const std::string& hash) const {
  std::error_code error;
  if (fs::is_directory(place(hash), error)) return {};
  fs::create_directories(folder_.releases(), error);
  TRY(auto staged, StagedDirectory::create(place(hash), /*replace=*/true));
  fs::copy(package, staged.path(), fs::copy_options::recursive, error);
  if (error) return io_error("cannot copy " + package.string() + ": " + error.message());
  return staged.commit();
}

/// What the fleet trains now must be at hand to go back to it.
Status ReleaseBook::keep_current(const RolloutStatus& now) const {
  std::error_code error;
  if (fs::is_directory(place(now.current.hash), error)) return {};
  const auto package = read_model_package(folder_.model());
  if (package.ok() && package->description.hash == now.current.hash) {
    return keep(folder_.model(), now.current.hash);
  }
  return not_found("the package of the model that the fleet trains (" + now.current.name + ", " +
                   short_hash(now.current.hash) + ") is not in " + folder_.model().string() +
                   ": put it there, so that the roll-out can be undone");
}

std::optional<std::uint64_t> ReleaseBook::number_of(const std::string& hash, const RolloutStatus& now) const {
  if (hash == now.current.hash) return now.current.number;
  for (const ReleaseMessage& order : orders_) {
    if (to_hex(order.model_hash) == hash) return order.model_number;
  }
  // The model that the fleet began with was never ordered, unless an order went back to it.
  if (!orders_.empty() && to_hex(orders_.front().replaces) == hash) return 1;
  return std::nullopt;
}

Result<PreparedRelease> ReleaseBook::prepare(const RolloutRequest& request, const RolloutStatus& now,
                                             std::uint64_t message_bytes) {
  TRY(const ModelPackage package, read_model_package(request.package));
  const ModelDescription& model = package.description;
  if (model.hash == now.current.hash) {
    return invalid_input("the fleet trains " + numbered(now.current.number, model.name) + " already");
  }
  if (under_way(now) && !request.force) {
    return invalid_input("the roll-out of " + numbered(now.target.number, now.target.name) +
                         " is under way (" + std::string(to_string(now.stage)) +
                         "); wait, take it back with `aflguard fleet rollout undo`, or give --force");
  }
  std::uint64_t newest = std::max<std::uint64_t>(now.current.number, 1);
  for (const ReleaseMessage& order : orders_) newest = std::max(newest, order.model_number);
  const auto known = number_of(model.hash, now);
  if (known && *known < now.current.number && !request.force) {
    return invalid_input("model " + numbered(*known, model.name) + " is older than what the fleet trains, " +
                         numbered(now.current.number, now.current.name) + "; --force goes back to it");
  }
  const std::uint64_t needed = 4 * std::uint64_t{model.dimension()} + kRoomForFields;
  if (needed > message_bytes) {
    return invalid_input("a message of model '" + model.name + "' needs " + std::to_string(needed) +
                         " bytes, the broker takes " + std::to_string(message_bytes) +
                         "; raise message_bytes in fleet.toml and run aflguard fleet refresh");
  }
  TRY_STATUS(keep_current(now));
  TRY(const auto start, start_of(request, package));
  return sign(request.package, start, now, known.value_or(newest + 1), request.canaries);
}

Result<PreparedRelease> ReleaseBook::prepare_undo(const RolloutStatus& now, bool force) {
  if (orders_.empty() || now.release == 0) {
    return not_found("no model was rolled out to this fleet; there is nothing to undo");
  }
  if (now.stage == RolloutStage::kFailed && !force) {
    return invalid_input("the latest roll-out has stopped by itself, and the fleet trains " +
                         numbered(now.current.number, now.current.name) +
                         " as before; --force goes back to the model before that one");
  }
  std::string hash = now.current.hash;  // stops what is under way
  if (!under_way(now)) {
    const auto before = std::find_if(orders_.rbegin(), orders_.rend(), [&](const ReleaseMessage& order) {
      return to_hex(order.model_hash) == now.current.hash && order.replaces != order.model_hash;
    });
    if (before == orders_.rend()) {
      return not_found("the fleet began with the model that it trains; there is nothing to undo");
    }
    hash = to_hex(before->replaces);
  }
  const auto package = read_model_package(place(hash));
  if (!package.ok()) return at("the model to go back to", package.error());
  TRY(const auto start, initial_theta(*package, kFirstSeed));
  return sign(place(hash), start, now, number_of(hash, now).value_or(1), {});
}

Result<PreparedRelease> ReleaseBook::sign(const fs::path& package, std::span<const float> start,
                                          const RolloutStatus& now, std::uint64_t model_number,
                                          const std::vector<std::string>& canaries) {
  TRY(const ModelPackage content, read_model_package(package));
  PreparedRelease made;
  TRY(made.archive, pack_package(package, start));
  ReleaseMessage& release = made.release;
  release.fleet = fleet_;
  release.number = std::max(now.release, orders_.empty() ? 0 : orders_.back().number) + 1;
  release.model_number = model_number;
  release.model_name = content.description.name;
  TRY(release.model_hash, parse_model_hash(content.description.hash));
  TRY(release.replaces, parse_model_hash(now.current.hash));
  release.package_bytes = made.archive.size();
  release.package_digest = sha256(made.archive);
  release.pieces = release_pieces(made.archive);
  release.canaries = canaries;
  TRY(const Payload payload, encode(release));
  EnvelopeSealer sealer(signer_);
  TRY(SealedEnvelope sealed, sealer.seal(payload));
  made.envelope = std::move(sealed).release();
  TRY_STATUS(keep(package, content.description.hash));
  TRY_STATUS(
      write_file_atomically(folder_.releases() / (std::to_string(release.number) + ".order"), made.envelope));
  orders_.push_back(release);
  return made;
}

Status ReleaseBook::install_model(const std::string& hash) const {
  const auto installed = read_model_package(folder_.model());
  if (installed.ok() && installed->description.hash == hash) return {};
  std::error_code error;
  if (!fs::is_directory(place(hash), error)) return {};
  TRY(auto staged, StagedDirectory::create(folder_.model(), /*replace=*/true));
  fs::copy(place(hash), staged.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing,
           error);
  if (error) return io_error("cannot copy " + place(hash).string() + ": " + error.message());
  return staged.commit();
}

}  // namespace aflguard::fleet
