#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace aflguard::view {

/// Values over time, oldest first, at most `capacity` of them: the oldest make room.
class TimeSeries final {
 public:
  using Time = std::chrono::system_clock::time_point;

  explicit TimeSeries(std::size_t capacity) : capacity_(capacity) {}

  /// A value of now. One that is not newer than the newest replaces it: clocks are set back.
  void add(Time time, double value);
  /// What was before this series began. Points that are not older than its first one are left out.
  void prepend(std::vector<std::pair<Time, double>> older);

  /// The means of `columns` equal parts of [from, to); none where a part has no value.
  [[nodiscard]] std::vector<std::optional<double>> means(Time from, Time to, std::size_t columns) const;
  [[nodiscard]] std::optional<double> latest() const;
  [[nodiscard]] std::size_t size() const { return points_.size(); }

 private:
  std::size_t capacity_;
  std::deque<std::pair<Time, double>> points_;
};

}  // namespace aflguard::view
