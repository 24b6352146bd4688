#include "gateway_server/alerts/alert_sender.h"

#include "core/system/process.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMostWaiting = 64;
constexpr std::chrono::seconds kTimeout(10);

}  // namespace

AlertSender::AlertSender(AlertWays ways, LogSink& log)
    : ways_(std::move(ways)), log_(log), queue_(kMostWaiting, SIZE_MAX), thread_([this] { run(); }) {}

/// What waits is sent first, until one of them fails.
AlertSender::~AlertSender() {
  stopping_ = true;
  queue_.close();
  thread_.join();
}

bool AlertSender::send(FleetAlert alert) {
  return queue_.push(std::move(alert));
}

void AlertSender::run() {
  while (const auto alert = queue_.pop_until(std::chrono::steady_clock::time_point::max())) {
    const Status handed = hand_on(*alert);
    if (handed.ok()) continue;
    log_.error("[alerts] " + handed.error().message);
    if (stopping_) return;
  }
}

/// Both ways, whatever becomes of the first.
Status AlertSender::hand_on(const FleetAlert& alert) const {
  const Status told = ways_.command.empty() ? Status() : run_command(alert);
  if (ways_.webhook) {
    if (const Status posted = post_json(*ways_.webhook, to_json(alert), kTimeout); !posted.ok()) {
      return at("webhook", posted.error());
    }
  }
  return told.ok() ? told : at("command", told.error());
}

Status AlertSender::run_command(const FleetAlert& alert) const {
  ProcessOptions options;
  options.arguments = ways_.command;
  options.environment = {{"AFLGUARD_ALERT_FLEET", alert.fleet},
                         {"AFLGUARD_ALERT_KIND", alert.kind},
                         {"AFLGUARD_ALERT_STATE", alert.over ? "over" : "problem"},
                         {"AFLGUARD_ALERT_DEVICE", alert.device},
                         {"AFLGUARD_ALERT_TEXT", alert.text},
                         {"AFLGUARD_ALERT_JSON", to_json(alert)}};
  options.group = ProcessGroup::kOwn;
  TRY(Process process, Process::start(options));
  const std::string name = "'" + ways_.command.front() + "'";
  const auto end = process.wait_for(kTimeout);
  if (!end) {
    (void)process.kill();
    return unavailable(name + " did not end within " + std::to_string(kTimeout.count()) + " s");
  }
  if (end->shell_code() == 0) return {};
  return unavailable(name + " ended with exit code " + std::to_string(end->shell_code()));
}

}  // namespace aflguard::gateway
