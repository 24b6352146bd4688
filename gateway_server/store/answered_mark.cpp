#include "gateway_server/store/answered_mark.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"

namespace aflguard::gateway {
namespace {

// Two lines in two blocks of the disk, written in turn: while one is torn, the other one counts.
constexpr std::size_t kSlots = 2;
constexpr std::size_t kSlotBytes = 4096;
constexpr std::size_t kLineBytes = 160;
constexpr const char* kFormat = "aflguard-answered-1 store %.32s iteration %020llu ";

std::string checksum(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text))).substr(0, 32);
}

std::string line(const AnsweredMark::Content& content) {
  std::array<char, kLineBytes> text{};
  std::snprintf(text.data(), text.size(), kFormat, content.store.c_str(),
                static_cast<unsigned long long>(content.iteration));
  const std::string_view fields(text.data());
  return std::string(fields) + checksum(fields) + "\n";
}

std::optional<AnsweredMark::Content> parse(std::string_view text) {
  std::array<char, 33> store{};
  unsigned long long iteration = 0;
  const std::string first(text.substr(0, text.find('\n')));
  if (std::sscanf(first.c_str(), "aflguard-answered-1 store %32s iteration %20llu ", store.data(),
                  &iteration) != 2) {
    return std::nullopt;
  }
  AnsweredMark::Content content{store.data(), iteration};
  return line(content) == first + "\n" ? std::optional(content) : std::nullopt;
}

}  // namespace

Result<std::optional<AnsweredMark::Content>> AnsweredMark::read(const std::filesystem::path& file) {
  using Found = std::optional<Content>;
  const auto text = read_text_file(file, 2 * kSlots * kSlotBytes);
  if (!text.ok()) {
    if (text.error().kind == ErrorKind::kNotFound) return Found();
    return text.error();
  }
  Found found;
  for (std::size_t slot = 0; slot < kSlots && slot * kSlotBytes < text->size(); ++slot) {
    const auto content = parse(std::string_view(*text).substr(slot * kSlotBytes, kSlotBytes));
    if (content && (!found || found->iteration < content->iteration)) found = content;
  }
  if (!found) {
    return corrupt(file.string() +
                   ": damaged; without it, it is unknown whether the store holds every answered update");
  }
  return found;
}

Result<AnsweredMark> AnsweredMark::open(const std::filesystem::path& file, const Content& content) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    std::string text = line(content);
    text.resize(kSlots * kSlotBytes, '\n');
    TRY_STATUS(write_file_atomically(file, text));
  }
  FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return io_error("cannot open " + file.string() + ": " + std::strerror(errno));
  AnsweredMark mark(file, std::move(fd), content.store);
  // Both slots: what one of them said of another store, or was torn, is over.
  TRY_STATUS(mark.write(content.iteration));
  TRY_STATUS(mark.write(content.iteration));
  TRY_STATUS(mark.sync());
  return mark;
}

AnsweredMark::AnsweredMark(std::filesystem::path file, FileDescriptor fd, std::string store)
    : file_(std::move(file)), fd_(std::move(fd)), store_(std::move(store)) {}

Status AnsweredMark::write(std::uint64_t iteration) {
  const std::string text = line({store_, iteration});
  const auto at = static_cast<off_t>(slot_ * kSlotBytes);
  const ssize_t written = ::pwrite(fd_.get(), text.data(), text.size(), at);
  if (written != static_cast<ssize_t>(text.size())) {
    return io_error("cannot write " + file_.string() + ": " +
                    (written < 0 ? std::strerror(errno) : "no space"));
  }
  slot_ = (slot_ + 1) % kSlots;
  return {};
}

Status AnsweredMark::sync() {
  if (::fdatasync(fd_.get()) == 0) return {};
  return io_error("cannot write " + file_.string() + ": " + std::strerror(errno));
}

}  // namespace aflguard::gateway
