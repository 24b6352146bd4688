#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/base/named_options.h"
#include "core/base/result.h"

namespace aflguard {

class ConfigTable;

/// A configuration file in TOML. Asking for a key makes it known; a wrong value is noted as a problem, and
/// the call returns a usable one. finish() then reports every problem, and every key and section that was not
/// asked for.
///
///   TRY(auto file, ConfigFile::read(path));
///   auto broker = file.table("broker");
///   options.host = broker.text("host");
///   options.port = static_cast<std::uint16_t>(broker.integer_or("port", 8883, 1, 65535));
///   TRY_STATUS(file.finish());
class ConfigFile final {
 public:
  /// kNotFound, kIo, or kInvalidInput with file and line when it is not TOML.
  [[nodiscard]] static Result<ConfigFile> read(const std::filesystem::path& path);
  /// The same for a text; `path` is what errors name and what relative paths stand beside.
  [[nodiscard]] static Result<ConfigFile> parse(std::string_view text, const std::filesystem::path& path);

  /// Every key of `upper` takes the place of this file's. Errors name the file that a value stands in; paths
  /// stand beside this one.
  void lay_over(const ConfigFile& upper);

  /// The section [name]. Where the file has none, every key counts as missing.
  [[nodiscard]] ConfigTable table(const std::string& name);
  /// The section [name], if the file has it.
  [[nodiscard]] std::optional<ConfigTable> optional_table(const std::string& name);
  /// Keys in front of the first section.
  [[nodiscard]] ConfigTable root();

  /// kInvalidInput with the first problem in the file, and how many more there are.
  [[nodiscard]] Status finish() const;
  /// Every problem, in the order of the file, one line each.
  [[nodiscard]] std::vector<std::string> problems() const;

  /// (section, key) of everything that was asked for, e.g. to check that an example file mentions it all.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> known_keys() const;

  /// What the file has, as "[section] key" with one text for its value: equal texts are equal values.
  [[nodiscard]] std::map<std::string, std::string> values() const;

  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  friend class ConfigTable;
  struct State;
  explicit ConfigFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// One section. Cheap to copy; all copies share the file's list of known keys and problems.
/// `x(key)` requires the key, `x_or(key, default_value)` does not. After a problem they return an empty
/// value, the low end of the range, or `default_value`: use none of them before ConfigFile::finish() has
/// succeeded.
class ConfigTable final {
 public:
  /// Not empty.
  [[nodiscard]] std::string text(const std::string& key);
  [[nodiscard]] std::string text_or(const std::string& key, std::string default_value);
  /// One of a few words.
  [[nodiscard]] std::string choice(const std::string& key, std::initializer_list<std::string_view> words);
  [[nodiscard]] std::string choice_or(const std::string& key, std::string_view default_value,
                                      std::initializer_list<std::string_view> words);
  /// Within [low, high]; may be a whole number.
  [[nodiscard]] double number(const std::string& key, double low, double high);
  [[nodiscard]] double number_or(const std::string& key, double default_value, double low, double high);
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high);
  [[nodiscard]] std::int64_t integer_or(const std::string& key, std::int64_t default_value, std::int64_t low,
                                        std::int64_t high);
  [[nodiscard]] std::optional<std::int64_t> optional_integer(const std::string& key, std::int64_t low,
                                                             std::int64_t high);
  [[nodiscard]] bool boolean_or(const std::string& key, bool default_value);
  /// A relative path stands beside the configuration file.
  [[nodiscard]] std::filesystem::path path(const std::string& key);
  [[nodiscard]] std::filesystem::path path_or(const std::string& key,
                                              const std::filesystem::path& default_value);
  [[nodiscard]] std::optional<std::filesystem::path> optional_path(const std::string& key);
  /// A list of texts.
  [[nodiscard]] std::vector<std::string> texts_or(const std::string& key,
                                                  std::vector<std::string> default_value);
  /// A list of names, of which whole numbers may stand without quotes; empty when absent.
  [[nodiscard]] std::vector<std::string> names(const std::string& key);
  /// A section of names and numbers that the caller checks by itself, e.g. [guard.options]; empty when
  /// absent.
  [[nodiscard]] OptionValues numbers(const std::string& key);

  [[nodiscard]] bool has(const std::string& key) const;
  /// True when the key is there and a whole number, for options that may also be a text.
  [[nodiscard]] bool holds_integer(const std::string& key) const;
  /// Makes `key` known, and a problem when it is there: it does not go together with something else.
  void report(const std::string& key, const std::string& why);
  /// A problem that the caller found with the value of `key`: "FILE:LINE: [section] key MESSAGE".
  void problem(const std::string& key, const std::string& message);

 private:
  friend class ConfigFile;
  ConfigTable(std::shared_ptr<ConfigFile::State> file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}
  template <typename T>
  [[nodiscard]] std::optional<T> find(const std::string& key, std::string_view kind);
  template <typename T>
  [[nodiscard]] std::optional<T> require(std::optional<T> found, const std::string& key);
  [[nodiscard]] std::optional<double> find_number(const std::string& key, double low, double high);
  [[nodiscard]] std::optional<std::int64_t> find_integer(const std::string& key, std::int64_t low,
                                                         std::int64_t high);
  [[nodiscard]] std::optional<std::string> find_text(const std::string& key);
  [[nodiscard]] std::optional<std::string> find_choice(const std::string& key,
                                                       std::initializer_list<std::string_view> words);

  std::shared_ptr<ConfigFile::State> file_;
  std::string name_;  ///< of the section; empty for the root
};

/// `level` of a section [log]: "debug", "info" (the default), "warning" or "error".
[[nodiscard]] LogLevel read_log_level(ConfigTable log);

}  // namespace aflguard
