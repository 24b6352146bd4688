#include "tests/architecture/definitions.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tests/architecture/source_text.h"

namespace aflguard::testing {
namespace {

/// One space for each run of them.
std::string squeezed(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return trimmed(line);
}

/// The end of the group that opens at `open`, after its closing character.
std::size_t end_of_group(std::string_view text, std::size_t open, char opening, char closing) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == opening) ++depth;
    if (text[at] == closing && --depth == 0) return at + 1;
  }
  return text.size();
}

/// Without "template <...>", attributes and other words that may come before any declaration.
std::string without_prefixes(std::string head) {
  while (true) {
    const std::string before = head;
    if (head.starts_with("template <")) head = trimmed(head.substr(end_of_group(head, 9, '<', '>')));
    if (head.starts_with("[[")) head = trimmed(head.substr(end_of_group(head, 0, '[', ']')));
    if (head.starts_with("__attribute__")) head = trimmed(head.substr(end_of_group(head, 13, '(', ')')));
    for (const std::string_view word : {"inline ", "static ", "constexpr ", "constinit ", "extern \"\" "}) {
      if (head.starts_with(word)) head = trimmed(head.substr(word.size()));
    }
    if (head == before) return head;
  }
}

/// The type that `head` ("struct X final : Base") gives a body, with its template arguments.
std::optional<std::pair<DefinitionKind, std::string>> type_in(const std::string& head) {
  for (const std::string_view keyword :
       {"enum class ", "enum struct ", "enum ", "class ", "struct ", "union "}) {
    if (!head.starts_with(keyword)) continue;
    std::string rest = head.substr(keyword.size());
    while (rest.starts_with("[[")) rest = trimmed(rest.substr(end_of_group(rest, 0, '[', ']')));
    if (rest.starts_with("alignas")) rest = trimmed(rest.substr(end_of_group(rest, 7, '(', ')')));
    std::size_t end = 0;
    while (end < rest.size() && (is_word(rest[end]) || rest.substr(end, 2) == "::"))
      end += is_word(rest[end]) ? 1 : 2;
    if (end < rest.size() && rest[end] == '<') end = end_of_group(rest, end, '<', '>');
    if (end == 0 || rest.find('(', end) != std::string::npos) return std::nullopt;
    const auto kind = keyword.starts_with("enum") ? DefinitionKind::kEnum : DefinitionKind::kType;
    return std::pair(kind, rest.substr(0, end));
  }
  return std::nullopt;
}

/// "const Shape&" of "const Shape& shape = {}".
std::string without_name(std::string parameter) {
  parameter = trimmed(parameter.substr(0, parameter.find('=')));
  std::size_t begin = parameter.size();
  while (begin > 0 && is_word(parameter[begin - 1])) --begin;
  const std::string type = trimmed(parameter.substr(0, begin));
  return type.empty() || type == "const" || type.ends_with("::") ? parameter : type;
}

std::string types_of(std::string_view parameters) {
  std::string types;
  std::string one;
  int depth = 0;
  for (const char c : parameters) {
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      types += without_name(one) + ", ";
      one.clear();
    } else {
      one += c;
    }
  }
  return "(" + types + without_name(one) + ")";
}

/// Where the parameters of a function's head begin: the first parenthesis after a name, or after operator().
std::size_t parameters_of(const std::string& head) {
  const auto call = head.find("operator()");
  return head.find('(', call == std::string::npos ? 0 : call + 10);
}

/// The name before `end`: an identifier with its qualification, or operator==.
std::string name_before(const std::string& head, std::size_t end) {
  const auto overload = head.rfind("operator", end);
  if (overload != std::string::npos && (overload == 0 || !is_word(head[overload - 1])) &&
      !is_word(head[overload + 8])) {
    std::size_t begin = overload;
    while (begin > 0 && (is_word(head[begin - 1]) || head[begin - 1] == ':')) --begin;
    return head.substr(begin, end - begin);
  }
  std::size_t begin = end;
  while (begin > 0 && (is_word(head[begin - 1]) || head[begin - 1] == ':' || head[begin - 1] == '~')) --begin;
  return head.substr(begin, end - begin);
}

/// Where an initialiser begins at the top level of a head: "=", "{" is already cut off, "[" of an array.
std::size_t initialiser_of(const std::string& head) {
  int depth = 0;
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && (c == '=' || c == '[') && head.find("operator") == std::string::npos) return at;
  }
  return head.size();
}

class Scanner final {
 public:
  explicit Scanner(const SourceFile& file) : file_(file.path), code_(take_apart(file.text).code) {}

  std::vector<Definition> scan() {
    while (at_ < code_.size()) step();
    return std::move(found_);
  }

 private:
  void step() {
    const char c = code_[at_];
    if (c == '(') ++depth_;
    if (c == ')') --depth_;
    if (depth_ > 0) {  // a default value's braces are not a body
      head_ += c;
      ++at_;
      return;
    }
    if (c == '{') return open();
    if (c == '}') {
      if (!spaces_.empty()) spaces_.pop_back();
      return next();
    }
    if (c == ';') {
      end_declaration();
      return next();
    }
    head_ += c;
    ++at_;
  }

  void next() {
    ++at_;
    head_.clear();
    body_.reset();
  }

  void open() {
    const std::string head = squeezed(head_);
    const bool inner = head.starts_with("inline namespace");
    if (inner || head == "namespace" || head.starts_with("namespace ")) {
      spaces_.push_back(trimmed(head.substr(inner ? 16 : 9)));
      if (spaces_.back().empty()) spaces_.back() = "(anonymous)";
      return next();
    }
    if (head == "extern \"\"") {
      spaces_.emplace_back();
      return next();
    }
    const std::size_t end = end_of_group(code_, at_, '{', '}');
    body_ = code_.substr(at_ + 1, end - at_ - 2);
    at_ = end;
    const std::string plain = without_prefixes(head);
    if (type_in(plain) || initialiser_of(plain) < plain.size() || parameters_of(plain) == std::string::npos)
      return;
    // A brace in a constructor's initialisers is not its body.
    const auto after = code_.find_first_not_of(" \n", at_);
    if (after != std::string::npos && (code_[after] == ',' || code_[after] == '{')) return;
    end_function(plain);
    head_.clear();
    body_.reset();
  }

  void end_function(const std::string& head) {
    const std::size_t open = parameters_of(head);
    const std::size_t end = end_of_group(head, open, '(', ')');
    add(DefinitionKind::kFunction, name_before(head, open),
        types_of(std::string_view(head).substr(open + 1, end - open - 2)));
  }

  void end_declaration() {
    const std::string head = without_prefixes(squeezed(head_));
    if (head.starts_with("namespace ")) return;  // a short name for another one
    if (head.starts_with("using ")) {
      const auto equals = head.find(" =");
      if (equals != std::string::npos) add(DefinitionKind::kAlias, head.substr(6, equals - 6), {});
      return;
    }
    if (const auto type = type_in(head)) {
      if (body_) add(type->first, type->second, {});
      return;
    }
    const std::size_t initialiser = initialiser_of(head);
    if (initialiser == head.size() && !body_) return;
    if (parameters_of(head) < initialiser) return;  // f() = default, or a variable that a call initialises
    add(DefinitionKind::kVariable, name_before(head, trimmed(head.substr(0, initialiser)).size()), {});
  }

  void add(DefinitionKind kind, const std::string& name, const std::string& parameters) {
    std::string space;
    for (const std::string& one : spaces_) {
      if (one == "(anonymous)") return;
      if (!one.empty()) space += (space.empty() ? "" : "::") + one;
    }
    const bool member = kind != DefinitionKind::kType && name.find("::") != std::string::npos;
    if (!name.empty() && !member)
      found_.push_back({kind, space, name, parameters, body_.value_or(""), file_});
  }

  std::string file_;
  std::string code_;
  std::size_t at_ = 0;
  int depth_ = 0;                    ///< of parentheses
  std::string head_;                 ///< of the declaration that is not complete yet
  std::optional<std::string> body_;  ///< its last group of braces
  std::vector<std::string> spaces_;
  std::vector<Definition> found_;
};

}  // namespace

std::string Definition::full_name() const {
  return (space.empty() ? "" : space + "::") + name + parameters;
}

std::vector<Definition> definitions_in(const SourceFile& file) {
  return Scanner(file).scan();
}

}  // namespace aflguard::testing
