#include "bench/offline/scale_run.h"

#include <malloc.h>
#include <thread>

#include "bench/offline/cpu_time.h"
#include "bench/offline/local_bus.h"
#include "bench/offline/parked_fleet.h"
#include "bench/offline/quiet_log.h"
#include "core/base/version.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/piece_sender.h"
#include "core/transport/topics.h"
#include "gateway_server/gateway.h"
#include "gateway_server/store/sqlite_history.h"

namespace aflguard::bench {
namespace fs = std::filesystem;
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::minutes kAnswerTimeout(10);
constexpr std::chrono::seconds kSettling(3);

double file_mb(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : static_cast<double>(bytes) / 1e6;
}

/// A gateway that serves, in its own thread.
class Served final {
 public:
  static Result<std::unique_ptr<Served>> start(OfflineGateway::Learning& learning, const fs::path& book,
                                               const fs::path& store) {
    auto served = std::unique_ptr<Served>(new Served());
    TRY(served->parts_, OfflineGateway::start(learning, book, store, served->clock_, served->log_));
    TRY(FleetTopics topics, FleetTopics::create(kOfflineFleet));
    TRY(auto history, gateway::SqliteHistory::open(store));
    TRY(served->paused_, gateway::PausedDevices::open(store.parent_path() / "paused", served->log_));
    OfflineGateway& parts = *served->parts_;
    served->gateway_.emplace(gateway::GatewayParts{.settings = parts.settings,
                                                   .topics = std::move(topics),
                                                   .terms = learning.terms,
                                                   .dimension = learning.dimension,
                                                   .software = kVersion,
                                                   .bus = served->bus_,
                                                   .registry = *parts.registry,
                                                   .paused = *served->paused_,
                                                   .verifier = parts.verifier,
                                                   .signer = parts.signer,
                                                   .judge = *parts.judge,
                                                   .reference = learning.reference.get(),
                                                   .history = std::move(history),
                                                   .release = served->no_releases_,
                                                   .model = {1, "bench", ""},
                                                   .try_model = {},
                                                   .clock = served->clock_,
                                                   .log = served->log_});
    served->thread_ = std::thread([gateway = &*served->gateway_] { (void)gateway->run(); });
    // It says that it is ready in the same turn in which it looks at every device once.
    if (!served->bus_.wait_for("events", 1, Steady::now() + kAnswerTimeout)) {
      return unavailable("the gateway does not become ready");
    }
    return served;
  }
  ~Served() {
    if (!thread_.joinable()) return;
    gateway_->stop();
    thread_.join();
  }
  [[nodiscard]] LocalBus& bus() { return bus_; }

 private:
  Served() = default;
  SystemClock clock_;
  QuietLog log_;
  LocalBus bus_;
  const KeyTable no_releases_;
  std::unique_ptr<gateway::PausedDevices> paused_;
  std::unique_ptr<OfflineGateway> parts_;
  std::optional<gateway::Gateway> gateway_;
  std::thread thread_;
};

Result<std::vector<Message>> updates_of(std::vector<Sender>& senders,
                                        const OfflineGateway::Learning& learning) {
  TRY(const FleetTopics topics, FleetTopics::create(kOfflineFleet));
  std::vector<Message> messages;
  for (Sender& sender : senders) {
    UpdateMessage update;
    update.fleet = kOfflineFleet;
    update.model_hash = learning.terms.model_hash;
    update.sequence = 2000 + ++sender.sequence;  // above what the store knows
    update.samples = 32;
    update.vector = learning.honest;
    TRY(const Payload payload, encode(update));
    TRY(SealedEnvelope sealed, EnvelopeSealer(sender.signer).seal(payload));
    TRY(auto pieces, PieceSender::create(std::move(sealed).release()));
    while (auto piece = pieces.next()) {
      messages.push_back({.topic = topics.update(sender.name), .payload = std::move(piece->message)});
    }
  }
  return messages;
}

}  // namespace

Result<ScaleFigures> run_scale(std::size_t devices, const ScaleOptions& options, const fs::path& folder,
                               Progress& progress) {
  ScaleFigures figures;
  figures.devices = devices;
  TRY(auto learning, OfflineGateway::learn(OfflineModel::kSmall));
  TRY(ParkedFleet fleet, ParkedFleet::create(folder, devices, std::min(devices, options.updates), progress));
  const std::string what = "scale: " + std::to_string(devices) + " devices";
  progress.show(what + ", start", 0, 1);
  {
    const auto begin = Steady::now();
    TRY(const auto served, Served::start(learning, fleet.book(), folder / "new.db"));
    figures.empty_start_ms = std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
  }
  const fs::path stored = folder / "gateway.db";
  {
    TRY(const auto store, OfflineGateway::open_store(learning, stored));
    TRY_STATUS(fleet.remember(*store, progress));
  }
  TRY(auto messages, updates_of(fleet.senders(), learning));
  ::malloc_trim(0);
  const double memory = resident_mb();
  const double cpu = process_cpu_seconds();
  const auto begin = Steady::now();
  TRY(const auto served, Served::start(learning, fleet.book(), stored));
  figures.start_ms = std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
  figures.start_cpu_ms = (process_cpu_seconds() - cpu) * 1e3;
  figures.memory_mb = resident_mb() - memory;
  figures.book_mb = file_mb(fleet.book());
  figures.store_mb = file_mb(stored) + file_mb(stored.string() + "-wal");

  progress.show(what + ", silence", 0, 1);
  std::this_thread::sleep_for(kSettling);
  const double quiet = others_cpu_seconds();
  const auto quiet_since = Steady::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.silence_seconds));
  figures.silence_share =
      (others_cpu_seconds() - quiet) / std::chrono::duration<double>(Steady::now() - quiet_since).count();

  progress.show(what + ", updates", 0, 1);
  const double idle = figures.silence_share;
  const double busy = others_cpu_seconds();
  const auto busy_since = Steady::now();
  for (Message& message : messages) served->bus().deliver(std::move(message));
  if (!served->bus().wait_for("verdict", fleet.senders().size(), Steady::now() + kAnswerTimeout)) {
    return unavailable("the gateway has not answered every update");
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - busy_since).count();
  figures.update_cpu_us =
      (others_cpu_seconds() - busy - idle * seconds) * 1e6 / static_cast<double>(fleet.senders().size());
  return figures;
}

}  // namespace aflguard::bench
