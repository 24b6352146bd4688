#include "gateway_server/history/history_thread.h"

#include <algorithm>

#include "core/system/machine/disk_space.h"
#include "core/telemetry/history_answer.h"
#include "gateway_server/history/answer_points.h"
#include "gateway_server/history/history_plan.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMaxWaiting = 64;
constexpr std::size_t kMaxWaitingBytes = 64 << 10;  // of questions
constexpr std::size_t kMaxUnwritten = 60;           // ten minutes
constexpr std::chrono::seconds kBetweenWrites(60);
constexpr std::size_t kQuestions = 20;
constexpr std::chrono::seconds kQuestionTime(10);
constexpr std::size_t kMaxViewers = 64;
/// What is left on the disk belongs to verdicts.
constexpr std::uint64_t kLeaveFree = 64u << 20;

}  // namespace

HistoryThread::HistoryThread(std::unique_ptr<HistoryStore> store, std::filesystem::path folder, Answer answer,
                             const Clock& clock, LogSink& log)
    : store_(std::move(store)),
      folder_(std::move(folder)),
      answer_(std::move(answer)),
      clock_(clock),
      log_(log),
      queue_(kMaxWaiting, kMaxWaitingBytes),
      written_(clock.steady()),
      thread_([this] { run(); }) {}

HistoryThread::~HistoryThread() {
  stop();
}

void HistoryThread::ask(std::string viewer, Bytes payload) {
  const std::size_t cost = std::min(payload.size(), kMaxQuestionBytes + 1);
  payload.resize(cost);  // one byte above the limit is refused like many
  (void)queue_.push(Input(Question{std::move(viewer), std::move(payload)}), cost);
}

void HistoryThread::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void HistoryThread::run() {
  while (auto input = queue_.pop_until(Time::max())) {
    std::visit([this](auto&& value) { handle(std::forward<decltype(value)>(value)); }, std::move(*input));
  }
  write();
}

void HistoryThread::handle(HistoryBatch batch) {
  unwritten_.push_back(std::move(batch));
  if (unwritten_.size() > kMaxUnwritten) unwritten_.pop_front();
  if (clock_.steady() - written_ >= kBetweenWrites) write();
}

void HistoryThread::write() {
  written_ = clock_.steady();
  if (unwritten_.empty()) return;
  const auto space = disk_space(folder_);
  if (space && space->free_bytes < kLeaveFree) {
    return note(
        io_error("less than " + std::to_string(kLeaveFree >> 20) + " MB are free on " + folder_.string()));
  }
  const std::vector<HistoryBatch> batches(unwritten_.begin(), unwritten_.end());
  unwritten_.clear();  // a second attempt could count things twice
  Status written = store_->add(batches);
  if (written.ok()) written = store_->prune(now_ms());
  note(written);
}

void HistoryThread::note(const Status& status) {
  const bool failing = !status.ok();
  if (failing && !failing_) {
    log_.warning("the history is not kept for now, the fleet goes on: " + status.error().message);
  }
  if (!failing && failing_) log_.info("the history is kept again");
  failing_ = failing;
}

void HistoryThread::handle(const Question& question) {
  const ReadQuestion read = read_history_question(question.payload);
  if (!may_ask(question.viewer)) {
    return answer_(question.viewer,
                   history_error(read.id, "more than " + std::to_string(kQuestions) + " questions in " +
                                              std::to_string(kQuestionTime.count()) + " seconds; ask later"));
  }
  if (!read.question.ok()) {
    return answer_(question.viewer, history_error(read.id, read.question.error().message));
  }
  write();  // so that the answer goes up to now
  auto messages = answer(*read.question);
  if (!messages.ok()) return answer_(question.viewer, history_error(read.id, messages.error().message));
  for (std::string& message : *messages) answer_(question.viewer, std::move(message));
}

bool HistoryThread::may_ask(const std::string& viewer) {
  if (asked_.size() >= kMaxViewers && !asked_.contains(viewer)) asked_.clear();
  std::deque<Time>& times = asked_[viewer];
  const Time now = clock_.steady();
  while (!times.empty() && now - times.front() >= kQuestionTime) times.pop_front();
  if (times.size() >= kQuestions) return false;
  times.push_back(now);
  return true;
}

Result<std::vector<std::string>> HistoryThread::answer(const HistoryQuestion& question) {
  const HistoryPlan plan = plan_history(question, now_ms());
  // Whatever a clock that went wrong has left further away is not looked for.
  const std::int64_t from = std::max(plan.begin_ms, now_ms() - kHistoryLevels[plan.level].kept_ms);
  const std::int64_t to = std::min(question.to_ms, now_ms() + kDayMs);
  if (question.device.empty()) {
    TRY(const auto points, store_->fleet(plan.level, from, to));
    return fleet_answer(question.id, plan.step_ms, gather(points, plan));
  }
  TRY(const auto device, store_->find_device(question.device));
  if (!device) {
    return not_found("no update of a device '" + question.device + "' was ever judged");
  }
  TRY(const auto points, store_->device(*device, plan.level, from, to));
  return device_answer(question.id, plan.step_ms, gather(points, plan));
}

std::int64_t HistoryThread::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch()).count();
}

}  // namespace aflguard::gateway
