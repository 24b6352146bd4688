#include "core/learning/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/learning/data/csv_delimiter.h"

namespace aflguard {
namespace {

constexpr std::size_t kChunk = 1 << 16;
constexpr double kMaxExactDouble = 0x1p53;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A field as it appears in messages: short, and without control characters.
std::string quoted(std::string_view field) {
  std::string text = "'";
  for (const char c : field.substr(0, 40)) text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text + (field.size() > 40 ? "...'" : "'");
}

template <typename Number>
bool parse_whole(std::string_view field, Number& number) {
  field = trimmed(field);
  if (field.starts_with('+')) field.remove_prefix(1);
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), number);
  return problem == std::errc() && end == field.data() + field.size();
}

}  // namespace

Result<CsvReader> CsvReader::open(const std::filesystem::path& path, char delimiter,
                                  const CsvLimits& limits) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return not_found(path.string() + ": no such file");
  if (!std::filesystem::is_regular_file(path, error)) {
    return invalid_input(path.string() + " is not a regular file");
  }
  return open_stream(path, delimiter, limits);
}

Result<CsvReader> CsvReader::open_stream(const std::filesystem::path& path, char delimiter,
                                         const CsvLimits& limits) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error("cannot open " + path.string());
  return CsvReader(path, std::move(file), delimiter, limits);
}

Result<CsvReader> CsvReader::follow(const std::filesystem::path& path, char delimiter,
                                    const CsvLimits& limits) {
  TRY(auto reader, open(path, delimiter, limits));
  reader.follows_ = true;
  return reader;
}

Error CsvReader::error_here(std::string_view message) const {
  return corrupt(path_.string() + ": line " + std::to_string(line_number_) + ": " + std::string(message));
}

Error CsvReader::error_at(std::size_t column, std::string_view message) const {
  return corrupt(path_.string() + ": line " + std::to_string(line_number_) + ", column " +
                 std::to_string(column + 1) + ": " + std::string(message));
}

Status CsvReader::refill() {
  buffer_.erase(0, position_);
  position_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kChunk);
  file_.read(buffer_.data() + kept, static_cast<std::streamsize>(kChunk));
  buffer_.resize(kept + static_cast<std::size_t>(file_.gcount()));
  if (file_.bad()) return io_error("cannot read " + path_.string());
  return {};
}

Result<bool> CsvReader::next_line() {
  if (follows_) file_.clear();  // there may be more now
  std::size_t searched = position_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos && file_.good()) {
    if (buffer_.size() - position_ > limits_.line_bytes) break;
    searched = buffer_.size() - position_;
    TRY_STATUS(refill());
    end = buffer_.find('\n', searched);
  }
  if (end == std::string::npos) {
    const bool too_long = buffer_.size() - position_ > limits_.line_bytes;
    if (position_ == buffer_.size() || (follows_ && !too_long)) return false;
    end = buffer_.size();
  }
  ++line_number_;
  const std::size_t start = position_;
  position_ = std::min(end + 1, buffer_.size());
  consumed_ += position_ - start;
  if (end - start > limits_.line_bytes) {
    return error_here("longer than " + std::to_string(limits_.line_bytes) + " bytes; is this a text table?");
  }
  line_.assign(buffer_, start, end - start);
  if (line_number_ == 1 && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

/// Removes the quotes of the field whose opening quote is at `start`, in place; returns where it ends.
Result<std::size_t> CsvReader::unquote(std::size_t start, std::string_view& field) {
  std::size_t write = start + 1;
  for (std::size_t read = start + 1; read < line_.size(); ++read) {
    if (line_[read] != '"') {
      line_[write++] = line_[read];
    } else if (read + 1 < line_.size() && line_[read + 1] == '"') {
      line_[write++] = line_[read++];
    } else {
      field = std::string_view(line_).substr(start + 1, write - start - 1);
      return read + 1;
    }
  }
  return corrupt("the quote is not closed on this line");
}

Status CsvReader::split(std::vector<std::string_view>& fields) {
  const bool blanks = delimiter_ == ' ';
  const auto separates = [&](char c) { return blanks ? blank(c) : c == delimiter_; };
  std::size_t at = 0;
  while (true) {
    while (at < line_.size() && blank(line_[at]) && (blanks || line_[at] != delimiter_)) ++at;
    if (blanks && at == line_.size()) return {};
    if (fields.size() == limits_.columns) {
      return error_here("more than " + std::to_string(limits_.columns) + " columns");
    }
    std::string_view field;
    std::size_t end = at;
    if (at < line_.size() && line_[at] == '"') {
      auto closed = unquote(at, field);
      if (!closed.ok()) return error_at(fields.size(), closed.error().message);
      end = *closed;
      while (!blanks && end < line_.size() && blank(line_[end]) && !separates(line_[end])) ++end;
      if (end < line_.size() && !separates(line_[end])) {
        return error_at(fields.size(), "text after the closing quote");
      }
    } else {
      while (end < line_.size() && !separates(line_[end])) ++end;
      field = std::string_view(line_).substr(at, end - at);
    }
    fields.push_back(field);
    if (end == line_.size()) return {};
    at = end + 1;
  }
}

Result<bool> CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  do {
    TRY(const bool more, next_line());
    if (!more) return false;
  } while (trimmed(line_).empty());
  if (delimiter_ == kFindDelimiter) {
    delimiter_ = find_delimiter(line_ + "\n" + buffer_.substr(position_));
  }
  if (rows_++ == limits_.rows) return error_here("more than " + std::to_string(limits_.rows) + " rows");
  TRY_STATUS(split(fields));
  return true;
}

Result<float> parse_csv_number(std::string_view field) {
  float number = 0;
  if (!parse_whole(field, number)) return corrupt(quoted(field) + " is not a number that fits a float");
  if (!std::isfinite(number)) return corrupt(quoted(field) + " is not finite");
  return number;
}

Result<std::int64_t> parse_csv_integer(std::string_view field, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  if (!parse_whole(field, number)) {
    // Tables written by numeric programs hold 3.0 where 3 is meant.
    double real = 0;
    if (!parse_whole(field, real) || real != std::floor(real) || std::abs(real) > kMaxExactDouble) {
      return corrupt(quoted(field) + " is not a whole number");
    }
    number = static_cast<std::int64_t>(real);
  }
  if (number < low || number > high) {
    return corrupt(quoted(field) + " is outside " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

}  // namespace aflguard
