#include "gateway_server/rollout/rollout_desk.h"

#include <algorithm>

#include "core/base/short_text.h"
#include "core/release/package_archive.h"
#include "core/system/atomic_file.h"

namespace aflguard::gateway {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxOrderFile = 1u << 20;
/// A broker sends what it keeps at once; an order that has not come by then is lost.
constexpr std::chrono::seconds kBrokerKeeps(5);

NumberedModel target_of(const ReleaseMessage& order) {
  return {order.model_number, order.model_name, to_hex(order.model_hash)};
}

}  // namespace

RolloutDesk::RolloutDesk(RolloutParts parts)
    : parts_(std::move(parts)),
      release_opener_(parts_.release, parts_.verifier),
      device_opener_(parts_.devices, parts_.verifier) {
  status_.current = parts_.current;
}

fs::path RolloutDesk::package_folder() const {
  return parts_.folder / to_hex(std::span(order_->model_hash).first(8));
}

fs::path RolloutDesk::archive_file() const {
  return parts_.folder / (package_name(order_->package_digest) + ".archive");
}

Status RolloutDesk::start() {
  TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.release()));
  TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.all_trials()));
  std::error_code error;
  if (!fs::exists(order_file(), error)) return {};
  TRY(Bytes envelope, read_file(order_file(), kMaxOrderFile));
  auto order = open_release(envelope, release_opener_, parts_.fleet);
  if (!order.ok()) {
    // It was verified when it came: the release key has changed since, or the file.
    parts_.log.warning(order_file().string() + " is left alone: " + order.error().message);
    return {};
  }
  begin(std::move(*order), envelope);
  if (order_ && fs::exists(failure_file(), error) && status_.stage != RolloutStage::kDone) {
    const auto why = read_text_file(failure_file(), kMaxOrderFile);
    if (download_) download_->stop(parts_.bus, parts_.topics);
    download_.reset();
    chosen_.reset();
    status_.canaries.clear();  // what they said then is in the reason
    set_stage(RolloutStage::kFailed, why.ok() ? *why : "it failed");
  }
  return {};
}

void RolloutDesk::on_connected() {
  status_changed_ = true;
  look_for_order_at_ = parts_.clock.steady() + kBrokerKeeps;
}

void RolloutDesk::take(TopicKind kind, const std::string& name, const Message& message) {
  if (kind == TopicKind::kRelease) take_order(message.payload);
  if (kind == TopicKind::kReleasePiece) take_piece(name, message.payload);
  if (kind == TopicKind::kTrial) take_trial(name, message.payload);
}

void RolloutDesk::take_order(const Bytes& envelope) {
  if (envelope.empty()) return;
  auto order = open_release(envelope, release_opener_, parts_.fleet);
  if (!order.ok()) {
    parts_.log.warning("an order to change the model is refused (" +
                       std::string(to_string(order.error().reason)) + "): " + order.error().message +
                       "; the fleet goes on as it is");
    status_.message =
        "refused an order (" + std::string(to_string(order.error().reason)) + "): " + order.error().message;
    status_changed_ = true;
    return;
  }
  broker_has_ = std::max(broker_has_, order->number);
  if (order_ && order->number <= order_->number) {
    if (order->number < order_->number) {
      parts_.log.info("order " + std::to_string(order->number) + " is older than order " +
                      std::to_string(order_->number) + ", which is in force");
    }
    return;
  }
  std::error_code error;
  fs::create_directories(parts_.folder, error);
  fs::remove(failure_file(), error);
  if (const Status written = write_file_atomically(order_file(), envelope); !written.ok()) {
    parts_.log.warning("an order to change the model cannot be kept: " + written.error().message);
    return;
  }
  begin(std::move(*order), envelope);
}

void RolloutDesk::begin(ReleaseMessage order, const Bytes& envelope) {
  if (download_) download_->stop(parts_.bus, parts_.topics);
  download_.reset();
  chosen_.reset();
  next_piece_ = SIZE_MAX;
  order_ = std::move(order);
  envelope_ = envelope;
  status_.release = order_->number;
  status_.target = target_of(*order_);
  status_.pieces = order_->pieces.size();
  status_.pieces_here = 0;
  status_.canaries.clear();
  parts_.log.info("order " + std::to_string(order_->number) + ": model " + order_->model_name + " (" +
                  short_hash(status_.target.hash) + ", number " + std::to_string(order_->model_number) + ")");
  if (status_.target.hash == status_.current.hash) {
    status_.current = status_.target;
    return set_stage(RolloutStage::kDone, "");
  }
  auto download = PackageDownload::open(*order_, archive_file());
  if (!download.ok()) return fail(download.error().message);
  download_.emplace(std::move(*download));
  set_stage(RolloutStage::kFetching, "");
  if (download_->complete()) unpack();
}

void RolloutDesk::take_piece(const std::string& name, const Bytes& piece) {
  if (!download_) return;
  if (const Status taken = download_->take(parts_.bus, parts_.topics, name, piece); !taken.ok()) {
    parts_.log.warning(taken.error().message);
    status_.message = taken.error().message;
    status_changed_ = true;
  }
  next_download_ = {};
  if (download_->complete()) unpack();
}

void RolloutDesk::unpack() {
  auto archive = download_->archive();
  download_.reset();
  status_.pieces_here = status_.pieces;
  if (!archive.ok()) {
    std::error_code error;
    fs::remove(archive_file(), error);
    return fail(archive.error().message);
  }
  const auto package = unpack_package(*archive, package_folder());
  if (!package.ok()) return fail(package.error().message);
  if (package->description.hash != status_.target.hash) {
    return fail("its package holds model " + short_hash(package->description.hash) + ", the order names " +
                short_hash(status_.target.hash));
  }
  if (const Status runs = parts_.try_model(package_folder()); !runs.ok()) {
    return fail("this gateway cannot train it: " + runs.error().message);
  }
  if (order_->canaries.empty()) return choose();
  set_stage(RolloutStage::kTrial, "");
  look_at_canaries();
}

Admitted<TrialReport> RolloutDesk::open_trial(const std::string& device, const Bytes& envelope) const {
  TRY(auto parsed, UnverifiedEnvelope::parse(envelope, kMaxOrderFile));
  TRY(const VerifiedPayload payload, device_opener_.open(std::move(parsed)));
  if (payload.sender() != device) {
    return refuse(RefusalReason::kForeignSender, "the report is signed by '" + payload.sender() + "'");
  }
  TRY(TrialReport report, decode_trial(payload));
  if (report.fleet == parts_.fleet) return report;
  return refuse(RefusalReason::kWrongFleet, "a report for fleet '" + report.fleet + "'");
}

void RolloutDesk::take_trial(const std::string& device, const Bytes& envelope) {
  if (envelope.empty()) return;
  auto report = open_trial(device, envelope);
  if (!report.ok()) {
    parts_.log.warning("a report of '" + device + "' on a new model is refused: " + report.error().message);
    return;
  }
  const auto known = trials_.find(device);
  if (known != trials_.end() && known->second.release > report->release) return;
  trials_[device] = std::move(*report);
  look_at_canaries();
}

void RolloutDesk::look_at_canaries() {
  if (!order_ || status_.stage != RolloutStage::kTrial) return;
  std::string waiting;
  std::string failed;
  status_.canaries.clear();
  for (const std::string& device : order_->canaries) {
    const auto found = trials_.find(device);
    const bool reported = found != trials_.end() && found->second.release == order_->number &&
                          found->second.model_hash == order_->model_hash;
    const bool passed = reported && found->second.passed;
    status_.canaries.push_back({device,
                                !reported ? "waiting"
                                : passed  ? "passed"
                                          : "failed",
                                reported ? found->second.text : std::string()});
    if (!reported && !parts_.is_enrolled(device)) failed = "canary '" + device + "' is not in the fleet";
    if (reported && !passed) failed = "canary '" + device + "' cannot train it: " + found->second.text;
    if (!reported) waiting += (waiting.empty() ? "waiting for " : ", ") + device;
  }
  status_changed_ = true;
  if (!failed.empty()) return fail(failed);
  status_.message = waiting;
  if (waiting.empty()) choose();
}

void RolloutDesk::choose() {
  set_stage(RolloutStage::kSwitching, "");
  chosen_ = ChosenModel{order_->model_number, order_->model_name, status_.target.hash, package_folder()};
}

void RolloutDesk::fail(const std::string& why) {
  if (const Status written = write_file_atomically(failure_file(), why); !written.ok()) {
    parts_.log.warning(written.error().message);
  }
  chosen_.reset();
  set_stage(RolloutStage::kFailed, why);
}

void RolloutDesk::set_stage(RolloutStage stage, const std::string& message) {
  status_.stage = stage;
  status_.message = message;
  status_changed_ = true;
  const std::string text = "roll-out of " + status_.target.name + ": " + std::string(to_string(stage)) +
                           (message.empty() ? "" : ": " + message);
  if (stage == RolloutStage::kFailed) return parts_.log.warning(text + "; the fleet goes on as it was");
  parts_.log.info(text);
}

void RolloutDesk::tick(Time now) {
  if (download_ && now >= next_download_) {
    next_download_ = download_->step(parts_.bus, parts_.topics, now);
    if (status_.pieces_here != download_->pieces_here()) {
      status_.pieces_here = download_->pieces_here();
      status_changed_ = true;
    }
  }
  publish_again(now);
  if (!status_changed_) return;
  status_changed_ = false;
  const std::string json = to_json(status_);
  const auto bytes = std::as_bytes(std::span(json));
  parts_.publish(
      {.topic = parts_.topics.rollout(), .payload = {bytes.begin(), bytes.end()}, .retained = true});
}

/// A broker that was killed may have lost the order, or never have written it to its disk. Everything is
/// signed, so it does not matter who publishes it.
void RolloutDesk::publish_again(Time now) {
  if (look_for_order_at_ && now >= *look_for_order_at_) {
    look_for_order_at_.reset();
    if (order_ && broker_has_ < order_->number) {
      auto archive = read_file(archive_file(), kMaxPackageBytes);
      if (archive.ok() && sha256(*archive) == order_->package_digest) {
        parts_.log.info("the broker has lost the order of the model in force; it gets it again");
        archive_ = std::move(*archive);
        next_piece_ = 0;
      }
    }
  }
  if (next_piece_ == SIZE_MAX) return;
  const std::size_t at = next_piece_ * kReleasePieceBytes;
  if (at < archive_.size()) {
    const auto piece = std::span(archive_).subspan(at, std::min(kReleasePieceBytes, archive_.size() - at));
    parts_.publish(
        {.topic = parts_.topics.release_piece(release_piece_name(order_->package_digest, next_piece_)),
         .payload = {piece.begin(), piece.end()},
         .retained = true});
    ++next_piece_;
    return;
  }
  parts_.publish({.topic = parts_.topics.release(), .payload = envelope_, .retained = true});
  broker_has_ = order_->number;
  archive_ = {};
  next_piece_ = SIZE_MAX;
}

}  // namespace aflguard::gateway
