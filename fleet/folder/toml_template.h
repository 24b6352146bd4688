#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::fleet {

/// `text` as a TOML string, quotes included.
[[nodiscard]] std::string toml_text(std::string_view text);

/// A commented example configuration that is filled in: explanations and order stay. The examples are part of
/// this program, so a section or key that they lack is a bug and aborts.
class TomlTemplate final {
 public:
  explicit TomlTemplate(std::string_view example);

  /// The line `key = ...` of [section] gets `value`, which is TOML. Where the line is commented out it comes
  /// into force, and its section with it.
  TomlTemplate& set(const std::string& section, const std::string& key, const std::string& value);
  /// [section] becomes exactly these lines.
  TomlTemplate& replace_section(const std::string& section, const std::vector<std::string>& lines);

  [[nodiscard]] std::string text() const;

 private:
  /// Where the header of [section] is, commented out or not.
  [[nodiscard]] std::size_t header_of(const std::string& section) const;
  /// One past the last line of the section that starts there.
  [[nodiscard]] std::size_t end_of(std::size_t header) const;
  std::vector<std::string> lines_;
};

}  // namespace aflguard::fleet
