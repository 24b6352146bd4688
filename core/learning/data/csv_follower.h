#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/learning/data/csv_rows.h"

namespace aflguard {

/// A table that grows while it is read, e.g. a sensor's log. Only whole lines are read; a line
/// without its end waits for the rest. A row that is not a sample is skipped and counted: one bad reading
/// does not stop a board. When the file is replaced or cut short, it is read again from its beginning.
class CsvFollower final {
 public:
  /// The newest `keep` samples stay in memory (up to a quarter more between two cleanings); keep > 0. The
  /// file need not exist yet.
  CsvFollower(std::string name, std::filesystem::path path, const CsvOptions& options, std::size_t keep);

  /// Reads what has come since the last call; the number of new samples. kInvalidInput or kCorrupt when the
  /// columns cannot be the samples that are wanted, kIo when the file cannot be read.
  [[nodiscard]] Result<std::size_t> poll();

  /// May be empty. Changes with poll().
  [[nodiscard]] const Dataset& data() const { return rows_.data(); }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }
  /// Why the last skipped row was skipped; empty while there is none.
  [[nodiscard]] const std::string& last_problem() const { return last_problem_; }

 private:
  struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  };
  /// False when there is no file (any more).
  [[nodiscard]] Result<bool> look();
  [[nodiscard]] Status read_rows();

  std::filesystem::path path_;
  std::size_t keep_;
  CsvRows rows_;
  std::optional<CsvReader> reader_;
  FileIdentity identity_;
  bool begun_ = false;  ///< the columns of this file are known
  std::size_t added_ = 0;
  std::size_t skipped_ = 0;
  std::string last_problem_;
};

}  // namespace aflguard
