#include "bench/peer/publisher.h"

#include "core/envelope/message_codec.h"
#include "core/system/atomic_file.h"
#include "core/transport/topics.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout(60);  // far longer than an update takes

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::create(PublisherSettings settings, LogSink& log) {
  const Identity& identity = settings.identity;
  TRY(const FleetTopics topics, FleetTopics::create(identity.fleet));
  TRY(const std::string key, read_text_file(identity.folder / (identity.role + ".key")));
  TRY(OpensslSigner signer, OpensslSigner::from_pem(key));
  TRY(auto bus, connect(identity, topics.verdict(identity.name), log));
  auto publisher = std::unique_ptr<Publisher>(
      new Publisher(std::move(settings), std::move(signer), std::move(bus), topics));
  TRY_STATUS(publisher->gateway_.add("gateway", publisher->settings_.gateway_key));
  return publisher;
}

Publisher::Publisher(PublisherSettings settings, OpensslSigner signer, std::unique_ptr<MqttBus> bus,
                     FleetTopics topics)
    : settings_(std::move(settings)),
      signer_(std::move(signer)),
      sealer_(signer_),
      bus_(std::move(bus)),
      topic_(topics.update(settings_.identity.name)) {}

Result<std::size_t> Publisher::prepare(std::size_t count) {
  UpdateMessage update;
  update.fleet = settings_.identity.fleet;
  update.model_hash = settings_.model_hash;
  update.base_version = version_;
  update.samples = 32;
  update.vector = settings_.vector;
  prepared_.clear();
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    update.sequence = ++last_sequence_;
    TRY(const Payload payload, encode(update));
    TRY(SealedEnvelope sealed, sealer_.seal(payload));
    size = sealed.bytes().size();
    prepared_.push_back({update.sequence, std::move(sealed).release()});
  }
  return size;
}

Result<Moments> Publisher::run(GoOn go_on) {
  Moments moments;
  while (!prepared_.empty()) {
    Prepared next = std::move(prepared_.front());
    prepared_.pop_front();
    TRY_STATUS(send(std::move(next.envelope), next.sequence, go_on));
    moments.push_back(Clock::now());
  }
  return moments;
}

Status Publisher::send(Bytes envelope, std::uint64_t sequence, GoOn go_on) {
  TRY(PieceSender sender, PieceSender::create(std::move(envelope)));
  on_their_way_.clear();
  pump(sender);
  bool judged = false;
  while (go_on == GoOn::kVerdict ? !judged : !sender.all_acknowledged()) {
    auto event = bus_->next_event(Clock::now() + kTimeout);
    if (!event) return unavailable("update " + std::to_string(sequence) + " got no answer within a minute");
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) return unavailable(lost->reason);
    if (const auto* failed = std::get_if<BusPublishFailed>(&*event)) return unavailable(failed->reason);
    if (const auto* published = std::get_if<BusPublished>(&*event)) {
      if (const auto found = on_their_way_.find(published->id); found != on_their_way_.end()) {
        sender.acknowledged(found->second);
        on_their_way_.erase(found);
      }
      pump(sender);
    }
    if (const auto* received = std::get_if<BusReceived>(&*event)) {
      TRY(const auto verdict, take_verdict(received->message));
      judged = judged || (verdict && verdict->sequence == sequence);
    }
  }
  return {};
}

void Publisher::pump(PieceSender& sender) {
  while (auto piece = sender.next()) {
    const auto id = bus_->publish({.topic = topic_, .payload = std::move(piece->message)});
    if (!id) return sender.failed(piece->index);  // goes again after the next event
    on_their_way_.emplace(*id, piece->index);
  }
}

Result<std::optional<VerdictMessage>> Publisher::take_verdict(const Message& message) {
  const auto refused = [](const Refusal& refusal) { return corrupt("verdict: " + refusal.message); };
  auto envelope = assembler_.accept("gateway", message.payload, Clock::now());
  if (!envelope) return refused(envelope.error());
  if (!envelope->has_value()) return std::optional<VerdictMessage>{};
  auto parsed = UnverifiedEnvelope::parse(std::move(**envelope));
  if (!parsed) return refused(parsed.error());
  const auto opened = EnvelopeOpener(gateway_, verifier_).open(std::move(*parsed));
  if (!opened) return refused(opened.error());
  auto verdict = decode_verdict(*opened);
  if (!verdict) return refused(verdict.error());
  version_ = std::max(version_, verdict->version);
  if (verdict->accepted) ++accepted_;
  if (verdict->model) ++models_;
  return std::optional<VerdictMessage>(std::move(*verdict));
}

}  // namespace aflguard::bench
