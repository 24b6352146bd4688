#include "fleet/monitor/monitor_run.h"

#include <algorithm>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

#include "fleet/monitor/key_decoder.h"
#include "fleet/monitor/monitor_screen.h"
#include "fleet/monitor/screen_signals.h"
#include "fleet/monitor/terminal_screen.h"
#include "fleet/view/fleet_watch.h"
#include "fleet/view/state_document.h"
#include "fleet/view/state_lines.h"

namespace aflguard::view {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr milliseconds kScreenInterval{500};
constexpr milliseconds kLineInterval{5000};
/// How often messages are taken in while no key is pressed.
constexpr milliseconds kPollInterval{100};
/// A lone Escape is a key when nothing has followed for this long.
constexpr milliseconds kEscapeWait{40};
constexpr std::chrono::seconds kConnectTimeout{30};
/// When the broker has sent nothing more of what it keeps for this long, that was all.
constexpr milliseconds kQuiet{1500};
constexpr std::chrono::seconds kLongestSnapshot{60};

milliseconds interval_of(const MonitorOptions& options, milliseconds default_value) {
  if (!options.interval) return default_value;
  return milliseconds(static_cast<std::int64_t>(*options.interval * 1000));
}

ConnectionNotice notice_of(const FleetWatch& watch, const fleet::ViewerIdentity& identity) {
  if (watch.taken_over()) {
    return {"another viewer connected as '" + identity.name +
                "': t takes it back; aflguard fleet viewer add NAME makes one more identity",
            true};
  }
  if (watch.connected()) return {};
  if (watch.problem().empty()) {
    return {"connecting to " + identity.host + ":" + std::to_string(identity.port) + " ...", false};
  }
  return {"not connected, trying again: " + watch.problem(), true};
}

/// The live screen.
class ScreenLoop final {
 public:
  ScreenLoop(FleetWatch& watch, const fleet::ViewerIdentity& identity, const ScreenSignals& signals,
             TerminalScreen& terminal, milliseconds interval)
      : watch_(watch),
        identity_(identity),
        signals_(signals),
        terminal_(terminal),
        screen_(terminal.glyphs()),
        interval_(interval) {}

  Status run() {
    while (!quit_) {
      if (Steady::now() >= next_) TRY_STATUS(draw());
      wait();
      watch_.listen({});
      take_signals();
      TRY_STATUS(take_keys());
    }
    return {};
  }

 private:
  [[nodiscard]] const FleetState& shown() const { return frozen_ ? *frozen_ : watch_.picture(); }

  Status draw() {
    next_ = Steady::now() + interval_;
    const auto now = screen_.paused() ? frozen_at_ : system_clock::now();
    if (!terminal_.show(screen_.render(shown(), terminal_.size(), now, notice_of(watch_, identity_)))) {
      quit_ = true;
    }
    return {};
  }

  void wait() const {
    pollfd waiting[] = {{signals_.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(next_ - Steady::now());
    const auto limit = keys_.pending() ? std::min(kPollInterval, kEscapeWait) : kPollInterval;
    (void)::poll(waiting, terminal_.has_keys() ? 2 : 1,
                 static_cast<int>(std::clamp(left, milliseconds(0), limit).count()));
  }

  void take_signals() {
    while (const auto signal = signals_.next()) {
      if (*signal == SIGWINCH) {
        next_ = {};
      } else if (*signal == SIGTSTP) {
        terminal_.leave();
        ::raise(SIGSTOP);  // here the shell has the terminal; the next line runs after `fg`
        terminal_.enter();
        next_ = {};
      } else if (*signal == SIGCONT) {
        next_ = {};
      } else {
        quit_ = true;
      }
    }
  }

  Status take_keys() {
    if (!terminal_.has_keys()) return {};
    const auto bytes = terminal_.read_keys();
    if (!bytes) {
      quit_ = true;  // the terminal is gone
      return {};
    }
    std::vector<Key> keys = keys_.feed(*bytes);
    if (bytes->empty() && keys_.pending()) keys = keys_.flush();
    for (const Key& key : keys) TRY_STATUS(take_key(key));
    return {};
  }

  Status take_key(const Key& key) {
    next_ = {};  // an answer at once
    const bool was_paused = screen_.paused();
    switch (screen_.press(key, shown(), system_clock::now())) {
      case MonitorScreen::Wish::kQuit:
        quit_ = true;
        break;
      case MonitorScreen::Wish::kTakeBack:
        if (watch_.taken_over()) TRY_STATUS(watch_.take_back());
        break;
      case MonitorScreen::Wish::kDeviceHistory:
        watch_.ask_device(screen_.device());
        break;
      case MonitorScreen::Wish::kNothing:
        break;
    }
    if (screen_.paused() && !was_paused) {
      frozen_ = watch_.picture();
      frozen_at_ = system_clock::now();
    }
    if (!screen_.paused()) frozen_.reset();
    return {};
  }

  FleetWatch& watch_;
  const fleet::ViewerIdentity& identity_;
  const ScreenSignals& signals_;
  TerminalScreen& terminal_;
  MonitorScreen screen_;
  KeyDecoder keys_;
  milliseconds interval_;
  Steady::time_point next_{};
  std::optional<FleetState> frozen_;
  system_clock::time_point frozen_at_{};
  bool quit_ = false;
};

/// Events as they come, and a summary every interval.
Status run_lines(FleetWatch& watch, const fleet::ViewerIdentity& identity, const ScreenSignals& signals,
                 milliseconds interval) {
  std::uint64_t printed = 0;
  std::string told;
  auto next = Steady::now() + interval;
  while (true) {
    watch.listen(std::min(next, Steady::now() + kPollInterval));
    while (const auto signal = signals.next()) {
      if (*signal == SIGTSTP) {
        ::raise(SIGSTOP);
      } else if (*signal != SIGWINCH && *signal != SIGCONT) {
        return {};
      }
    }
    const std::string problem = watch.connected() ? std::string() : watch.problem();
    if (problem != told && !problem.empty()) {
      std::fprintf(stderr, "aflguard: %s\n", notice_of(watch, identity).text.c_str());
    }
    told = problem;
    if (watch.taken_over()) {
      return unavailable("another viewer connected as '" + identity.name +
                         "'; aflguard fleet viewer add NAME makes one more identity");
    }
    const auto& events = watch.picture().events();
    const auto unseen = std::min<std::uint64_t>(watch.picture().event_count() - printed, events.size());
    printed = watch.picture().event_count();
    for (auto event = events.end() - static_cast<std::ptrdiff_t>(unseen); event != events.end(); ++event) {
      std::printf("%s\n", event_line(*event).c_str());
    }
    if (Steady::now() >= next) {
      next = Steady::now() + interval;
      if (watch.was_connected()) {
        std::printf("%s\n", summary_line(watch.picture(), system_clock::now()).c_str());
      }
    }
    if (std::fflush(stdout) != 0) return {};  // the reader has gone
  }
}

/// Returns when everything that the broker keeps for us is here. The gateway's answer comes behind all of it;
/// where there is none, silence tells.
Status wait_for_snapshot(FleetWatch& watch, const fleet::ViewerIdentity& identity) {
  const auto start = Steady::now();
  while (!watch.was_connected()) {
    watch.listen(Steady::now() + kPollInterval);
    // Both versions of the protocol had their turn.
    if (watch.failures() >= 2 || Steady::now() - start > kConnectTimeout) {
      return unavailable(watch.problem().empty()
                             ? identity.host + ":" + std::to_string(identity.port) + " does not answer"
                             : watch.problem());
    }
  }
  const auto connected = Steady::now();
  while (watch.picture().answers() == 0 && Steady::now() - watch.last_retained() < kQuiet &&
         Steady::now() - connected < kLongestSnapshot && !watch.taken_over()) {
    watch.listen(Steady::now() + kPollInterval);
  }
  return {};
}

}  // namespace

Status run_monitor(const MonitorOptions& options, const BusFactory& connect) {
  if (options.once) return print_status(options, connect);
  TRY(const auto signals, ScreenSignals::install());
  TRY(const ViewerLease viewer, ViewerLease::choose(options.viewer, ViewerUse::kScreen));
  TRY(const auto watch, FleetWatch::start(viewer.identity(), connect));
  if (!can_draw()) {
    return run_lines(*watch, viewer.identity(), *signals, interval_of(options, kLineInterval));
  }
  TRY(const auto terminal, TerminalScreen::open());
  return ScreenLoop(*watch, viewer.identity(), *signals, *terminal, interval_of(options, kScreenInterval))
      .run();
}

Status print_status(const MonitorOptions& options, const BusFactory& connect) {
  TRY(const ViewerLease viewer, ViewerLease::choose(options.viewer, ViewerUse::kShortLook));
  TRY(const auto watch, FleetWatch::start(viewer.identity(), connect));
  TRY_STATUS(wait_for_snapshot(*watch, viewer.identity()));
  const auto now = system_clock::now();
  if (options.json) {
    std::printf("%s\n", picture_document(watch->picture(), now).c_str());
    return {};
  }
  for (const std::string& line : status_lines(watch->picture(), now)) std::printf("%s\n", line.c_str());
  return {};
}

}  // namespace aflguard::view
