#include "edge_client/sending/update_spool.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/byte_cursor.h"
#include "core/base/check.h"
#include "core/base/identifier.h"
#include "core/base/sha256.h"
#include "core/system/atomic_file.h"

namespace aflguard::edge {
namespace fs = std::filesystem;
namespace {

// A spool file: "AFLSPOL2", the sequence number (8 bytes, little endian), the SHA-256 of all that follows;
// then the author's public key (65 bytes), the length of the author's name (1 byte), the name, the envelope.
// The checksum tells a file that a dying card mangled from one that is whole. Version 1 began with "AFLSPOOL"
// and had no author.
constexpr std::string_view kMagic = "AFLSPOL2";
constexpr std::string_view kMagicWithoutAuthor = "AFLSPOOL";
constexpr std::size_t kHeader = 8 + 8 + 32;
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 30;
constexpr const char* kUpdate = ".update";
constexpr const char* kDone = ".done";
constexpr const char* kDamaged = ".damaged";

/// The file up to the envelope, which follows as it is.
Bytes file_head(std::uint64_t sequence, const UpdateAuthor& author, std::span<const std::byte> envelope) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.put(std::as_bytes(std::span(kMagic)));
  writer.put_little_endian(sequence);
  bytes.resize(kHeader);  // the checksum's place
  writer.put(std::as_bytes(std::span(author.key)));
  writer.put_little_endian(static_cast<std::uint8_t>(author.device.size()));
  writer.put(std::as_bytes(std::span(author.device)));
  const std::array<std::span<const std::byte>, 2> checked = {std::span(bytes).subspan(kHeader), envelope};
  const Sha256Digest digest = sha256(checked);
  std::memcpy(bytes.data() + kHeader - digest.size(), digest.data(), digest.size());
  return bytes;
}

bool same(std::span<const std::byte> bytes, std::span<const std::byte> wanted) {
  return std::equal(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
}

Result<UpdateAuthor> read_author(ByteReader& reader) {
  UpdateAuthor author;
  TRY(const auto key, reader.take(author.key.size()));
  std::memcpy(author.key.data(), key.data(), key.size());
  TRY(const auto length, reader.take_little_endian<std::uint8_t>());
  TRY(const auto name, reader.take(length));
  author.device.assign(reinterpret_cast<const char*>(name.data()), name.size());
  if (!is_identifier(author.device)) return corrupt("its author has no name");
  return author;
}

Result<SpooledUpdate> read_update(const fs::path& path, std::uint64_t sequence) {
  TRY(Bytes bytes, read_file(path, kMaxFile));
  ByteReader reader(bytes);
  TRY(const auto magic, reader.take(kMagic.size()));
  TRY(const auto number, reader.take_little_endian<std::uint64_t>());
  TRY(const auto checksum, reader.take(32));
  const Sha256Digest digest = sha256(std::span<const std::byte>(bytes).subspan(kHeader));
  const bool without_author = same(magic, std::as_bytes(std::span(kMagicWithoutAuthor)));
  if ((!without_author && !same(magic, std::as_bytes(std::span(kMagic)))) || number != sequence ||
      !same(checksum, std::as_bytes(std::span(digest)))) {
    return corrupt("its checksum does not match");
  }
  SpooledUpdate update;
  update.sequence = sequence;
  if (!without_author) {
    TRY(update.author, read_author(reader));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(reader.position()));
  update.envelope = std::move(bytes);
  return update;
}

/// The number in front of `kind` in a file's name.
std::optional<std::uint64_t> sequence_of(const std::string& name, std::string_view kind) {
  if (!name.ends_with(kind)) return std::nullopt;
  std::uint64_t number = 0;
  const char* last = name.data() + name.size() - kind.size();
  const auto [end, problem] = std::from_chars(name.data(), last, number);
  if (problem != std::errc() || end != last || number == 0) return std::nullopt;
  return number;
}

/// What an atomic write leaves behind when its process is killed: the name and six letters.
bool is_unfinished(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot != std::string::npos && name.size() - dot == 7 && sequence_of(name.substr(0, dot), kUpdate);
}

}  // namespace

Result<UpdateSpool> UpdateSpool::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error("cannot make folder " + folder.string() + ": " + error.message());
  auto lock = FileLock::take(folder / "lock");
  if (!lock.ok() && lock.error().kind == ErrorKind::kUnavailable) {
    return unavailable(folder.string() + " is in use by another process" + lock_holder_text(folder / "lock") +
                       "; two clients need two state folders");
  }
  if (!lock.ok()) return lock.error();
  UpdateSpool spool(folder, std::move(*lock));
  TRY_STATUS(spool.scan());
  return spool;
}

fs::path UpdateSpool::file(std::uint64_t sequence, const char* kind) const {
  return folder_ / (std::to_string(sequence) + kind);
}

Status UpdateSpool::scan() {
  std::uint64_t done = 0;
  std::uint64_t newest = 0;
  std::vector<fs::path> unfinished;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (const auto number = sequence_of(name, kDone)) done = std::max(done, *number);
    if (const auto number = sequence_of(name, kUpdate)) newest = std::max(newest, *number);
    if (const auto number = sequence_of(name, kDamaged)) raise_sequence(*number);
    if (is_unfinished(name)) unfinished.push_back(entry.path());
  }
  if (error) return io_error("cannot read folder " + folder_.string() + ": " + error.message());
  for (const fs::path& path : unfinished) fs::remove(path, error);
  raise_sequence(std::max(done, newest));
  if (newest <= done) return {};
  auto update = read_update(file(newest, kUpdate), newest);
  if (update.ok()) {
    waiting_ = std::move(*update);
  } else if (update.error().kind == ErrorKind::kIo) {
    return update.error();
  } else {
    put_aside(file(newest, kUpdate), update.error().message);
  }
  return {};
}

void UpdateSpool::put_aside(const fs::path& path, const std::string& why) {
  fs::path aside = path;
  aside.replace_extension(kDamaged);
  std::error_code ignored;
  fs::rename(path, aside, ignored);
  warnings_.push_back("the waiting update " + path.string() + " is damaged (" + why +
                      ") and was put aside; training goes on with the next one");
}

Status UpdateSpool::store(std::uint64_t sequence, const UpdateAuthor& author,
                          std::span<const std::byte> envelope) {
  check(sequence > last_sequence_, "a sequence number is used once");
  check(is_identifier(author.device), "a device has a name");
  const Bytes head = file_head(sequence, author, envelope);
  const std::array<std::span<const std::byte>, 2> parts = {head, envelope};
  TRY_STATUS(write_file_atomically(file(sequence, kUpdate), parts));
  last_sequence_ = sequence;
  remove_all_but(sequence);
  return {};
}

void UpdateSpool::finish(std::uint64_t sequence) {
  std::error_code ignored;
  fs::rename(file(sequence, kUpdate), file(sequence, kDone), ignored);
}

/// Older files have done their service: `sequence` says all that they said.
void UpdateSpool::remove_all_but(std::uint64_t sequence) {
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const char* kind : {kUpdate, kDone}) {
      if (const auto number = sequence_of(name, kind); number && *number < sequence)
        old.push_back(entry.path());
    }
  }
  for (const fs::path& path : old) fs::remove(path, ignored);
}

}  // namespace aflguard::edge
