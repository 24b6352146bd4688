#include "core/config/config_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "core/base/nearest_name.h"
#include "core/config/config_value.h"
#include "core/config/toml_document.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxConfigBytes = 1u << 20;
constexpr std::size_t kShownText = 60;

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", number);
  return text.data();
}

/// The value as it appears in messages.
std::string shown(const ConfigValue& value) {
  struct Show {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return std::to_string(n); }
    std::string operator()(double n) const { return number_text(n); }
    std::string operator()(const std::string& text) const {
      return "\"" + text.substr(0, kShownText) + (text.size() > kShownText ? "...\"" : "\"");
    }
    std::string operator()(const ConfigValue::Array&) const { return "a list"; }
    std::string operator()(const ConfigValue::Table&) const { return "a section"; }
    std::string operator()(const ConfigValue::Other& other) const { return other.kind; }
  };
  return std::visit(Show{}, value.value);
}

/// The whole value, so that two of them can be compared.
std::string value_text(const ConfigValue& value) {
  struct Write {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const {
      const auto number = static_cast<double>(n);  // 1 and 1.0 are one value
      return std::abs(number) < 1e15 ? (*this)(number) : std::to_string(n);
    }
    std::string operator()(double n) const {
      std::array<char, 40> text{};
      std::snprintf(text.data(), text.size(), "%.17g", n);
      return text.data();
    }
    std::string operator()(const std::string& text) const { return "\"" + text + "\""; }
    std::string operator()(const ConfigValue::Array& array) const {
      std::string text = "[";
      for (const ConfigValue& entry : array) text += value_text(entry) + ",";
      return text + "]";
    }
    std::string operator()(const ConfigValue::Table& table) const {
      std::string text = "{";
      for (const auto& [key, entry] : table) text += key + "=" + value_text(entry) + ",";
      return text + "}";
    }
    std::string operator()(const ConfigValue::Other& other) const { return other.kind; }
  };
  return std::visit(Write{}, value.value);
}

std::string section_text(const std::string& section) {
  return section.empty() ? "" : "[" + section + "] ";
}

}  // namespace

struct ConfigFile::State {
  struct Problem {
    std::size_t line = 0;
    std::string text;
  };

  fs::path path;
  ConfigValue document;
  std::map<std::size_t, fs::path> laid_over;  ///< files by ConfigValue::layer
  /// Section -> its keys that were asked for. Sections of names that are free are not in here.
  std::map<std::string, std::set<std::string>> known;
  std::vector<Problem> problems;

  [[nodiscard]] const ConfigValue* find(const std::string& section, const std::string& key) const {
    const ConfigValue::Table* table = document.as_table();
    if (!section.empty()) {
      const auto found = table->find(section);
      table = found == table->end() ? nullptr : found->second.as_table();
    }
    if (table == nullptr) return nullptr;
    const auto found = table->find(key);
    return found == table->end() ? nullptr : &found->second;
  }

  /// Of a value, or of one that is missing (null).
  void add(const ConfigValue* value, const std::string& text) {
    problems.push_back({value == nullptr ? 0 : value->line, place_of(value) + text});
  }
  /// "FILE:LINE: ".
  [[nodiscard]] std::string place_of(const ConfigValue* value) const {
    if (value == nullptr || value->line == 0) return path.string() + ": ";
    const auto upper = laid_over.find(value->layer);
    const fs::path& file = upper == laid_over.end() ? path : upper->second;
    return file.string() + ":" + std::to_string(value->line) + ": ";
  }

  [[nodiscard]] std::vector<Problem> unknown_keys() const;
  [[nodiscard]] Problem unknown(const std::string& section, const std::string& key,
                                const ConfigValue& value) const;
};

ConfigFile::State::Problem ConfigFile::State::unknown(const std::string& section, const std::string& key,
                                                      const ConfigValue& value) const {
  const bool is_section = section.empty() && value.as_table() != nullptr;
  std::vector<std::string_view> names;
  if (const auto found = known.find(section); found != known.end()) {
    names.assign(found->second.begin(), found->second.end());
  }
  std::string text = is_section ? "unknown section [" + key + "]" : "unknown key '" + key + "'";
  if (!section.empty()) text += " in [" + section + "]";
  if (const std::string_view near = nearest_name(key, names); !near.empty()) {
    text += is_section ? "; did you mean [" + std::string(near) + "]?"
                       : "; did you mean '" + std::string(near) + "'?";
  } else if (!names.empty()) {
    text += " (known:";
    for (const std::string_view name : names) text += " " + std::string(name);
    text += ")";
  }
  return {value.line, place_of(&value) + text};
}

std::vector<ConfigFile::State::Problem> ConfigFile::State::unknown_keys() const {
  std::vector<Problem> found;
  const auto look = [&](const std::string& section, const ConfigValue::Table& table) {
    const auto keys = known.find(section);
    for (const auto& [key, value] : table) {
      if (keys == known.end() || !keys->second.contains(key)) found.push_back(unknown(section, key, value));
    }
  };
  look("", *document.as_table());
  for (const auto& [section, keys] : known) {
    if (section.empty()) continue;
    const ConfigValue* value = find("", section);
    if (value != nullptr && value->as_table() != nullptr) look(section, *value->as_table());
  }
  return found;
}

Result<ConfigFile> ConfigFile::read(const fs::path& path) {
  TRY(const std::string text, read_text_file(path, kMaxConfigBytes));
  return parse(text, path);
}

Result<ConfigFile> ConfigFile::parse(std::string_view text, const fs::path& path) {
  TRY(ConfigValue document, parse_toml(text, path.string()));
  auto state = std::make_shared<State>();
  state->path = path;
  state->document = std::move(document);
  return ConfigFile(std::move(state));
}

void ConfigFile::lay_over(const ConfigFile& upper) {
  const std::size_t layer = state_->laid_over.size() + 1;
  state_->laid_over.emplace(layer, upper.path());
  auto& sections = std::get<ConfigValue::Table>(state_->document.value);
  const auto put = [layer](ConfigValue::Table& table, const std::string& key, ConfigValue value) {
    value.layer = layer;
    table.insert_or_assign(key, std::move(value));
  };
  for (const auto& [name, value] : *upper.state_->document.as_table()) {
    const auto below = sections.find(name);
    auto* section = below == sections.end() ? nullptr : std::get_if<ConfigValue::Table>(&below->second.value);
    if (section == nullptr || value.as_table() == nullptr) {
      put(sections, name, value);
      auto* added = std::get_if<ConfigValue::Table>(&sections.at(name).value);
      if (added == nullptr) continue;
      for (auto& [key, entry] : *added) entry.layer = layer;
      continue;
    }
    for (const auto& [key, entry] : *value.as_table()) put(*section, key, entry);
  }
}

std::map<std::string, std::string> ConfigFile::values() const {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : *state_->document.as_table()) {
    const ConfigValue::Table* section = value.as_table();
    if (section == nullptr) {
      all.emplace(name, value_text(value));
      continue;
    }
    for (const auto& [key, entry] : *section) all.emplace("[" + name + "] " + key, value_text(entry));
  }
  return all;
}

ConfigTable ConfigFile::root() {
  return {state_, ""};
}

ConfigTable ConfigFile::table(const std::string& name) {
  const bool is_new = state_->known[""].insert(name).second;
  state_->known[name];
  const ConfigValue* value = state_->find("", name);
  if (is_new && value != nullptr && value->as_table() == nullptr) {
    state_->add(value, name + " is " + shown(*value) + ", must be a section [" + name + "]");
  }
  return {state_, name};
}

std::optional<ConfigTable> ConfigFile::optional_table(const std::string& name) {
  ConfigTable section = table(name);
  if (state_->find("", name) == nullptr) return std::nullopt;
  return section;
}

std::vector<std::string> ConfigFile::problems() const {
  std::vector<State::Problem> all = state_->problems;
  for (auto& problem : state_->unknown_keys()) all.push_back(std::move(problem));
  // A missing key has no line and comes last: often a misspelt key is the reason.
  std::stable_sort(all.begin(), all.end(), [](const State::Problem& a, const State::Problem& b) {
    return a.line - 1 < b.line - 1;  // line 0 wraps around to the end
  });
  std::vector<std::string> texts;
  for (auto& problem : all) texts.push_back(std::move(problem.text));
  return texts;
}

Status ConfigFile::finish() const {
  const auto found = problems();
  if (found.empty()) return {};
  if (found.size() == 1) return invalid_input(found.front());
  return invalid_input(found.front() + " (and " + std::to_string(found.size() - 1) + " more)");
}

std::vector<std::pair<std::string, std::string>> ConfigFile::known_keys() const {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const auto& [section, names] : state_->known) {
    for (const std::string& name : names) {
      if (!section.empty() || !state_->known.contains(name)) keys.emplace_back(section, name);
    }
  }
  return keys;
}

const fs::path& ConfigFile::path() const {
  return state_->path;
}

template <typename T>
std::optional<T> ConfigTable::find(const std::string& key, std::string_view kind) {
  file_->known[name_].insert(key);
  const ConfigValue* value = file_->find(name_, key);
  if (value == nullptr) return std::nullopt;
  if (const T* typed = std::get_if<T>(&value->value)) return *typed;
  problem(key, "is " + shown(*value) + ", must be " + std::string(kind));
  return std::nullopt;
}

template <typename T>
std::optional<T> ConfigTable::require(std::optional<T> found, const std::string& key) {
  if (file_->find(name_, key) == nullptr) {
    file_->known[name_].insert(key);
    file_->add(nullptr, section_text(name_) + key + " is missing");
  }
  return found;
}

std::optional<std::string> ConfigTable::find_text(const std::string& key) {
  auto text = find<std::string>(key, "a text in quotes");
  if (text && text->empty()) {
    problem(key, "is empty");
    return std::nullopt;
  }
  return text;
}

std::string ConfigTable::text(const std::string& key) {
  return require(find_text(key), key).value_or("");
}
std::string ConfigTable::text_or(const std::string& key, std::string default_value) {
  return find_text(key).value_or(std::move(default_value));
}

std::optional<std::string> ConfigTable::find_choice(const std::string& key,
                                                    std::initializer_list<std::string_view> words) {
  auto text = find_text(key);
  if (!text || std::find(words.begin(), words.end(), *text) != words.end()) return text;
  std::string message = "is \"" + *text + "\", must be one of:";
  for (const std::string_view word : words) message += " \"" + std::string(word) + "\"";
  problem(key, message);
  return std::nullopt;
}

std::string ConfigTable::choice(const std::string& key, std::initializer_list<std::string_view> words) {
  return require(find_choice(key, words), key).value_or(std::string(*words.begin()));
}
std::string ConfigTable::choice_or(const std::string& key, std::string_view default_value,
                                   std::initializer_list<std::string_view> words) {
  return find_choice(key, words).value_or(std::string(default_value));
}

std::optional<double> ConfigTable::find_number(const std::string& key, double low, double high) {
  file_->known[name_].insert(key);
  const ConfigValue* value = file_->find(name_, key);
  if (value == nullptr) return std::nullopt;
  const auto* whole = std::get_if<std::int64_t>(&value->value);
  const auto found = whole != nullptr ? static_cast<double>(*whole) : find<double>(key, "a number");
  if (!found) return std::nullopt;
  if (*found >= low && *found <= high) return found;  // so that NaN is outside
  problem(key, "is " + shown(*value) + ", must be " + number_text(low) + " to " + number_text(high));
  return std::nullopt;
}

double ConfigTable::number(const std::string& key, double low, double high) {
  return require(find_number(key, low, high), key).value_or(low);
}
double ConfigTable::number_or(const std::string& key, double default_value, double low, double high) {
  return find_number(key, low, high).value_or(default_value);
}

std::optional<std::int64_t> ConfigTable::find_integer(const std::string& key, std::int64_t low,
                                                      std::int64_t high) {
  const auto found = find<std::int64_t>(key, "a whole number");
  if (!found || (*found >= low && *found <= high)) return found;
  problem(key, "is " + std::to_string(*found) + ", must be " + std::to_string(low) + " to " +
                   std::to_string(high));
  return std::nullopt;
}

std::int64_t ConfigTable::integer(const std::string& key, std::int64_t low, std::int64_t high) {
  return require(find_integer(key, low, high), key).value_or(low);
}
std::int64_t ConfigTable::integer_or(const std::string& key, std::int64_t default_value, std::int64_t low,
                                     std::int64_t high) {
  return find_integer(key, low, high).value_or(default_value);
}
std::optional<std::int64_t> ConfigTable::optional_integer(const std::string& key, std::int64_t low,
                                                          std::int64_t high) {
  return find_integer(key, low, high);
}

bool ConfigTable::boolean_or(const std::string& key, bool default_value) {
  return find<bool>(key, "true or false").value_or(default_value);
}

std::optional<fs::path> ConfigTable::optional_path(const std::string& key) {
  const auto text = find_text(key);
  if (!text) return std::nullopt;
  return (file_->path.parent_path() / *text).lexically_normal();
}
fs::path ConfigTable::path(const std::string& key) {
  return require(optional_path(key), key).value_or(fs::path());
}
fs::path ConfigTable::path_or(const std::string& key, const fs::path& default_value) {
  if (auto found = optional_path(key)) return *found;
  return (file_->path.parent_path() / default_value).lexically_normal();
}

std::vector<std::string> ConfigTable::texts_or(const std::string& key,
                                               std::vector<std::string> default_value) {
  const auto items = find<ConfigValue::Array>(key, "a list of texts");
  if (!items) return default_value;
  std::vector<std::string> texts;
  for (const ConfigValue& item : *items) {
    if (const auto* text = std::get_if<std::string>(&item.value)) {
      texts.push_back(*text);
    } else {
      problem(key, "holds " + shown(item) + ", must be a list of texts");
    }
  }
  return texts;
}

std::vector<std::string> ConfigTable::names(const std::string& key) {
  const auto items = find<ConfigValue::Array>(key, "a list of names");
  std::vector<std::string> names;
  for (const ConfigValue& item : items.value_or(ConfigValue::Array{})) {
    if (const auto* text = std::get_if<std::string>(&item.value)) {
      names.push_back(*text);
    } else if (const auto* number = std::get_if<std::int64_t>(&item.value)) {
      names.push_back(std::to_string(*number));
    } else {
      problem(key, "holds " + shown(item) + ", must be a list of names or numbers");
    }
  }
  return names;
}

OptionValues ConfigTable::numbers(const std::string& key) {
  OptionValues values;
  const auto table = find<ConfigValue::Table>(key, "a section of numbers");
  if (!table) return values;
  for (const auto& [name, value] : *table) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
      values[name] = static_cast<double>(*whole);
    } else if (const auto* number = std::get_if<double>(&value.value)) {
      values[name] = *number;
    } else {
      file_->add(&value,
                 "[" + name_ + "." + key + "] " + name + " is " + shown(value) + ", must be a number");
    }
  }
  return values;
}

bool ConfigTable::has(const std::string& key) const {
  return file_->find(name_, key) != nullptr;
}

bool ConfigTable::holds_integer(const std::string& key) const {
  const ConfigValue* value = file_->find(name_, key);
  return value != nullptr && std::holds_alternative<std::int64_t>(value->value);
}

void ConfigTable::report(const std::string& key, const std::string& why) {
  file_->known[name_].insert(key);
  if (has(key)) problem(key, why);
}

void ConfigTable::problem(const std::string& key, const std::string& message) {
  const ConfigValue* value = file_->find(name_, key);
  file_->add(value, section_text(name_) + key + " " + message);
}

LogLevel read_log_level(ConfigTable log) {
  const std::string level = log.choice_or("level", "info", {"debug", "info", "warning", "error"});
  if (level == "debug") return LogLevel::kDebug;
  if (level == "warning") return LogLevel::kWarning;
  return level == "error" ? LogLevel::kError : LogLevel::kInfo;
}

}  // namespace aflguard
