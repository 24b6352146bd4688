#include "gateway_server/replies/reply_thread.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMaxBases = 100'000;
constexpr std::size_t kMaxWaiting = 100'000;  // not signed yet: a few hundred bytes each

}  // namespace

ReplyThread::ReplyThread(ReplySigner& signer, const Limits& limits, Outputs outputs,
                         GatewayCounters& counters, const Clock& clock, LogSink& log)
    : signer_(signer),
      history_bytes_(limits.history_bytes),
      budget_(limits.models_per_second),
      bases_(kMaxBases),
      sent_(limits.history_bytes),
      outputs_(std::move(outputs)),
      counters_(counters),
      clock_(clock),
      log_(log),
      queue_(kMaxWaiting, 0) {
  if (limits.grid) publisher_.emplace();
  thread_ = std::thread([this] { run(); });
}

ReplyThread::~ReplyThread() {
  stop();
}

void ReplyThread::set_model(SharedModel model) {
  const std::lock_guard lock(mutex_);
  model_ = std::move(model);
}

SharedModel ReplyThread::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

void ReplyThread::reply(VerdictMessage verdict) {
  if (!queue_.push(Job(std::move(verdict)))) ++counters_.replies_dropped;  // the device asks again
}

void ReplyThread::refuse(RefusalMessage refusal) {
  if (queue_.size() >= kMaxWaiting / 2 || !queue_.push(Job(std::move(refusal)))) {
    ++counters_.replies_dropped;  // the device asks again
  }
}

void ReplyThread::publish_model() {
  (void)queue_.push(Job(PublishModel{}));  // asked for again soon, if the queue is full
}

void ReplyThread::offer(std::string device) {
  if (queue_.size() >= kMaxWaiting / 2) return;      // verdicts go before it
  (void)queue_.push(Job(Offer{std::move(device)}));  // its next status asks again
}

void ReplyThread::change(ModelMessage terms, double models_per_second) {
  queue_.push_always(Job(Change{std::move(terms), models_per_second}));
}

void ReplyThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void ReplyThread::run() {
  while (auto job = queue_.pop_until(std::chrono::steady_clock::time_point::max())) {
    outputs_.wait_for_room();
    std::visit([this](auto&& work) { handle(std::forward<decltype(work)>(work)); }, std::move(*job));
  }
}

SharedModel ReplyThread::newest() {
  return publisher_ ? publisher_->published(model()) : model();
}

void ReplyThread::handle(VerdictMessage verdict) {
  const std::string device = verdict.device;
  const SharedModel newest = this->newest();
  const bool fresh = newest != nullptr && newest->version >= verdict.version;
  const auto base = bases_.take(device, verdict.sequence);
  const bool has_newest = fresh && base == newest->version && sent_.find(*base) == newest;
  const bool with_model = fresh && !has_newest && outputs_.room_for_models() && budget_.take(clock_.steady());
  if (base) verdict.come_back = outputs_.next_turn(device);
  Bytes before = with_model && base ? difference(*base, *newest) : Bytes();
  if (before.empty() && with_model && base) before = whole(newest);
  if (!before.empty() || has_newest) verdict.version = newest->version;
  if (with_model) sent_.remember(newest);
  auto sealed = signer_.verdict(std::move(verdict), with_model && before.empty() ? newest.get() : nullptr);
  if (!sealed) {
    log_.error("a verdict for device '" + device + "' could not be signed: " + sealed.error().message);
    return;
  }
  ++counters_.replies;
  if (with_model) ++counters_.replies_with_model;
  outputs_.verdict(device, std::move(*sealed), std::move(before));
}

/// Made and signed once for all who need it. Empty: the whole model it is.
Bytes ReplyThread::difference(std::uint64_t base, const ModelSnapshot& newest) {
  if (const Bytes* kept = sent_.difference(base, newest.version)) return *kept;
  const SharedModel known = sent_.find(base);
  if (known == nullptr || known->version >= newest.version) return {};
  auto sealed = signer_.difference(*known, newest, publisher_ ? publisher_->grid() : nullptr);
  if (!sealed) {
    log_.error("a difference of two models could not be signed: " + sealed.error().message);
    return {};
  }
  if (!sealed->empty()) sent_.keep_difference(base, newest.version, *sealed);
  return std::move(*sealed);
}

/// As the retained one, and signed once for all who need it. Empty when it cannot be signed.
Bytes ReplyThread::whole(const SharedModel& newest) {
  if (whole_.model != newest) {
    auto sealed = signer_.model(*newest);
    if (!sealed) {
      log_.error("the model could not be signed: " + sealed.error().message);
      return {};
    }
    whole_ = {newest, std::move(*sealed)};
  }
  return whole_.envelope;
}

void ReplyThread::handle(const RefusalMessage& refusal) {
  auto sealed = signer_.refusal(refusal);
  if (!sealed) {
    log_.error("a refusal for device '" + refusal.device +
               "' could not be signed: " + sealed.error().message);
    return;
  }
  ++counters_.refusals_answered;
  outputs_.verdict(refusal.device, std::move(*sealed), {});
}

void ReplyThread::handle(Change change) {
  signer_.set_terms(std::move(change.terms));
  budget_ = RateBudget(change.models_per_second);
  sent_ = SentModels(history_bytes_);  // differences that were signed before carry the former terms
}

void ReplyThread::handle(PublishModel) {
  const SharedModel newest = this->newest();
  if (newest == nullptr) return;
  Bytes envelope = whole(newest);
  if (envelope.empty()) return;
  sent_.remember(newest);
  outputs_.model(std::move(envelope));
}

void ReplyThread::handle(const Offer& offer) {
  auto sealed = signer_.offer();
  if (!sealed) {
    log_.error("the offer could not be signed: " + sealed.error().message);
    return;
  }
  outputs_.verdict(offer.device, std::move(*sealed), {});
}

}  // namespace aflguard::gateway
