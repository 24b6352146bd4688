#include "core/learning/data/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>

#include "core/base/byte_cursor.h"
#include "core/learning/data/shape.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written in place");

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicSize = 6;
constexpr std::size_t kMaxHeader = 64 * 1024;
constexpr std::size_t kMaxElements = std::size_t{1} << 36;
constexpr std::string_view kHashComment = "# aflguard-layout: ";

/// The text after `'key':` in the header's dictionary.
Result<std::string_view> value_after(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const auto at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    const auto start = rest.find_first_not_of(": ");
    if (start != std::string_view::npos) return rest.substr(start);
  }
  return corrupt("the .npy header has no '" + std::string(key) + "'");
}

Result<std::vector<std::size_t>> parse_shape(std::string_view text) {
  if (text.empty() || text.front() != '(') return corrupt("the .npy header's shape is not a tuple");
  const auto end = text.find(')');
  if (end == std::string_view::npos) return corrupt("the .npy header's shape is not closed");
  text = text.substr(1, end - 1);
  std::vector<std::size_t> shape;
  std::size_t count = 1;
  while (true) {
    const auto start = text.find_first_not_of(" ,");
    if (start == std::string_view::npos) return shape;
    text.remove_prefix(start);
    std::size_t extent = 0;
    const auto [next, problem] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (problem != std::errc() || (extent != 0 && count > kMaxElements / extent) || shape.size() == 32) {
      return corrupt("the .npy header has an impossible shape");
    }
    count *= extent;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  }
}

Result<std::size_t> element_size(const std::string& dtype) {
  if (dtype.size() == 3 && (dtype[0] == '<' || dtype[0] == '|') &&
      std::string_view("fiub").find(dtype[1]) != std::string_view::npos && dtype[2] >= '1' &&
      dtype[2] <= '8') {
    return static_cast<std::size_t>(dtype[2] - '0');
  }
  return unsupported("dtype '" + dtype + "' is not supported; save little-endian float32, int64 or uint8");
}

Result<NpyArray> parse_header(std::string_view header) {
  NpyArray array;
  TRY(auto descr, value_after(header, "descr"));
  const auto close = descr.size() > 1 ? descr.find(descr.front(), 1) : std::string_view::npos;
  if (close == std::string_view::npos) return corrupt("the .npy header's descr is not a plain type");
  array.dtype = std::string(descr.substr(1, close - 1));
  TRY(auto order, value_after(header, "fortran_order"));
  if (!order.starts_with("False")) {
    return unsupported("the array is in Fortran order; save it with numpy.ascontiguousarray");
  }
  TRY(auto shape, value_after(header, "shape"));
  TRY(array.shape, parse_shape(shape));
  if (const auto at = header.find(kHashComment); at != std::string_view::npos) {
    const std::string_view rest = header.substr(at + kHashComment.size());
    array.layout_hash = std::string(rest.substr(0, rest.find_first_of(" \n")));
  }
  return array;
}

struct Beginning {
  NpyArray array;  ///< without its data
  std::size_t data_offset = 0;
  std::size_t data_bytes = 0;
};

/// `reader` holds the file's first bytes, at least its header when the file is whole.
Result<Beginning> parse_beginning(ByteReader& reader, std::uint64_t file_size) {
  const auto magic = reader.take(kMagicSize);
  if (!magic.ok() || std::memcmp(magic->data(), kMagic, kMagicSize) != 0) {
    return corrupt("not a .npy file (it does not start with \\x93NUMPY)");
  }
  TRY(const auto major, reader.take_little_endian<std::uint8_t>());
  TRY(const auto minor, reader.take_little_endian<std::uint8_t>());
  if (major < 1 || major > 3 || minor != 0) {
    return unsupported(".npy format version " + std::to_string(major) + "." + std::to_string(minor) +
                       " is not supported (1.0 to 3.0 are)");
  }
  std::size_t header_size = 0;
  if (major == 1) {
    TRY(header_size, reader.take_little_endian<std::uint16_t>());
  } else {
    TRY(header_size, reader.take_little_endian<std::uint32_t>());
  }
  if (header_size > kMaxHeader) {
    return corrupt("the .npy header claims " + std::to_string(header_size) + " bytes, the limit is " +
                   std::to_string(kMaxHeader));
  }
  TRY(const auto header, reader.take(header_size));
  TRY(auto array, parse_header({reinterpret_cast<const char*>(header.data()), header.size()}));
  TRY(const std::size_t width, element_size(array.dtype));
  const std::size_t expected = array.size() * width;
  if (file_size - reader.position() != expected) {
    return corrupt("shape " + shape_text(array.shape) + " of '" + array.dtype + "' needs " +
                   std::to_string(expected) + " bytes of data, the file has " +
                   std::to_string(file_size - reader.position()));
  }
  return Beginning{std::move(array), reader.position(), expected};
}

Result<NpyArray> read_part(const std::filesystem::path& path, const SampleRange& wanted) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return not_found("cannot open " + path.string());
  if (!std::filesystem::is_regular_file(path, error)) return invalid_input("not a regular file");
  const std::uint64_t file_size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return io_error("cannot be opened");
  std::vector<std::byte> first(std::min<std::uint64_t>(file_size, kMaxHeader + kMagicSize + 6));
  file.read(reinterpret_cast<char*>(first.data()), static_cast<std::streamsize>(first.size()));
  if (!file) return io_error("cannot be read");
  ByteReader reader(first);
  TRY(auto beginning, parse_beginning(reader, file_size));
  NpyArray& array = beginning.array;
  std::size_t skipped = 0;
  if (!array.shape.empty()) {
    TRY(const SampleRange range, wanted.within(array.shape[0], "it"));
    const std::size_t row = array.shape[0] == 0 ? 0 : beginning.data_bytes / array.shape[0];
    array.shape[0] = range.count;
    skipped = row * range.first;
    beginning.data_bytes = row * range.count;
  }
  array.data.resize(beginning.data_bytes);
  file.seekg(static_cast<std::streamoff>(beginning.data_offset + skipped));
  file.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(array.data.size()));
  if (!file) return io_error("became shorter while it was read");
  return std::move(array);
}

template <typename T>
Result<std::vector<T>> elements(const NpyArray& array, const char* dtype, const char* name,
                                const std::string& what) {
  if (array.dtype != dtype) {
    return invalid_input(what + " has dtype '" + array.dtype + "', expected '" + dtype + "' (" + name + ")");
  }
  std::vector<T> values(array.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

Status write_array(const std::filesystem::path& path, std::span<const std::byte> data, const char* dtype,
                   const std::vector<std::size_t>& shape, const std::string& hash) {
  std::string header = "{'descr': '" + std::string(dtype) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t extent : shape) header += std::to_string(extent) + ", ";
  if (shape.size() > 1) header.erase(header.size() - 2);
  header += "), }";
  // A comment inside the padding: NumPy evaluates the header as a Python literal and skips it.
  if (!hash.empty()) header += " " + std::string(kHashComment) + hash;
  header.append(63 - (kMagicSize + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::vector<std::byte> file;
  file.reserve(kMagicSize + 4 + header.size() + data.size());
  ByteWriter writer(file);
  writer.put(std::as_bytes(std::span(kMagic, kMagicSize)));
  writer.put_little_endian(std::uint8_t{1});
  writer.put_little_endian(std::uint8_t{0});
  writer.put_little_endian(static_cast<std::uint16_t>(header.size()));
  writer.put(std::as_bytes(std::span(header)));
  file.insert(file.end(), data.begin(), data.end());
  return write_file_atomically(path, std::span<const std::byte>(file));
}

}  // namespace

std::size_t NpyArray::size() const {
  return element_count(shape);
}

Result<std::vector<float>> NpyArray::as_float32(const std::string& what) const {
  return elements<float>(*this, "<f4", "float32", what);
}
Result<std::vector<std::int64_t>> NpyArray::as_int64(const std::string& what) const {
  return elements<std::int64_t>(*this, "<i8", "int64", what);
}
Result<std::vector<std::uint8_t>> NpyArray::as_uint8(const std::string& what) const {
  return elements<std::uint8_t>(*this, "|u1", "uint8", what);
}

Result<NpyArray> parse_npy(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  TRY(auto beginning, parse_beginning(reader, bytes.size()));
  TRY(const auto data, reader.take(beginning.data_bytes));
  beginning.array.data.assign(data.begin(), data.end());
  return std::move(beginning.array);
}

Result<NpyArray> read_npy(const std::filesystem::path& path, const SampleRange& range) {
  auto array = read_part(path, range);
  if (!array.ok() && array.error().kind != ErrorKind::kNotFound) return at(path.string(), array.error());
  return array;
}

Status write_npy(const std::filesystem::path& path, std::span<const float> values,
                 const std::vector<std::size_t>& shape, const std::string& layout_hash) {
  return write_array(path, std::as_bytes(values), "<f4", shape, layout_hash);
}

Status write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values,
                 const std::vector<std::size_t>& shape) {
  return write_array(path, std::as_bytes(values), "<i8", shape, {});
}

}  // namespace aflguard
