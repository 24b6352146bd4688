#include "tests/scenarios/live_fleet.h"

#include <cstdlib>
#include <functional>
#include <set>

#include "core/aggregation/aggregator.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/model_hash.h"
#include "core/envelope/piece_sender.h"
#include "core/learning/data/npy.h"
#include "core/learning/model_package.h"
#include "core/sqlite/sqlite_database.h"
#include "core/system/atomic_file.h"
#include "core/transport/topics.h"
#include "models/zoo/zoo_package.h"
#include "tests/support/programs.h"
#include "tests/support/wait_until.h"

namespace aflguard::testing {
using namespace gateway;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kFleet = "orchard";
constexpr const char* kRules =
    "user gateway\ntopic read aflguard/v1/orchard/up/#\ntopic read aflguard/v1/orchard/ask/#\n"
    "topic write aflguard/v1/orchard/#\ntopic write homeassistant/#\n"
    "user watcher\ntopic read aflguard/v1/orchard/#\n"
    "user home-assistant\ntopic read homeassistant/#\n"
    "pattern read aflguard/v1/orchard/tell/%u/#\npattern write aflguard/v1/orchard/ask/%u/#\n"
    "pattern read aflguard/v1/orchard/events\npattern read aflguard/v1/orchard/gateway/#\n"
    "pattern write aflguard/v1/orchard/up/%u/#\npattern read aflguard/v1/orchard/down/%u/#\n"
    "pattern read aflguard/v1/orchard/model\n";

FleetTopics topics() {
  return FleetTopics::create(kFleet).value();
}

}  // namespace

LiveFleet::LiveFleet(const LiveFleetOptions& options) : options_(options) {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  authority_.emplace(folder_.path(), "authority");
  ASSERT_OK(write_file_atomically(folder_ / "acl", kRules));
  authority_->write_revocations();
  BrokerSettings settings;
  settings.extra =
      "acl_file " + (folder_ / "acl").string() + "\ncrlfile " + authority_->revocations().string() +
      "\nmax_queued_messages 100000\nuse_username_as_clientid true\nset_tcp_nodelay true\nlog_type all\n";
  broker_.emplace(folder_.path(), *authority_, settings);
  files_["gateway"] = authority_->issue("gateway", CertificateUse::kClient);
  files_["watcher"] = authority_->issue("watcher", CertificateUse::kClient);
  gateway_key_ = OpensslSigner::from_pem(read_text_file(files_["gateway"].key).value()).value().public_key();

  models::ZooOptions zoo;
  zoo.features = options.features;
  const ModelPackage package = models::build_zoo_package("linear-regression", zoo).value();
  ASSERT_OK(write_model_package(package, folder_ / "model"));
  dimension_ = package.description.dimension();
  model_hash_ = parse_model_hash(package.description.hash).value();
  std::vector<float> features(4 * options.features);
  for (std::size_t i = 0; i < 4; ++i) features[i * options.features + i % options.features] = 1;
  const std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(write_npy(folder_ / "trusted-features.npy", features, {4, options.features}));
  ASSERT_OK(write_npy(folder_ / "trusted-values.npy", values, {4}));
  ASSERT_OK(DeviceBook::create(folder_ / "devices.db"));
  book_ = DeviceBook::open(folder_ / "devices.db").value();
  ASSERT_OK(write_file_atomically(
      config(), "[fleet]\nname = \"orchard\"\n[broker]\nhost = \"localhost\"\nport = " +
                    std::to_string(broker_->port()) + "\n[identity]\ncertificate = \"" +
                    files_["gateway"].certificate.string() + "\"\nkey = \"" + files_["gateway"].key.string() +
                    "\"\nca = \"" + authority_->certificate().string() +
                    "\"\n[devices]\nbook = \"devices.db\"\n[model]\npackage = \"model\"\n"
                    "[training]\nlearning_rate = " +
                    std::to_string(options.learning_rate) + "\nbatch_size = 1\n[guard]\nname = \"" +
                    options.guard + "\"\n" + options.guard_extra +
                    "[trusted]\nformat = \"npy\"\nfeatures = \"trusted-features.npy\"\n"
                    "labels = \"trusted-values.npy\"\n[store]\nfile = \"" +
                    options.store_file + "\"\n[telemetry]\ninterval_seconds = 0.2\n" +
                    options.gateway_extra));
}

CertificateFiles LiveFleet::enrol(const std::string& name) {
  Device device;
  device.name = name;
  device.keys = {issue(name)};
  ASSERT_OK(book_->add({&device, 1}));
  return files_.at(name);
}

CertificateFiles LiveFleet::renew(const std::string& name) {
  const DeviceKey key = issue(name);
  ASSERT_OK(book_->set_keys(name, {&key, 1}));
  return files_.at(name);
}

DeviceKey LiveFleet::issue(const std::string& name) {
  files_[name] = authority_->issue(name, CertificateUse::kClient);
  DeviceKey key;
  key.public_key = OpensslSigner::from_pem(read_text_file(files_.at(name).key).value()).value().public_key();
  key.serial = "01";
  key.not_after = std::chrono::system_clock::now() + std::chrono::hours(24);
  return key;
}

void LiveFleet::revoke(const std::string& name) {
  ASSERT_OK(book_->revoke(name));
}

void LiveFleet::start_gateway() {
  const std::size_t before = count_in_log("ready: connected");
  launch_gateway();
  wait_for_log("ready: connected", before + 1);
}

void LiveFleet::launch_gateway(const std::vector<std::string>& environment) {
  std::vector<std::string> command = {"env"};
  if (environment.empty()) command.clear();
  command.insert(command.end(), environment.begin(), environment.end());
  command.insert(command.end(), {gateway_program(), "--config", config().string()});
  gateway_.emplace(command, folder_.path(), folder_ / "gateway.log");
}

int LiveFleet::wait_for_gateway_end() {
  if (!gateway_->wait_for(timeout_)) TEST_FAIL_MESSAGE(("the gateway goes on:\n" + gateway_log()).c_str());
  return gateway_->exit_code();
}

int LiveFleet::end_gateway(int signal) {
  const int code = gateway_ ? gateway_->end(signal) : -1;
  gateway_.reset();
  return code;
}

std::string LiveFleet::gateway_program() {
  return program("aflguard-gateway");
}

std::string LiveFleet::gateway_log() const {
  std::error_code ignored;
  if (!std::filesystem::exists(folder_ / "gateway.log", ignored)) return {};
  return read_text_file(folder_ / "gateway.log").value();
}

std::size_t LiveFleet::count_in_log(const std::string& text) const {
  const std::string log_so_far = gateway_log();
  std::size_t found = 0;
  for (auto at = log_so_far.find(text); at != std::string::npos; at = log_so_far.find(text, at + 1)) ++found;
  return found;
}

void LiveFleet::wait_for_log(const std::string& text, std::size_t times) {
  const auto fail = [&] {
    TEST_FAIL_MESSAGE(("'" + text + "' is not in the log:\n" + gateway_log()).c_str());
  };
  const auto deadline = SteadyClock::now() + timeout_;
  wait_until(
      "'" + text + "' is in the gateway's log",
      [&] {
        const bool runs = gateway_ && gateway_->running();  // asked first: its last words come before its end
        if (count_in_log(text) >= times) return true;
        if (!runs || SteadyClock::now() > deadline) fail();
        return false;
      },
      timeout_ + kLongest);
}

std::string LiveFleet::wait_for_json(const std::string& topic, const Wanted& wanted) {
  const auto deadline = SteadyClock::now() + timeout_;
  while (latest_[topic].empty() || !wanted(latest_[topic])) {
    if (!watcher_) {
      const CertificateFiles& own = files_.at("watcher");
      const MqttIdentity identity{own.certificate, own.key, authority_->certificate()};
      watcher_ = std::make_unique<RawMqttClient>(broker_->port(), identity, "watcher");
      watched_.clear();
    }
    if (watched_.insert(topic).second) watcher_->subscribe(topic);
    if (auto message = watcher_->receive()) {
      latest_[message->topic] = std::move(message->payload);
    } else {
      watcher_.reset();  // the broker was killed
    }
    if (SteadyClock::now() > deadline) {
      TEST_FAIL_MESSAGE(("the gateway last said " + latest_[topic] + "\n" + gateway_log()).c_str());
    }
  }
  return latest_[topic];
}

std::string LiveFleet::wait_for_metrics(const Wanted& wanted) {
  return wait_for_json(topics().gateway_metrics(), wanted);
}

void LiveFleet::wait_for_state(const std::string& state) {
  (void)wait_for_json(topics().gateway_status(), [&](const std::string& text) {
    return nlohmann::json::parse(text).at("state").get<std::string>() == state;
  });
}

void LiveFleet::wait_for_refusals(const std::string& reason, std::uint64_t at_least) {
  (void)wait_for_metrics([&](const std::string& text) {
    return nlohmann::json::parse(text).at("refused").value(reason, std::uint64_t{0}) >= at_least;
  });
}

std::vector<VerdictRecord> LiveFleet::history() const {
  auto database = SqliteDatabase::open(store(), SqliteDatabase::Access::kReadOnly).value();
  auto rows = database
                  .prepare(
                      "SELECT iteration, device, sequence, accepted, reason, base_version, version, delay "
                      "FROM verdicts ORDER BY iteration")
                  .value();
  std::vector<VerdictRecord> history;
  while (rows.step().value()) {
    VerdictRecord record;
    record.iteration = rows.number(0);
    record.device = rows.number(1);
    record.sequence = rows.number(2);
    record.verdict.accepted = rows.integer(3) != 0;
    record.verdict.reason = static_cast<Reason>(rows.integer(4));
    record.base_version = rows.number(5);
    record.version = rows.number(6);
    record.verdict.delay = rows.number(7);
    history.push_back(record);
  }
  return history;
}

std::vector<DeviceRecord> LiveFleet::devices() const {
  auto database = SqliteDatabase::open(store(), SqliteDatabase::Access::kReadOnly).value();
  auto rows = database.prepare("SELECT id, name, accepted, rejected FROM devices ORDER BY id").value();
  std::vector<DeviceRecord> devices;
  while (rows.step().value()) {
    DeviceRecord device;
    device.id = rows.number(0);
    device.name = rows.text(1);
    device.accepted = rows.number(2);
    device.rejected = rows.number(3);
    devices.push_back(device);
  }
  return devices;
}

std::vector<float> LiveFleet::stored_model() const {
  auto database = SqliteDatabase::open(store(), SqliteDatabase::Access::kReadOnly).value();
  auto rows = database.prepare("SELECT aggregator FROM state").value();
  TEST_ASSERT_TRUE(rows.step().value());
  return Aggregator::read_model(rows.blob(0), dimension_).value().parameters;
}

void LiveFleet::change_config(const std::string& from, const std::string& to) {
  std::string text = read_text_file(config()).value();
  const auto at = text.find(from);
  TEST_ASSERT_TRUE_MESSAGE(at != std::string::npos, from.c_str());
  ASSERT_OK(write_file_atomically(config(), text.replace(at, from.size(), to)));
}

MqttOptions LiveFleet::bus_options(const std::string& name) {
  MqttOptions options;
  options.port = broker_->port();
  options.client_id = name;
  options.tls = TlsFiles{authority_->certificate(), files_.at(name).certificate, files_.at(name).key};
  options.shortest_backoff = std::chrono::milliseconds(20);
  options.longest_backoff = std::chrono::milliseconds(200);
  return options;
}

HandDevice::HandDevice(LiveFleet& fleet, std::string name)
    : fleet_(fleet),
      name_(std::move(name)),
      signer_(OpensslSigner::from_pem(read_text_file(fleet.files(name_).key).value()).value()),
      sealer_(signer_),
      bus_(MqttBus::create(fleet.bus_options(name_), fleet.log).value()) {
  ASSERT_OK(bus_->subscribe(topics().verdict(name_)));
  ASSERT_OK(bus_->start());
  const auto deadline = SteadyClock::now() + fleet_.timeout();
  while (auto event = bus_->next_event(deadline)) {
    if (std::holds_alternative<BusConnected>(*event)) return;
  }
  TEST_FAIL_MESSAGE("the device did not connect");
}

UpdateMessage HandDevice::update(std::uint64_t sequence, std::uint64_t base_version, float value) const {
  UpdateMessage update;
  update.fleet = kFleet;
  update.model_hash = fleet_.model_hash();
  update.base_version = base_version;
  update.sequence = sequence;
  update.samples = 1;
  update.vector.assign(fleet_.dimension(), value);
  return update;
}

Bytes HandDevice::seal(const UpdateMessage& update) {
  return sealer_.seal(encode(update).value()).value().release();
}

std::vector<Bytes> HandDevice::pieces(const Bytes& envelope, std::size_t body_bytes) {
  PieceSenderOptions options;
  options.body_bytes = body_bytes;
  options.window = kMaxPieces;
  auto sender = PieceSender::create(envelope, options).value();
  std::vector<Bytes> pieces;
  while (auto piece = sender.next()) pieces.push_back(std::move(piece->message));
  return pieces;
}

void HandDevice::publish(const Bytes& message) {
  const auto deadline = SteadyClock::now() + fleet_.timeout();
  PublishId sent = 0;  // the bus does not have it
  while (SteadyClock::now() < deadline) {
    if (sent == 0) {
      const auto id = bus_->publish({.topic = topics().update(name_), .payload = message});
      if (id.ok()) sent = *id;
    }
    const auto wait = sent != 0 ? deadline : SteadyClock::now() + std::chrono::milliseconds(20);
    auto event = bus_->next_event(wait);
    if (!event) continue;
    if (const auto* done = std::get_if<BusPublished>(&*event); done != nullptr && sent == done->id) return;
    if (const auto* failed = std::get_if<BusPublishFailed>(&*event);
        failed != nullptr && sent == failed->id) {
      sent = 0;
    }
  }
  TEST_FAIL_MESSAGE("the broker did not take a message");
}

void HandDevice::send(const Bytes& envelope) {
  for (const Bytes& piece : pieces(envelope)) publish(piece);
}

void HandDevice::flood(const std::vector<Bytes>& messages) {
  const auto deadline = SteadyClock::now() + fleet_.timeout();
  std::size_t sent = 0;
  std::set<PublishId> on_their_way;
  while (sent < messages.size() || !on_their_way.empty()) {
    if (SteadyClock::now() > deadline) TEST_FAIL_MESSAGE("the broker did not take a flood");
    if (sent < messages.size()) {
      if (const auto id = bus_->publish({.topic = topics().update(name_), .payload = messages[sent]})) {
        on_their_way.insert(*id);
        ++sent;
        continue;
      }
    }
    auto event = bus_->next_event(deadline);
    if (!event) continue;
    if (const auto* done = std::get_if<BusPublished>(&*event)) on_their_way.erase(done->id);
    if (const auto* failed = std::get_if<BusPublishFailed>(&*event)) on_their_way.erase(failed->id);
  }
}

std::optional<VerdictMessage> HandDevice::verdict_until(SteadyClock::time_point deadline,
                                                        bool until_refusal) {
  KeyTable gateway;
  ASSERT_OK(gateway.add("gateway", fleet_.gateway_key()));
  const OpensslVerifier verifier;
  const EnvelopeOpener opener(gateway, verifier);
  while (auto event = bus_->next_event(deadline)) {
    const auto* received = std::get_if<BusReceived>(&*event);
    if (received == nullptr) continue;
    auto envelope = assembler_.accept("gateway", received->message.payload, SteadyClock::now());
    if (!envelope.ok() || !envelope->has_value()) continue;
    auto opened = opener.open(UnverifiedEnvelope::parse(std::move(**envelope)).value());
    TEST_ASSERT_TRUE_MESSAGE(opened.ok(), "a verdict with a wrong signature");
    if (opened->type() == PayloadType::kOffer) continue;
    if (opened->type() != PayloadType::kRefusal) return decode_verdict(*opened).value();
    refusals_.push_back(decode_refusal(*opened).value());
    if (until_refusal) return std::nullopt;
  }
  return std::nullopt;
}

RefusalMessage HandDevice::insist_on_refusal(const Bytes& envelope) {
  const auto deadline = SteadyClock::now() + fleet_.timeout();
  for (std::uint16_t round = 0; SteadyClock::now() < deadline; ++round) {
    publish_round(envelope, round);
    const auto timeout = SteadyClock::now() + std::chrono::milliseconds(300);
    while (SteadyClock::now() < timeout) {
      (void)verdict_until(timeout, true);
      for (RefusalMessage& refusal : std::exchange(refusals_, {})) {
        if (refusal.transfer == transfer_id_of(envelope)) return std::move(refusal);
      }
    }
  }
  TEST_FAIL_MESSAGE(("no refusal came\n" + fleet_.gateway_log()).c_str());
  return {};
}

void HandDevice::publish_round(const Bytes& envelope, std::uint16_t round) {
  for (Bytes piece : pieces(envelope)) {
    piece[2] = static_cast<std::byte>(round >> 8);  // a new round, as a device that starts over says
    piece[3] = static_cast<std::byte>(round & 0xFF);
    publish(piece);
  }
}

VerdictMessage HandDevice::next_verdict() {
  auto verdict = verdict_until(SteadyClock::now() + fleet_.timeout());
  if (!verdict) TEST_FAIL_MESSAGE(("no verdict came\n" + fleet_.gateway_log()).c_str());
  return std::move(*verdict);
}

VerdictMessage HandDevice::insist(const UpdateMessage& update) {
  const Bytes envelope = seal(update);
  const auto deadline = SteadyClock::now() + fleet_.timeout();
  for (std::uint16_t round = 0; SteadyClock::now() < deadline; ++round) {
    publish_round(envelope, round);
    const auto timeout = SteadyClock::now() + std::chrono::milliseconds(500);
    while (auto verdict = verdict_until(timeout)) {
      if (verdict->sequence == update.sequence) return std::move(*verdict);
    }
  }
  TEST_FAIL_MESSAGE(("no verdict came\n" + fleet_.gateway_log()).c_str());
  return {};
}

}  // namespace aflguard::testing
