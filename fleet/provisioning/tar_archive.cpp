#include "fleet/provisioning/tar_archive.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace aflguard::fleet {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMaxName = 100;
constexpr std::uint64_t kMaxSize = 077777777777;  // eleven octal digits

/// One header block of POSIX.1-1988 ustar; field by field, numbers in octal.
struct Header {
  std::array<char, 100> name{};
  std::array<char, 8> mode{};
  std::array<char, 8> user{};
  std::array<char, 8> group{};
  std::array<char, 12> size{};
  std::array<char, 12> time{};
  std::array<char, 8> checksum{};
  char type = '0';
  std::array<char, 100> link{};
  std::array<char, 8> magic = {'u', 's', 't', 'a', 'r', '\0', '0', '0'};
  std::array<char, 32> user_name{};
  std::array<char, 32> group_name{};
  std::array<char, 16> device{};
  std::array<char, 155> prefix{};
  std::array<char, 12> padding{};
};
static_assert(sizeof(Header) == kBlock);

template <std::size_t size>
void put_octal(std::array<char, size>& field, std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", static_cast<int>(size - 1),
                static_cast<unsigned long long>(number));
  std::memcpy(field.data(), text.data(), size);
}

}  // namespace

Status TarArchive::add(const std::string& name, std::string_view content, unsigned mode) {
  if (name.empty() || name.size() > kMaxName || name.front() == '/' || content.size() > kMaxSize) {
    return invalid_input("'" + name + "' does not fit into a tar archive: names have 1 to 100 bytes");
  }
  Header header;
  std::memcpy(header.name.data(), name.data(), name.size());
  put_octal(header.mode, mode);
  put_octal(header.user, 0);
  put_octal(header.group, 0);
  put_octal(header.size, content.size());
  put_octal(header.time, 0);
  header.checksum.fill(' ');
  std::array<unsigned char, kBlock> raw{};
  std::memcpy(raw.data(), &header, kBlock);
  std::uint64_t sum = 0;
  for (const unsigned char byte : raw) sum += byte;
  std::snprintf(header.checksum.data(), header.checksum.size(), "%06llo",
                static_cast<unsigned long long>(sum));
  bytes_.append(reinterpret_cast<const char*>(&header), kBlock);
  bytes_.append(content);
  bytes_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
  return {};
}

std::string TarArchive::finish() && {
  bytes_.append(2 * kBlock, '\0');
  return std::move(bytes_);
}

}  // namespace aflguard::fleet
