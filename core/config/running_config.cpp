#include "core/config/running_config.h"

namespace aflguard {
namespace {

std::string list(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

std::string ConfigChanges::text() const {
  if (live.empty() && after_restart.empty()) return "settings read again: nothing has changed";
  std::string text = "settings read again: ";
  if (!live.empty()) text += "in force now: " + list(live);
  if (!live.empty() && !after_restart.empty()) text += "; ";
  if (!after_restart.empty()) text += "in force after a restart: " + list(after_restart);
  return text;
}

ConfigChanges RunningConfig::follow(const ConfigFile& file) {
  const auto fresh = file.values();
  std::set<std::string> changed;
  for (const auto& [key, value] : fresh) {
    const auto known = values_.find(key);
    if (known == values_.end() || known->second != value) changed.insert(key);
  }
  for (const auto& [key, value] : values_) {
    if (!fresh.contains(key)) changed.insert(key);
  }
  ConfigChanges changes;
  for (const std::string& key : changed) {
    if (!is_live(key)) {
      changes.after_restart.push_back(key);
      continue;
    }
    changes.live.push_back(key);
    if (const auto found = fresh.find(key); found != fresh.end()) {
      values_[key] = found->second;
    } else {
      values_.erase(key);
    }
  }
  return changes;
}

bool RunningConfig::is_live(const std::string& key) const {
  return live_.contains(key) || live_.contains(key.substr(0, key.find(' ')));
}

}  // namespace aflguard
