#include "tests/architecture/word_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "tests/architecture/source_text.h"
#include "tests/support/test.h"

namespace aflguard::testing {
namespace {

using Parts = std::vector<std::string>;

/// As it was read, and taken apart once for all rows.
struct ReadFile {
  std::string path;
  std::vector<std::string> prose;
  std::vector<std::string> names;  ///< the identifiers, then the file's own name
  std::vector<Parts> parts;        ///< of each name
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Result<WordKind> parse_kind(const std::string& text) {
  if (text == "name") return WordKind::kName;
  if (text == "phrase") return WordKind::kPhrase;
  if (text == "call") return WordKind::kCall;
  return invalid_input("'" + text + "' is not one of name, phrase and call");
}

Result<RetiredWord> parse_row(const std::string& line) {
  const std::vector<std::string> fields = split(line, '|');
  if (fields.size() < 4 || fields.size() > 6)
    return invalid_input("'" + line + "' is not 'kind | word | say | most | except | allowed'");
  RetiredWord row;
  TRY(row.kind, parse_kind(trimmed(fields[0])));
  row.word = unquoted(trimmed(fields[1]));
  row.instead = trimmed(fields[2]);
  const std::string most = trimmed(fields[3]);
  const auto [end, problem] = std::from_chars(most.data(), most.data() + most.size(), row.most);
  if (problem != std::errc() || end != most.data() + most.size())
    return invalid_input("'" + most + "' in '" + line + "' is not a number");
  if (fields.size() > 4) row.except = words_of(fields[4]);
  if (fields.size() > 5) {
    for (const std::string& one : split(fields[5], ',')) {
      if (!trimmed(one).empty()) row.allowed.push_back(unquoted(trimmed(one)));
    }
  }
  return row;
}

/// Whether `name` has all parts of `word` one after the other; the last one may be a plural.
bool has_parts(const Parts& name, const Parts& word) {
  const auto same = [](const std::string& part, const std::string& wanted) {
    return part == wanted || part == wanted + "s";
  };
  return std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
}

void find_names(const RetiredWord& word, const ReadFile& file, std::vector<std::string>& places) {
  const Parts parts = parts_of_name(word.word);
  std::vector<Parts> allowed;
  for (const std::string& one : word.allowed) allowed.push_back(parts_of_name(one));
  for (std::size_t at = 0; at < file.names.size(); ++at) {
    const auto fits = [&](const Parts& one) { return has_parts(file.parts[at], one); };
    if (fits(parts) && std::none_of(allowed.begin(), allowed.end(), fits))
      places.push_back(file.path + ": " + file.names[at]);
  }
}

void find_calls(const RetiredWord& word, const ReadFile& file, std::vector<std::string>& places) {
  for (const std::string& name : file.names) {
    if (name == word.word) places.push_back(file.path + ": " + name);
  }
}

/// Whether the phrase found at `at` is part of an allowed one.
bool is_allowed(const RetiredWord& word, const std::string& text, std::size_t at) {
  return std::any_of(word.allowed.begin(), word.allowed.end(), [&](const std::string& one) {
    const auto offset = lower(one).find(lower(trimmed(word.word)));
    return offset != std::string::npos && offset <= at &&
           text.compare(at - offset, one.size(), lower(one)) == 0;
  });
}

bool stands_alone(const std::string& text, std::size_t begin, std::size_t end) {
  const auto letter = [&](std::size_t at) { return std::isalnum(static_cast<unsigned char>(text[at])) != 0; };
  return !(begin > 0 && letter(begin) && letter(begin - 1)) &&
         !(end < text.size() && letter(end) && letter(end - 1));
}

void find_phrases(const RetiredWord& word, const ReadFile& file, std::vector<std::string>& places) {
  const std::string wanted = lower(word.word);
  for (const std::string& prose : file.prose) {
    const std::string text = lower(prose);
    for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
      if (!stands_alone(text, at, at + wanted.size()) || is_allowed(word, text, at)) continue;
      const std::size_t begin = at < 20 ? 0 : at - 20;
      places.push_back(file.path + ": ..." + prose.substr(begin, at - begin + wanted.size() + 20) + "...");
    }
  }
}

std::vector<std::string> places_in(const RetiredWord& word, const std::vector<ReadFile>& files) {
  std::vector<std::string> places;
  for (const ReadFile& file : files) {
    const auto holds = [&](const std::string& path) { return file.path.starts_with(path); };
    if (std::any_of(word.except.begin(), word.except.end(), holds)) continue;
    if (word.kind == WordKind::kName) find_names(word, file, places);
    if (word.kind == WordKind::kPhrase) find_phrases(word, file, places);
    if (word.kind == WordKind::kCall) find_calls(word, file, places);
  }
  return places;
}

std::vector<ReadFile> take_all_apart(const std::vector<SourceFile>& files) {
  std::vector<ReadFile> read;
  for (const SourceFile& file : files) {
    SourceText text = take_apart(file.text);
    ReadFile one = {file.path, std::move(text.prose), identifiers_of(text.code), {}};
    one.names.push_back(std::filesystem::path(file.path).stem());
    for (const std::string& name : one.names) one.parts.push_back(parts_of_name(name));
    read.push_back(std::move(one));
  }
  return read;
}

}  // namespace

Result<std::vector<RetiredWord>> parse_words(const std::string& text) {
  std::vector<RetiredWord> rows;
  for (const std::string& line : table_lines(text)) {
    TRY(RetiredWord row, parse_row(line));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<RetiredWord> words_of_checkout(WordKind kind) {
  auto rows = parse_words(read_text(source_folder() / "tests/architecture/words.txt"));
  ASSERT_OK(rows);
  std::erase_if(*rows, [&](const RetiredWord& row) { return row.kind != kind; });
  TEST_ASSERT_FALSE_MESSAGE(rows->empty(), "words.txt has no row of this kind");
  return *rows;
}

std::vector<std::string> places_of(const RetiredWord& word, const std::vector<SourceFile>& files) {
  return places_in(word, take_all_apart(files));
}

Judgement judge(const RetiredWord& word, const std::vector<std::string>& places) {
  const std::string counts =
      std::to_string(places.size()) + " times; words.txt allows " + std::to_string(word.most);
  if (places.size() < word.most)
    return {
        {},
        "'" + word.word + "' stands " + counts + ": lower its number to " + std::to_string(places.size())};
  if (places.size() == word.most) return {};
  std::string failure = "'" + word.word + "' stands " + counts + "; say " + word.instead + "\n";
  for (const std::string& place : places) failure += "  " + place + "\n";
  return {failure, {}};
}

void assert_words_retired(WordKind kind, const std::vector<SourceFile>& files) {
  const std::vector<ReadFile> read = take_all_apart(files);
  std::string failures;
  for (const RetiredWord& word : words_of_checkout(kind)) {
    const Judgement judgement = judge(word, places_in(word, read));
    failures += judgement.failure;
    if (!judgement.hint.empty()) TEST_MESSAGE(judgement.hint.c_str());
  }
  assert_no_violation(failures);
}

}  // namespace aflguard::testing
