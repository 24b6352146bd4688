#include "gateway_server/judging/judge_thread.h"

#include <algorithm>

namespace aflguard::gateway {
namespace {

// Updates per commit. Many small ones share it, where the disk is slow; the first of them waits little.
constexpr std::size_t kGroup = 64;
constexpr std::size_t kMaxGroup = 1024;
constexpr std::chrono::milliseconds kGroupTime(20);
constexpr std::chrono::milliseconds kPollInterval(500);
constexpr std::chrono::milliseconds kRetry(500);

std::int64_t milliseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// A full disk or a lock passes; damage, or a row that contradicts another one, does not.
bool will_not_pass(const Error& error) {
  return error.kind == ErrorKind::kCorrupt || error.kind == ErrorKind::kInternal;
}

}  // namespace

JudgeThread::JudgeThread(UpdateJudge& judge, const Limits& limits, JudgeListener& listener,
                         GatewayCounters& counters, const Clock& clock, LogSink& log)
    : judge_(judge),
      listener_(listener),
      counters_(counters),
      clock_(clock),
      log_(log),
      queue_(limits.waiting_updates, limits.waiting_bytes),
      reference_share_(limits.reference_share) {}

JudgeThread::~JudgeThread() {
  stop();
}

void JudgeThread::start() {
  note_reference();
  hand_out();
  thread_ = std::thread([this] { run(); });
}

bool JudgeThread::submit(VerifiedUpdate update) {
  const std::size_t bytes = update.message.vector.size() * sizeof(float);
  return queue_.push(Input(std::move(update)), bytes);
}

void JudgeThread::stop() {
  stopping_ = true;
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void JudgeThread::run() {
  while (true) {
    sign_of_life();
    auto input = queue_.pop_until(clock_.steady() + kPollInterval);
    if (!input && stopping_) return;
    const auto begin = clock_.steady();
    for (std::size_t taken = 1; input; ++taken) {
      handle(std::move(*input));
      const bool more = taken < kGroup || (taken < kMaxGroup && clock_.steady() - begin < kGroupTime);
      input = more ? queue_.try_pop() : std::nullopt;
    }
    if (judge_.has_pending() && !commit()) return rest();
    hand_out();
  }
}

void JudgeThread::handle(Input input) {
  std::visit([this](auto&& value) { handle(std::forward<decltype(value)>(value)); }, std::move(input));
}

void JudgeThread::handle(VerifiedUpdate update) {
  if (const Status judged = judge_.judge(update); !judged.ok()) {
    log_.error("an update of device '" + update.device + "' was not judged: " + judged.error().message);
  }
  for (const UpdateJudge::Refused& refused : judge_.take_refused()) {
    listener_.on_refused(refused.device, refused.refusal);
  }
  for (UpdateJudge::ReadBack& read : judge_.take_read_back()) {
    counters_.store_report.set_unreadable(read.device, std::move(read.problem));
  }
}

void JudgeThread::handle(ReferenceReady ready) {
  reference_requested_ = false;
  const std::chrono::duration<double> rest(std::chrono::duration<double>(ready.cost) *
                                           (1 / reference_share_ - 1));
  reference_rest_ = clock_.steady() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(rest);
  if (!ready.reference) return;  // requested again with the next update
  if (const Status installed = judge_.install_reference(std::move(*ready.reference), ready.due_since);
      !installed.ok()) {
    log_.error(installed.error().message);
    return;
  }
  note_reference();
  ++counters_.references;
}

void JudgeThread::handle(const EvaluationRecord& evaluation) {
  if (const Status added = judge_.add_evaluation(evaluation); !added.ok()) {
    log_.warning("an evaluation was not stored: " + added.error().message);
  }
}

/// What was judged before is stored under the settings that it was judged by.
void JudgeThread::handle(JudgeChange change) {
  if (judge_.has_pending() && !commit()) return;  // the gateway stops
  reference_share_ = change.reference_share;
  judge_.change(std::move(change));
}

bool JudgeThread::commit() {
  while (true) {
    const auto begin = clock_.steady();
    const Status committed = judge_.commit();
    sign_of_life();
    if (committed.ok()) {
      report_judged();
      if (counters_.store_failing.exchange(false)) log_.info("the store works again");
      ++counters_.commits;
      counters_.commit_microseconds += static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(clock_.steady() - begin).count());
      return true;
    }
    ++counters_.commit_failures;
    if (will_not_pass(committed.error())) {
      log_.error("nothing is answered any more: " + committed.error().message);
      counters_.store_failing = true;
      counters_.store_report.set_damaged(committed.error().message);
      return false;
    }
    if (!counters_.store_failing.exchange(true)) {
      log_.error("nothing can be stored, so nothing is answered until it can: " + committed.error().message);
    }
    if (stopping_) return false;
    std::this_thread::sleep_for(kRetry);
  }
}

void JudgeThread::rest() {
  while (!stopping_) {
    sign_of_life();
    std::this_thread::sleep_for(kRetry);
  }
}

void JudgeThread::report_judged() {
  for (JudgedUpdate& update : judge_.take_judged()) {
    note_verdict(update.verdict);
    listener_.on_judged(std::move(update));
  }
}

void JudgeThread::hand_out() {
  const GlobalModel& model = judge_.aggregator().model();
  if (model_ == nullptr || model_->version != model.version()) {
    auto snapshot = std::make_shared<ModelSnapshot>();
    snapshot->version = model.version();
    snapshot->iteration = judge_.aggregator().iteration();
    snapshot->parameters.assign(model.parameters().begin(), model.parameters().end());
    model_ = std::move(snapshot);
    counters_.version = model_->version;
    listener_.on_model(model_);
  }
  counters_.iteration = judge_.aggregator().iteration();
  counters_.repeats = judge_.repeats();
  counters_.recorded_bytes = judge_.recorded_bytes();
  for (VerdictMessage& reply : judge_.take_replies()) listener_.on_reply(std::move(reply));
  request_reference();
}

/// At the newest model, once the last one has been paid for. What comes while it rests is judged by the one
/// before; a gateway with time to spare has a new one as soon as it is due.
void JudgeThread::request_reference() {
  if (reference_requested_ || !judge_.aggregator().reference_due()) return;
  if (clock_.steady() < reference_rest_) return;
  reference_requested_ = true;
  listener_.on_reference_due(model_, judge_.aggregator().iteration());
}

void JudgeThread::note_verdict(const Verdict& verdict) {
  ++(verdict.accepted ? counters_.accepted : counters_.rejected);
  if (verdict.accepted && verdict.alterations != 0) ++counters_.altered;
  if (!verdict.accepted) {
    ++counters_.rejected_by[static_cast<std::size_t>(verdict.reason) % GatewayCounters::kReasons];
  }
  counters_.delay_sum += verdict.delay;
  const auto* const bound = std::lower_bound(kDelayBounds.begin(), kDelayBounds.end(), verdict.delay);
  ++counters_.delay_counts[static_cast<std::size_t>(bound - kDelayBounds.begin())];
}

void JudgeThread::note_reference() {
  const ReferenceUpdate* reference = judge_.aggregator().installed_reference();
  if (reference == nullptr) return;
  counters_.reference_version = static_cast<std::int64_t>(reference->version);
  counters_.reference_loss = reference->loss;
  if (const auto came = judge_.reference_time()) counters_.reference_ms = milliseconds(*came);
}

void JudgeThread::sign_of_life() {
  counters_.judge_alive_ms = milliseconds(clock_.steady());
}

}  // namespace aflguard::gateway
