#include "edge_client/collecting/topic_rows.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/learning/json_row.h"

namespace aflguard::edge {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxPayload = 1 << 20;
constexpr std::size_t kMaxWaiting = 4 << 20;

std::string system_text() {
  return std::strerror(errno);
}

}  // namespace

TopicRows::TopicRows(TopicSettings settings, fs::path file, MessageBus& bus, LogSink& log)
    : settings_(std::move(settings)), path_(std::move(file)), bus_(&bus), log_(&log) {}

Result<TopicRows> TopicRows::open(TopicSettings settings, fs::path file, MessageBus& bus, LogSink& log) {
  TopicRows rows(std::move(settings), std::move(file), bus, log);
  TRY_STATUS(rows.begin_table());
  TRY_STATUS(bus.subscribe(rows.settings_.topic));
  return rows;
}

std::string TopicRows::header() const {
  std::string line;
  for (const std::string& field : settings_.fields) line += (line.empty() ? "" : ",") + csv_field(field);
  return line.empty() ? line : line + "\n";
}

Status TopicRows::begin_table() {
  TRY(file_, open_log(path_));
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0)
    return io_error("cannot read " + path_.string() + ": " + system_text());
  size_ = static_cast<std::uint64_t>(info.st_size);
  std::string first = size_ == 0 ? header() : "";
  if (size_ > 0) {
    char last = '\n';
    const FileDescriptor reading(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!reading.valid() || ::pread(reading.get(), &last, 1, info.st_size - 1) != 1) {
      return io_error("cannot read " + path_.string() + ": " + system_text());
    }
    if (last != '\n') first = "\n";
  }
  if (!write_all(file_.get(), first)) {
    return io_error("cannot write " + path_.string() + ": " + system_text());
  }
  size_ += first.size();
  return {};
}

void TopicRows::refuse(const std::string& why) {
  ++refused_;
  last_refusal_ = why;
}

void TopicRows::add_row(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  if (row.find_first_not_of(" \t") == std::string_view::npos) return;
  if (waiting_.size() + row.size() >= kMaxWaiting) {
    return refuse("there is no room for more rows that wait to be written");
  }
  waiting_ += row;
  waiting_ += '\n';
  ++waiting_rows_;
}

void TopicRows::take(const Message& message) {
  if (message.payload.size() > kMaxPayload) {
    return refuse("a payload has " + std::to_string(message.payload.size()) + " bytes, at most " +
                  std::to_string(kMaxPayload) + " are taken");
  }
  std::string_view text(reinterpret_cast<const char*>(message.payload.data()), message.payload.size());
  if (text.find('\0') != std::string_view::npos) return refuse("a payload is not text");
  if (settings_.json) {
    const auto row = csv_row_of_json(text, settings_.fields);
    return row.ok() ? add_row(*row) : refuse(row.error().message);
  }
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    add_row(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

Status TopicRows::collect() {
  while (auto event = bus_->next_event({})) {
    if (const auto* received = std::get_if<BusReceived>(&*event)) take(received->message);
    if (std::get_if<BusConnected>(&*event) != nullptr)
      log_->info("connected to the broker of topic " + settings_.topic);
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) {
      log_->warning("no connection to the broker of topic " + settings_.topic + ": " + lost->reason);
    }
  }
  if (refused_ > reported_) {
    log_->warning(std::to_string(refused_ - reported_) + " payloads of topic " + settings_.topic +
                  " refused, the last one because " + last_refusal_);
    reported_ = refused_;
  }
  return write_waiting();
}

Status TopicRows::write_waiting() {
  if (waiting_.empty()) return {};
  if (size_ >= settings_.max_bytes) TRY_STATUS(rotate());
  if (!write_all(file_.get(), waiting_) || ::fdatasync(file_.get()) != 0) {
    const std::string why = system_text();
    // Nothing half-written: the rows go again, from where they began.
    (void)::ftruncate(file_.get(), static_cast<off_t>(size_));
    return io_error("rows of topic " + settings_.topic + " cannot be written to " + path_.string() + ": " +
                    why);
  }
  size_ += waiting_.size();
  rows_ += std::exchange(waiting_rows_, 0);
  waiting_.clear();
  return {};
}

Status TopicRows::rotate() {
  fs::path former = path_;
  former += ".1";
  std::error_code error;
  fs::rename(path_, former, error);
  if (error) return io_error("cannot rename " + path_.string() + ": " + error.message());
  return begin_table();
}

}  // namespace aflguard::edge
