#include "gateway_server/replies/reply_thread.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMaxWaiting = 100'000;  // answers without models: a few hundred bytes each

}  // namespace

ReplyThread::ReplyThread(ReplySigner& signer, double models_per_second, Outputs outputs,
                         GatewayCounters& counters, const Clock& clock, LogSink& log)
    : signer_(signer),
      budget_(models_per_second),
      outputs_(std::move(outputs)),
      counters_(counters),
      clock_(clock),
      log_(log),
      queue_(kMaxWaiting, 0),
      thread_([this] { run(); }) {}

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

void ReplyThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void ReplyThread::run() {
  while (auto job = queue_.pop_until(std::chrono::steady_clock::time_point::max())) {
    std::visit([this](auto&& work) { handle(std::forward<decltype(work)>(work)); }, std::move(*job));
  }
}

void ReplyThread::handle(VerdictMessage verdict) {
  const std::string device = verdict.device;
  const SharedModel newest = model();
  const bool fresh = newest != nullptr && newest->version >= verdict.version;
  const bool with_model = fresh && outputs_.room_for_models() && budget_.take(clock_.steady());
  auto sealed = signer_.verdict(std::move(verdict), with_model ? newest.get() : nullptr);
  if (!sealed) {
    log_.error("a verdict for device '" + device + "' could not be signed: " + sealed.error().message);
    return;
  }
  ++counters_.replies;
  if (with_model) ++counters_.replies_with_model;
  outputs_.verdict(device, std::move(*sealed));
}

void ReplyThread::handle(const RefusalMessage& refusal) {
  auto sealed = signer_.refusal(refusal);
  if (!sealed) {
    log_.error("a refusal for device '" + refusal.device +
               "' could not be signed: " + sealed.error().message);
    return;
  }
  ++counters_.refusals_answered;
  outputs_.verdict(refusal.device, std::move(*sealed));
}

void ReplyThread::handle(PublishModel) {
  const SharedModel newest = model();
  if (newest == nullptr) return;
  auto sealed = signer_.model(*newest);
  if (!sealed) {
    log_.error("the model could not be signed: " + sealed.error().message);
    return;
  }
  outputs_.model(std::move(*sealed));
}

}  // namespace aflguard::gateway
