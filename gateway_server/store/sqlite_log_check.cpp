#include "gateway_server/store/sqlite_log_check.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

namespace aflguard::gateway {
namespace {

// Chapter "The Write-Ahead Log" of the document "Database File Format" of SQLite.
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377F0682;  // the lowest bit says how checksums read words

using Bytes = std::span<const unsigned char>;

std::uint32_t big_endian(Bytes bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

struct Sum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  friend bool operator==(const Sum&, const Sum&) = default;

  void add(Bytes bytes, bool big) {
    const auto word = [&](std::size_t at) {
      const std::uint32_t value = big_endian(bytes, at);
      return big ? value : __builtin_bswap32(value);
    };
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(at) + second;
      second += word(at + 4) + first;
    }
  }
  static Sum stored(Bytes bytes, std::size_t at) {
    return {big_endian(bytes, at), big_endian(bytes, at + 4)};
  }
};

struct LogHeader {
  bool big = false;
  std::uint32_t page_bytes = 0;
  Sum salts;
  Sum sum;

  static std::optional<LogHeader> read(Bytes bytes) {
    const std::uint32_t magic = big_endian(bytes, 0);
    LogHeader header;
    header.big = (magic & 1) != 0;
    header.page_bytes = big_endian(bytes, 8);
    header.salts = Sum::stored(bytes, 16);
    header.sum.add(bytes.first(24), header.big);
    const bool fits = (magic & ~1U) == kMagic && header.sum == Sum::stored(bytes, 24) &&
                      header.page_bytes >= 512 && header.page_bytes <= 65'536;
    return fits ? std::optional(header) : std::nullopt;
  }
};

}  // namespace

Status check_write_ahead_log(const std::filesystem::path& log) {
  std::ifstream in(log, std::ios::binary);
  std::vector<unsigned char> bytes(kHeaderBytes);
  const auto read = [&](std::size_t size) {
    bytes.resize(size);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    return static_cast<bool>(in);
  };
  if (!in || !read(kHeaderBytes)) return {};
  const auto header = LogHeader::read(bytes);
  if (!header) {
    const bool never_written = std::all_of(bytes.begin(), bytes.end(), [](auto byte) { return byte == 0; });
    return never_written ? Status() : Status(corrupt(log.string() + ": its first bytes do not fit"));
  }
  Sum before = header->sum;
  std::optional<std::uint64_t> broken;  ///< the first frame that does not fit
  bool committed = false;               ///< a transaction ended there or behind
  for (std::uint64_t frame = 1; read(kFrameHeaderBytes + header->page_bytes); ++frame) {
    const Bytes all(bytes);
    Sum sum = before;
    sum.add(all.first(8), header->big);
    sum.add(all.subspan(kFrameHeaderBytes), header->big);
    before = Sum::stored(all, 16);
    const bool fits = Sum::stored(all, 8) == header->salts && sum == before;
    if (fits && broken && committed) {
      return corrupt(log.string() + ": frame " + std::to_string(*broken) +
                     " is wrong, and what was committed after it would be lost");
    }
    if (!fits && !broken) broken = frame;
    if (broken && big_endian(all, 4) != 0) committed = true;
  }
  return {};
}

}  // namespace aflguard::gateway
