#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/system/file_descriptor.h"
#include "core/transport/message_bus.h"

namespace aflguard::edge {

struct TopicSettings {
  std::string topic;                    ///< a filter; empty: no such source
  bool json = false;                    ///< payloads are JSON; else rows of a table, one or more
  std::vector<std::string> fields;      ///< the table's columns; needed for JSON
  std::uint64_t max_bytes = 64u << 20;  ///< of the table; then it becomes FILE.1 and a new one begins
};

/// Appends what comes on an MQTT topic to a table, which is then followed like any other: a row counts when
/// it is on the disk. Borrows bus and log; one thread.
class TopicRows final {
 public:
  /// Makes the table if it is missing, with a header where the columns are known, and ends the line that a
  /// power cut tore.
  [[nodiscard]] static Result<TopicRows> open(TopicSettings settings, std::filesystem::path file,
                                              MessageBus& bus, LogSink& log);

  /// Takes what has come, without waiting, and syncs it. What cannot be written is kept for the next call, as
  /// far as there is room for it; kIo says why.
  [[nodiscard]] Status collect();

  [[nodiscard]] std::uint64_t rows() const { return rows_; }  ///< written since open()
  [[nodiscard]] std::uint64_t refused() const {
    return refused_;
  }  ///< payloads that are not rows, or too many

 private:
  TopicRows(TopicSettings settings, std::filesystem::path file, MessageBus& bus, LogSink& log);
  [[nodiscard]] Status begin_table();
  void take(const Message& message);
  void add_row(std::string_view row);
  void refuse(const std::string& why);
  [[nodiscard]] Status write_waiting();
  [[nodiscard]] Status rotate();
  [[nodiscard]] std::string header() const;

  TopicSettings settings_;
  std::filesystem::path path_;
  MessageBus* bus_;
  LogSink* log_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
  std::string waiting_;  ///< whole lines that are not on the disk yet
  std::uint64_t waiting_rows_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t reported_ = 0;
  std::string last_refusal_;
};

}  // namespace aflguard::edge
