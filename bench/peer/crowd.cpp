#include "bench/peer/crowd.h"

#include <algorithm>
#include <sstream>

#include "core/envelope/message_codec.h"
#include "core/system/atomic_file.h"

namespace aflguard::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kDeviceTimeout(30);  // as aflguard-client has it
constexpr std::chrono::seconds kSilence(100);       // of all: something is wrong
constexpr milliseconds kPollInterval(20);
constexpr std::string_view kPemEnd = "-----END PRIVATE KEY-----\n";

/// Checks nothing; see Crowd.
class Believer final : public Verifier {
 public:
  [[nodiscard]] bool verify(const PublicKey&, SignedParts, const EcdsaSignature&) const override {
    return true;
  }
};

double milliseconds_of(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

}  // namespace

std::string CrowdOutcome::text() const {
  std::ostringstream text;
  text << devices << ' ' << turns << ' ' << without << ' ' << seconds << ' ' << median_turns << ' '
       << slowest_tenth_turns << ' ' << median_ms << ' ' << longest_ms << ' ' << above_5_s << ' ' << refusals
       << ' ' << silent;
  return text.str();
}

Result<std::unique_ptr<Crowd>> Crowd::create(CrowdSettings settings, LogSink& log) {
  TRY(const FleetTopics topics, FleetTopics::create(settings.identity.fleet));
  MqttOptions options = mqtt_options(settings.identity);
  options.max_publishes = 1000;
  TRY(auto bus, connect(options, topics.verdict("+"), log));
  auto crowd = std::unique_ptr<Crowd>(new Crowd(std::move(settings), topics, std::move(bus)));
  TRY_STATUS(crowd->read_keys());
  return crowd;
}

Crowd::Crowd(CrowdSettings settings, FleetTopics topics, std::unique_ptr<MqttBus> bus)
    : settings_(std::move(settings)), topics_(std::move(topics)), bus_(std::move(bus)) {}

Status Crowd::read_keys() {
  TRY(const std::string all, read_text_file(settings_.key_file));
  for (std::size_t at = 0; at < all.size();) {
    const auto end = all.find(kPemEnd, at);
    if (end == std::string::npos) return corrupt(settings_.key_file.string() + ": ends within a key");
    Device device;
    device.name = "crowd-" + std::to_string(devices_.size() + 1);
    device.topic = topics_.update(device.name);
    device.key = all.substr(at, end + kPemEnd.size() - at);
    by_topic_[topics_.verdict(device.name)] = devices_.size();
    devices_.push_back(std::move(device));
    at = end + kPemEnd.size();
  }
  return {};
}

void Crowd::reset(std::size_t devices) {
  for (Device& device : devices_) {
    device.sender.reset();
    device.queued = device.held = false;
    device.turns = 0;
    device.longest_ms = 0;
  }
  queue_.clear();
  on_their_way_.clear();
  alarms_.clear();
  finished_.clear();
  waits_ms_.clear();
  waits_ms_.reserve(devices);
  under_way_ = refusals_ = silent_ = 0;
}

Status Crowd::begin(std::size_t number) {
  Device& device = devices_[number];
  if (!device.signer) {
    TRY(device.signer, OpensslSigner::from_pem(device.key));
  }
  UpdateMessage update;
  update.fleet = settings_.identity.fleet;
  update.model_hash = settings_.model_hash;
  update.base_version = version_;
  update.sequence = ++device.sequence;
  update.samples = 32;
  update.vector = settings_.vector;
  TRY(const Payload payload, encode(update));
  TRY(SealedEnvelope sealed, EnvelopeSealer(*device.signer).seal(payload));
  TRY(device.sender, PieceSender::create(std::move(sealed).release()));
  device.begun = Clock::now();
  device.held = device.answered = false;
  device.due = device.begun + kDeviceTimeout;
  alarms_.emplace(device.due, number);
  ++under_way_;
  enqueue(number);
  return {};
}

void Crowd::enqueue(std::size_t number) {
  if (devices_[number].queued) return;
  devices_[number].queued = true;
  queue_.push_back(number);
}

/// One piece of each device in turn, as many as the bus takes.
void Crowd::pump() {
  while (!queue_.empty()) {
    const std::size_t number = queue_.front();
    Device& device = devices_[number];
    auto piece = device.sender && !device.held ? device.sender->next() : std::nullopt;
    if (!piece) {
      device.queued = false;
      queue_.pop_front();
      continue;
    }
    const auto id = bus_->publish({.topic = device.topic, .payload = std::move(piece->message)});
    if (!id) return device.sender->failed(piece->index);
    on_their_way_[*id] = {number, piece->index, device.sender->transfer()};
    queue_.pop_front();
    queue_.push_back(number);
  }
}

void Crowd::on_published(PublishId id, bool reached) {
  const auto found = on_their_way_.find(id);
  if (found == on_their_way_.end()) return;
  const OnItsWay piece = found->second;
  on_their_way_.erase(found);
  Device& device = devices_[piece.device];
  if (!device.sender || device.sender->transfer() != piece.transfer) return;
  if (reached) {
    device.sender->acknowledged(piece.index);
  } else {
    device.sender->failed(piece.index);
  }
  enqueue(piece.device);
}

void Crowd::on_message(const Message& message) {
  const auto known = by_topic_.find(message.topic);
  if (known == by_topic_.end()) return;
  Device& device = devices_[known->second];
  auto envelope = assembler_.accept(device.name, message.payload, Clock::now());
  if (!envelope || !envelope->has_value()) return;
  auto parsed = UnverifiedEnvelope::parse(std::move(**envelope));
  if (!parsed) return;
  KeyTable gateway;
  const Believer believer;
  if (!gateway.add("gateway", settings_.gateway_key).ok()) return;
  const auto opened = EnvelopeOpener(gateway, believer).open(std::move(*parsed));
  if (!opened) return;
  if (opened->type() == PayloadType::kRefusal) {
    if (const auto refusal = decode_refusal(*opened)) on_refusal(device, *refusal);
  } else if (const auto verdict = decode_verdict(*opened)) {
    on_verdict(device, *verdict);
  }
}

void Crowd::on_verdict(Device& device, const VerdictMessage& verdict) {
  version_ = std::max(version_, verdict.version);
  device.sequence = std::max(device.sequence, verdict.highest_sequence);  // of an earlier crowd with its keys
  if (!device.sender) return;
  last_verdict_ = Clock::now();
  const double wait = milliseconds_of(last_verdict_ - device.begun);
  waits_ms_.push_back(wait);
  device.longest_ms = std::max(device.longest_ms, wait);
  ++device.turns;
  device.sender.reset();
  --under_way_;
  finished_.push_back(static_cast<std::size_t>(&device - devices_.data()));
}

void Crowd::on_refusal(Device& device, const RefusalMessage& refusal) {
  if (!device.sender || device.sender->transfer() != refusal.transfer) return;
  ++refusals_;
  device.answered = true;
  device.held = true;
  device.due = Clock::now() + (refusal.come_back.count() > 0 ? Clock::duration(refusal.come_back)
                                                             : Clock::duration(kDeviceTimeout));
  alarms_.emplace(device.due, static_cast<std::size_t>(&device - devices_.data()));
}

/// Updates that are held, or unanswered for too long, go again.
void Crowd::wake_due(Time now) {
  while (!alarms_.empty() && alarms_.begin()->first <= now) {
    const std::size_t number = alarms_.begin()->second;
    Device& device = devices_[number];
    const bool latest = device.due == alarms_.begin()->first;
    alarms_.erase(alarms_.begin());
    if (!device.sender || !latest) continue;
    if (!device.answered) ++silent_;
    device.sender->start_over();
    device.held = device.answered = false;
    device.due = now + kDeviceTimeout;
    alarms_.emplace(device.due, number);
    enqueue(number);
  }
}

Status Crowd::step(Time until) {
  wake_due(Clock::now());
  pump();
  auto event = bus_->next_event(std::min(until, Clock::now() + kPollInterval));
  for (; event; event = bus_->next_event({})) {
    if (const auto* published = std::get_if<BusPublished>(&*event)) on_published(published->id, true);
    if (const auto* failed = std::get_if<BusPublishFailed>(&*event)) on_published(failed->id, false);
    if (const auto* received = std::get_if<BusReceived>(&*event)) on_message(received->message);
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) return unavailable(lost->reason);
    if (std::holds_alternative<BusReceived>(*event) && !finished_.empty()) break;
  }
  return {};
}

Result<CrowdOutcome> Crowd::busy(std::size_t devices, double seconds) {
  devices = std::min(devices, devices_.size());
  reset(devices);
  const Time begin_time = Clock::now();
  const Time end =
      begin_time + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (std::size_t i = 0; i < devices; ++i) {
    TRY_STATUS(begin(i));
    if (i % 16 == 15) TRY_STATUS(step(Clock::now()));
  }
  while (Clock::now() < end) {
    TRY_STATUS(step(end));
    for (const std::size_t number : std::exchange(finished_, {})) TRY_STATUS(begin(number));
  }
  // Who still waits has waited at least so long: a turn that never came must not look like a quick one.
  for (std::size_t i = 0; i < devices; ++i) {
    Device& device = devices_[i];
    if (device.sender) device.longest_ms = std::max(device.longest_ms, milliseconds_of(end - device.begun));
  }
  CrowdOutcome result = outcome(devices, begin_time);
  const Time deadline = Clock::now() + kSilence;
  while (under_way_ > 0 && Clock::now() < deadline) TRY_STATUS(step(deadline));  // for the next crowd
  return result;
}

Result<CrowdOutcome> Crowd::once(std::size_t devices, double per_second) {
  devices = std::min(devices, devices_.size());
  reset(devices);
  const Time begin_time = Clock::now();
  last_verdict_ = begin_time;
  for (std::size_t begun = 0; begun < devices || under_way_ > 0;) {
    const double passed = std::chrono::duration<double>(Clock::now() - begin_time).count();
    const auto due =
        per_second > 0 ? std::min(devices, static_cast<std::size_t>(passed * per_second) + 1) : devices;
    for (int batch = 0; begun < due && batch < 16; ++batch) TRY_STATUS(begin(begun++));
    TRY_STATUS(step(begun < due ? Clock::now() : Clock::now() + milliseconds(2)));
    for (const std::size_t number : std::exchange(finished_, {})) devices_[number].signer.reset();
    if (begun == devices && Clock::now() - last_verdict_ > kSilence) break;
  }
  return outcome(devices, begin_time);
}

CrowdOutcome Crowd::outcome(std::size_t devices, Time begin) {
  CrowdOutcome result;
  result.devices = devices;
  result.turns = waits_ms_.size();
  result.seconds = std::chrono::duration<double>(last_verdict_ - begin).count();
  result.refusals = refusals_;
  result.silent = silent_;
  std::vector<double> turns;
  for (std::size_t i = 0; i < devices; ++i) {
    turns.push_back(static_cast<double>(devices_[i].turns));
    result.longest_ms = std::max(result.longest_ms, devices_[i].longest_ms);
    if (devices_[i].turns == 0) ++result.without;
  }
  std::sort(turns.begin(), turns.end());
  result.median_turns = turns[turns.size() / 2];
  const std::size_t tenth = std::max<std::size_t>(1, turns.size() / 10);
  for (std::size_t i = 0; i < tenth; ++i) result.slowest_tenth_turns += turns[i] / static_cast<double>(tenth);
  if (waits_ms_.empty()) return result;
  std::sort(waits_ms_.begin(), waits_ms_.end());
  result.median_ms = waits_ms_[waits_ms_.size() / 2];
  const auto late = std::upper_bound(waits_ms_.begin(), waits_ms_.end(), 5000.0);
  result.above_5_s = static_cast<double>(waits_ms_.end() - late) / static_cast<double>(waits_ms_.size());
  return result;
}

}  // namespace aflguard::bench
