#include "edge_client/upgrading/model_upgrade.h"

#include <algorithm>

#include "core/base/short_text.h"
#include "core/identity/signature.h"
#include "core/release/package_archive.h"

namespace aflguard::edge {
namespace {

/// A trial that ended the program so often is not begun again.
constexpr std::uint64_t kMostTrials = 3;
constexpr std::chrono::seconds kIdleWait(60);
/// A package that could not be stored is fetched again after so long: the disk may have room by then.
constexpr std::chrono::seconds kFetchAgain(60);

}  // namespace

ModelUpgrade::ModelUpgrade(UpgradeParts parts)
    : parts_(std::move(parts)), opener_(parts_.release, parts_.verifier) {}

Status ModelUpgrade::start() {
  if (!parts_.has_release_keys) return {};
  return parts_.bus.subscribe_if_allowed(parts_.topics.release());
}

void ModelUpgrade::take(TopicKind kind, const std::string& name, const Message& message) {
  if (kind == TopicKind::kRelease) take_order(message.payload);
  if (kind != TopicKind::kReleasePiece || !download_) return;
  if (const Status taken = download_->take(parts_.bus, parts_.topics, name, message.payload); !taken.ok()) {
    parts_.log.warning(taken.error().message);
  }
  next_download_ = {};
}

void ModelUpgrade::take_order(const Bytes& envelope) {
  if (envelope.empty()) return;
  auto order = open_release(envelope, opener_, parts_.membership.fleet);
  if (!order.ok()) {
    return parts_.log.warning("an order to change the model is refused (" +
                              std::string(to_string(order.error().reason)) + "): " + order.error().message);
  }
  if (order_ && order->number <= order_->number) return;
  if (download_) download_->stop(parts_.bus, parts_.topics);
  download_.reset();
  package_here_ = tried_ = works_ = false;
  report_.reset();
  progress_.clear();
  problem_.clear();
  order_ = std::move(*order);
  parts_.log.info("order " + std::to_string(order_->number) + ": model " + order_->model_name + " (" +
                  short_hash(to_hex(order_->model_hash)) + ")");
  look();
}

std::optional<std::uint64_t> ModelUpgrade::model_number() const {
  if (order_ && order_->model_hash == parts_.membership.model_hash) return order_->model_number;
  if (parts_.shelf.number() > 0) return parts_.shelf.number();
  return std::nullopt;
}

void ModelUpgrade::fleet_trains(const ModelHash& hash) {
  if (fleet_model_ == hash) return;
  fleet_model_ = hash;
  look();
}

bool ModelUpgrade::is_canary() const {
  return order_ && std::ranges::find(order_->canaries, parts_.membership.device) != order_->canaries.end();
}

/// The fleet trains the order's model, and this device another one.
bool ModelUpgrade::wanted_now() const {
  return order_ && order_->model_hash != parts_.membership.model_hash && fleet_model_ == order_->model_hash;
}

bool ModelUpgrade::trial_wanted() const {
  return is_canary() && order_->model_hash != parts_.membership.model_hash && !report_;
}

void ModelUpgrade::look() {
  if (fleet_model_ && *fleet_model_ == parts_.membership.model_hash) problem_.clear();
  if (wanted_now() || trial_wanted()) return fetch();
  if (!fleet_model_ || *fleet_model_ == parts_.membership.model_hash || (order_ && wanted_now())) return;
  if (order_ && order_->model_hash == *fleet_model_) return;
  problem_ = "the fleet trains another model (" + short_hash(to_hex(*fleet_model_)) + ") than this device (" +
             short_hash(to_hex(parts_.membership.model_hash)) + "), and " +
             (parts_.has_release_keys
                  ? "it was not rolled out: aflguard fleet rollout sends it, aflguard device bundle has it"
                  : "this device has no release key: unpack its bundle again (aflguard device bundle)");
}

void ModelUpgrade::fetch() {
  if (download_ || package_here_) return;
  auto download =
      PackageDownload::open(*order_, parts_.shelf.part_file(package_name(order_->package_digest)));
  if (!download.ok()) return fail(download.error().message);
  download_.emplace(std::move(*download));
  next_download_ = {};
  parts_.log.info("fetching model " + order_->model_name + ", " + std::to_string(order_->package_bytes) +
                  " bytes");
}

ModelUpgrade::Time ModelUpgrade::step(Time now) {
  Time next = now + kIdleWait;
  if (!download_ && !package_here_ && wanted_now() && now >= fetch_again_) fetch();
  if (download_) {
    if (now >= next_download_) next_download_ = download_->step(parts_.bus, parts_.topics, now);
    next = std::min(next, next_download_);
    progress_ = "fetching model " + order_->model_name + ", " + std::to_string(download_->pieces_here()) +
                " of " + std::to_string(order_->pieces.size()) + " pieces";
    if (download_->complete()) unpack();
  }
  if (!package_here_ || switch_due_) return next;
  if (!tried_ && (trial_wanted() || wanted_now())) try_package();
  if (!works_ || !wanted_now()) return next;
  if (const Status chosen = parts_.shelf.choose(order_->model_hash, order_->model_number); !chosen.ok()) {
    problem_ = chosen.error().message;
    return next;
  }
  parts_.log.info("changing over to model " + order_->model_name);
  switch_due_ = true;
  return now;
}

void ModelUpgrade::unpack() {
  const auto archive = download_->archive();
  download_.reset();
  if (!archive.ok()) return fail(archive.error().message);
  const auto place = parts_.shelf.place(order_->model_hash);
  const auto package = unpack_package(*archive, place);
  if (!package.ok()) return fail(package.error().message);
  if (package->description.hash != to_hex(order_->model_hash)) {
    return fail("the package holds another model than its release names");
  }
  package_here_ = true;
}

void ModelUpgrade::try_package() {
  tried_ = true;
  const std::uint64_t trials = parts_.shelf.begin_trial(order_->number);
  if (trials > kMostTrials) {
    return fail("the program ended " + std::to_string(kMostTrials) + " times or more while it tried it");
  }
  const auto tried = parts_.try_model(parts_.shelf.place(order_->model_hash));
  parts_.shelf.end_trial();
  // Samples that are still to come are no reason to stay behind; a canary has nothing to report without them.
  if (!tried.ok() && (is_canary() || tried.error().kind != ErrorKind::kUnavailable)) {
    return fail(tried.error().message);
  }
  works_ = true;
  if (!tried.ok()) return;
  progress_ = "tried model " + order_->model_name + ": " + *tried;
  parts_.log.info(progress_);
  if (!is_canary()) return;
  report_ =
      TrialReport{parts_.membership.fleet, order_->number, order_->model_hash, true, trial_text(*tried)};
  report_published_ = false;
}

void ModelUpgrade::fail(const std::string& why) {
  if (download_) download_->stop(parts_.bus, parts_.topics);
  download_.reset();
  works_ = false;
  fetch_again_ = parts_.clock.steady() + kFetchAgain;
  progress_.clear();
  problem_ = "model " + order_->model_name + " cannot be trained here: " + why;
  parts_.log.warning(problem_);
  if (!is_canary()) return;
  report_ = TrialReport{parts_.membership.fleet, order_->number, order_->model_hash, false, trial_text(why)};
  report_published_ = false;
}

}  // namespace aflguard::edge
