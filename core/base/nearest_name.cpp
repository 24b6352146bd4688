#include "core/base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace aflguard {
namespace {

/// Insertions, deletions and replacements that turn `a` into `b`.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t fewest = std::max<std::size_t>(2, wrong.size() / 2) + 1;
  for (const std::string_view name : names) {
    if (const std::size_t count = edits(wrong, name); count < fewest) {
      fewest = count;
      best = name;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string_view> names) {
  std::string text = "unknown " + std::string(what) + " '" + std::string(wrong) + "'";
  if (const std::string_view near = nearest_name(wrong, names); !near.empty()) {
    text += "; did you mean '" + std::string(near) + "'?";
  }
  if (names.empty()) return text + "; there are none";
  text += " (known:";
  for (const std::string_view name : names) text += " " + std::string(name);
  return text + ")";
}

}  // namespace aflguard
