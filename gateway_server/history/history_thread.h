#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/telemetry/history_question.h"
#include "gateway_server/history/history_points.h"
#include "gateway_server/history/history_store.h"

namespace aflguard::gateway {

/// Keeps the history and answers questions about it, on a separate thread: what is too much is dropped, what
/// fails is logged once, and nothing waits for it.
class HistoryThread final {
 public:
  /// A message for tell/<viewer>/history.
  using Answer = std::function<void(const std::string& viewer, std::string json)>;

  /// `clock` and `log` are borrowed. `answer` is called on this object's thread.
  HistoryThread(std::unique_ptr<HistoryStore> store, std::filesystem::path folder, Answer answer,
                const Clock& clock, LogSink& log);
  ~HistoryThread();

  /// From any thread; never waits.
  void add(HistoryBatch batch) { (void)queue_.push(Input(std::move(batch))); }
  void ask(std::string viewer, Bytes payload);
  /// Writes what has not been written yet, and ends.
  void stop();

 private:
  struct Question {
    std::string viewer;
    Bytes payload;
  };
  using Input = std::variant<HistoryBatch, Question>;
  using Time = std::chrono::steady_clock::time_point;

  void run();
  void handle(HistoryBatch batch);
  void handle(const Question& question);
  [[nodiscard]] bool may_ask(const std::string& viewer);
  [[nodiscard]] Result<std::vector<std::string>> answer(const HistoryQuestion& question);
  void write();
  void note(const Status& status);
  [[nodiscard]] std::int64_t now_ms() const;

  std::unique_ptr<HistoryStore> store_;
  const std::filesystem::path folder_;
  const Answer answer_;
  const Clock& clock_;
  LogSink& log_;
  BoundedQueue<Input> queue_;
  std::deque<HistoryBatch> unwritten_;
  Time written_{};
  bool failing_ = false;
  std::map<std::string, std::deque<Time>> asked_;  ///< when, by viewer, within the last seconds
  std::thread thread_;
};

}  // namespace aflguard::gateway
