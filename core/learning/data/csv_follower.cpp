#include "core/learning/data/csv_follower.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include "core/base/check.h"

namespace aflguard {

CsvFollower::CsvFollower(std::string name, std::filesystem::path path, const CsvOptions& options,
                         std::size_t keep)
    : path_(std::move(path)), keep_(keep), rows_(std::move(name), options) {
  check(keep > 0, "a followed table keeps at least one sample");
}

Result<bool> CsvFollower::look() {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) {
    // A log that is being rotated is absent for a moment.
    if (errno == ENOENT) return false;
    return io_error("cannot read " + path_.string() + ": " + std::strerror(errno));
  }
  const FileIdentity found{info.st_dev, info.st_ino};
  if (reader_ && (found != identity_ || static_cast<std::uint64_t>(info.st_size) < reader_->consumed())) {
    reader_.reset();
  }
  if (!reader_) {
    TRY(auto reader, CsvReader::follow(path_, rows_.options().delimiter, rows_.options().limits));
    reader_.emplace(std::move(reader));
    identity_ = found;
    begun_ = false;
    rows_.restart();
  }
  return true;
}

Status CsvFollower::read_rows() {
  CsvRows::Fields fields;
  while (true) {
    auto more = reader_->next(fields);
    if (!more.ok() && more.error().kind == ErrorKind::kIo) return more.error();
    if (more.ok() && !*more) return {};
    if (more.ok() && !begun_) {
      TRY(const bool header, rows_.begin(*reader_, fields));
      if (header) continue;
      begun_ = true;
    }
    const Status added = more.ok() ? rows_.add(*reader_, fields) : Status(more.error());
    if (added.ok()) {
      ++added_;
      if (rows_.data().size() > keep_ + keep_ / 4) rows_.keep_newest(keep_);
    } else {
      ++skipped_;
      last_problem_ = added.error().message;
    }
  }
}

Result<std::size_t> CsvFollower::poll() {
  added_ = 0;
  TRY(const bool there, look());
  if (!there) return std::size_t{0};
  if (Status status = read_rows(); !status.ok()) {
    reader_.reset();  // the next call starts at the file's beginning: its columns may be right by then
    return status.error();
  }
  rows_.fill_missing();
  return added_;
}

}  // namespace aflguard
