#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace aflguard::gateway {

/// Which problems there are, and which of them were told: each once, and once that it is over. One that ends
/// before it was told is not told at all. So many messages go in an hour; what is due beyond that waits, so
/// that no problem is left out that lasts. A state machine without a clock; one thread.
class AlertBook final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit AlertBook(double per_hour) : per_hour_(per_hour), tokens_(per_hour) {}

  /// There is a problem, since `now` if it is new; it is told when it has lasted so long. `device` is
  /// empty where none is meant.
  void set(std::string_view kind, std::string_view device, std::string text, Time now,
           std::chrono::steady_clock::duration lasting = {});
  void clear(std::string_view kind, std::string_view device);
  /// The device has left the fleet: nothing more is told of it.
  void forget(std::string_view device);

  struct Told {
    std::string kind;
    std::string device;
    std::string text;
    bool over = false;
  };
  /// The next message that is due and may go; it counts as told.
  [[nodiscard]] std::optional<Told> next(Time now);

 private:
  static constexpr std::size_t kMostProblems = 10'000;
  struct Problem {
    std::string text;
    Time due{};
    bool told = false;
    bool over = false;
  };
  [[nodiscard]] bool take_token(Time now);

  double per_hour_;
  double tokens_;
  Time refilled_{};
  std::map<std::pair<std::string, std::string>, Problem> problems_;  ///< by kind and device
};

}  // namespace aflguard::gateway
