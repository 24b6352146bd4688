#include "fleet/view/time_series.h"

#include <algorithm>

namespace aflguard::view {

void TimeSeries::add(Time time, double value) {
  while (!points_.empty() && points_.back().first >= time) points_.pop_back();
  points_.emplace_back(time, value);
  if (points_.size() > capacity_) points_.pop_front();
}

void TimeSeries::prepend(std::vector<std::pair<Time, double>> older) {
  std::sort(older.begin(), older.end());
  for (auto point = older.rbegin(); point != older.rend() && points_.size() < capacity_; ++point) {
    if (points_.empty() || point->first < points_.front().first) points_.push_front(*point);
  }
}

std::vector<std::optional<double>> TimeSeries::means(Time from, Time to, std::size_t columns) const {
  std::vector<std::optional<double>> result(columns);
  if (columns == 0 || to <= from) return result;
  std::vector<std::size_t> counts(columns, 0);
  const auto first = std::lower_bound(points_.begin(), points_.end(), std::pair(from, 0.0),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  const double span = std::chrono::duration<double>(to - from).count();
  for (auto point = first; point != points_.end() && point->first < to; ++point) {
    const double place = std::chrono::duration<double>(point->first - from).count() / span;
    const auto column = std::min(static_cast<std::size_t>(place * static_cast<double>(columns)), columns - 1);
    const auto count = static_cast<double>(counts[column]++);
    result[column] = (result[column].value_or(0) * count + point->second) / (count + 1);
  }
  return result;
}

std::optional<double> TimeSeries::latest() const {
  if (points_.empty()) return std::nullopt;
  return points_.back().second;
}

}  // namespace aflguard::view
