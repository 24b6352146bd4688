#include "gateway_server/history/fleet_history.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMaxAnswers = 512;  // messages that wait to be sent
constexpr std::size_t kMaxAnswerBytes = 2u << 20;

}  // namespace

FleetHistory::FleetHistory(std::unique_ptr<HistoryStore> store, std::filesystem::path folder,
                           std::function<void()> wake, const Clock& clock, LogSink& log)
    : clock_(clock),
      answers_(kMaxAnswers, kMaxAnswerBytes),
      wake_(std::move(wake)),
      thread_(
          std::move(store), std::move(folder),
          [this](const std::string& viewer, std::string json) {
            const std::size_t size = json.size();
            if (answers_.push({viewer, std::move(json)}, size)) wake_();
          },
          clock, log) {}

void FleetHistory::close_step(const Totals& totals) {
  const auto wall =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch()).count();
  if (auto batch = collector_.close_step(wall, totals)) thread_.add(std::move(*batch));
}

void FleetHistory::stop(const Totals& totals) {
  if (auto batch = collector_.close_now(totals)) thread_.add(std::move(*batch));
  thread_.stop();
}

}  // namespace aflguard::gateway
