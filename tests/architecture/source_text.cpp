#include "tests/architecture/source_text.h"

#include <cctype>
#include <utility>

namespace aflguard::testing {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

namespace {

/// Reads a source once, from its beginning.
class Reader final {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  SourceText read() {
    while (at_ < source_.size()) step();
    end_prose();
    return std::move(text_);
  }

 private:
  enum class Prose { kNone, kComment, kString };

  void step() {
    if (begins("//")) return take_comment(source_.find('\n', at_), 2);
    if (begins("/*")) return take_comment(end_of("*/", at_ + 2), 2);
    if (begins("R\"")) return take_raw_string();
    if (source_[at_] == '"') return take_string();
    if (source_[at_] == '\'') return take_character();
    if (source_[at_] == '#' && line_is_empty_so_far()) return skip_directive();
    if (std::isspace(static_cast<unsigned char>(source_[at_])) == 0) end_prose();
    text_.code += source_[at_++];
  }

  [[nodiscard]] bool begins(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  [[nodiscard]] std::size_t end_of(std::string_view text, std::size_t from) const {
    const auto found = source_.find(text, from);
    return found == std::string_view::npos ? source_.size() : found + text.size();
  }

  [[nodiscard]] bool line_is_empty_so_far() const {
    const auto last = text_.code.find_last_not_of(" \t");
    return last == std::string::npos || text_.code[last] == '\n';
  }

  /// Goes on at `end`; of what it passes, only the line ends stay in the code.
  void pass(std::size_t end) {
    end = std::min(end, source_.size());
    for (; at_ < end; ++at_) {
      if (source_[at_] == '\n') text_.code += '\n';
    }
  }

  void take_comment(std::size_t end, std::size_t opening) {
    end = std::min(end, source_.size());
    add_prose(Prose::kComment, source_.substr(at_ + opening, end - at_ - opening));
    text_.code += ' ';
    pass(end);
  }

  void take_string() {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != '"' && source_[end] != '\n')
      end += source_[end] == '\\' ? 2 : 1;
    end = std::min(end, source_.size());
    add_prose(Prose::kString, source_.substr(at_ + 1, end - at_ - 1));
    text_.code += "\"\"";
    pass(end + 1);
  }

  void take_raw_string() {
    const auto open = source_.find('(', at_);
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = end_of(close, open);
    add_prose(Prose::kString, source_.substr(open + 1, end - close.size() - open - 1));
    text_.code += "\"\"";
    pass(end);
  }

  /// 'x', or the ' inside 1'000.
  void take_character() {
    if (!text_.code.empty() && is_word(text_.code.back())) {
      ++at_;
      return;
    }
    end_prose();
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != '\'') end += source_[end] == '\\' ? 2 : 1;
    text_.code += "''";
    pass(end + 1);
  }

  void skip_directive() {
    end_prose();
    std::size_t end = source_.find('\n', at_);
    while (end != std::string_view::npos && source_[end - 1] == '\\') end = source_.find('\n', end + 1);
    pass(end);
  }

  void add_prose(Prose kind, std::string_view text) {
    if (kind != kind_) end_prose();
    kind_ = kind;
    if (kind == Prose::kComment) {
      while (text.starts_with('/') || text.starts_with('<')) text.remove_prefix(1);
      if (!open_.empty()) open_ += ' ';
    }
    for (const char c : text) {
      const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!space || kind == Prose::kString) open_ += space ? ' ' : c;
      if (space && kind == Prose::kComment && !open_.empty() && open_.back() != ' ') open_ += ' ';
    }
    if (kind == Prose::kComment && open_.ends_with(' ')) open_.pop_back();
  }

  void end_prose() {
    if (!open_.empty()) text_.prose.push_back(std::exchange(open_, {}));
    kind_ = Prose::kNone;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  SourceText text_;
  std::string open_;  ///< the comment or literal that is not complete yet
  Prose kind_ = Prose::kNone;
};

}  // namespace

SourceText take_apart(std::string_view source) {
  return Reader(source).read();
}

std::vector<std::string> identifiers_of(std::string_view code) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : code) {
    if (is_word(c)) {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  if (!name.empty()) names.push_back(name);
  std::erase_if(names,
                [](const std::string& one) { return std::isdigit(static_cast<unsigned char>(one[0])); });
  return names;
}

std::vector<std::string> parts_of_name(std::string_view name) {
  std::vector<std::string> parts;
  bool fresh = true;
  for (const char c : name) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (!is_word(c) || c == '_') {
      fresh = true;
      continue;
    }
    if (fresh || upper) parts.emplace_back();
    fresh = false;
    parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return parts;
}

}  // namespace aflguard::testing
