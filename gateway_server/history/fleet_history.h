#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/bounded_queue.h"
#include "gateway_server/history/history_collector.h"
#include "gateway_server/history/history_thread.h"

namespace aflguard::gateway {

/// The fleet's past: verdicts in, steps into the store, questions in, answers out. One thread uses it;
/// writing and answering happen on another one.
class FleetHistory final {
 public:
  using Totals = HistoryCollector::Totals;
  /// One message for tell/<viewer>/history.
  struct Answer {
    std::string viewer;
    std::string json;
  };

  /// `folder` holds the store. `wake` is called on another thread when an answer is there. `clock` and `log`
  /// are borrowed.
  FleetHistory(std::unique_ptr<HistoryStore> store, std::filesystem::path folder, std::function<void()> wake,
               const Clock& clock, LogSink& log);

  void add(const JudgedUpdate& update) { collector_.add(update); }
  /// Hands the running step to the store, when the wall clock has entered another one.
  void close_step(const Totals& totals);
  void ask(std::string viewer, Bytes question) { thread_.ask(std::move(viewer), std::move(question)); }
  /// The oldest answer, if there is one. What is not taken is dropped above a bound.
  [[nodiscard]] std::optional<Answer> next_answer() { return answers_.try_pop(); }
  /// Writes everything up to now, the running step too, and ends.
  void stop(const Totals& totals);

 private:
  const Clock& clock_;
  HistoryCollector collector_;
  BoundedQueue<Answer> answers_;
  const std::function<void()> wake_;
  HistoryThread thread_;
};

}  // namespace aflguard::gateway
