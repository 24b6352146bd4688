#include "fleet/folder/toml_template.h"

#include <array>
#include <cstdio>

#include "core/base/check.h"

namespace aflguard::fleet {
namespace {

/// Without blanks and comment signs in front.
std::string_view uncommented(std::string_view line) {
  return line.substr(std::min(line.size(), line.find_first_not_of("# \t")));
}

bool is_header(std::string_view line) {
  const std::string_view text = uncommented(line);
  const auto close = text.find(']');
  return text.starts_with('[') && !text.starts_with("[[") && close != std::string_view::npos &&
         text.find_first_not_of(" \t", close + 1) == std::string_view::npos;
}

bool has_key(std::string_view line, std::string_view key) {
  std::string_view text = uncommented(line);
  if (!text.starts_with(key)) return false;
  text.remove_prefix(key.size());
  text = text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
  return text.starts_with('=');
}

/// The explanation behind a value, with the blanks in front of it; empty when there is none.
std::string_view remark(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = line.find('='); i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != '#' || quoted) continue;
    const auto before = line.find_last_not_of(" \t", i - 1);
    return line.substr(before + 1);
  }
  return {};
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      quoted += code.data();
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

TomlTemplate::TomlTemplate(std::string_view example) {
  while (!example.empty()) {
    const auto end = std::min(example.find('\n'), example.size());
    lines_.emplace_back(example.substr(0, end));
    example.remove_prefix(std::min(example.size(), end + 1));
  }
}

std::size_t TomlTemplate::header_of(const std::string& section) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (is_header(lines_[i]) && uncommented(lines_[i]).starts_with("[" + section + "]")) return i;
  }
  check(false, "the example configuration has no section [" + section + "]");
  return 0;
}

std::size_t TomlTemplate::end_of(std::size_t header) const {
  std::size_t end = header + 1;
  while (end < lines_.size() && !is_header(lines_[end])) ++end;
  if (end == lines_.size()) return end;
  // The comment above the next header belongs to that one.
  while (end > header + 1 && lines_[end - 1].starts_with('#')) --end;
  while (end > header + 1 && lines_[end - 1].empty()) --end;
  return end;
}

TomlTemplate& TomlTemplate::set(const std::string& section, const std::string& key,
                                const std::string& value) {
  const std::size_t header = header_of(section);
  for (std::size_t i = header + 1; i < end_of(header); ++i) {
    if (!has_key(lines_[i], key)) continue;
    lines_[i] = key + " = " + value + std::string(remark(lines_[i]));
    lines_[header] = uncommented(lines_[header]);
    return *this;
  }
  check(false, "the example configuration has no key " + key + " in [" + section + "]");
  return *this;
}

TomlTemplate& TomlTemplate::replace_section(const std::string& section,
                                            const std::vector<std::string>& lines) {
  const std::size_t header = header_of(section);
  const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(header) + 1;
  const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(end_of(header));
  lines_[header] = "[" + section + "]";
  lines_.insert(lines_.erase(first, last), lines.begin(), lines.end());
  return *this;
}

std::string TomlTemplate::text() const {
  std::string all;
  for (const std::string& line : lines_) all += line + "\n";
  return all;
}

}  // namespace aflguard::fleet
