#include "core/learning/data/idx.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "core/base/byte_cursor.h"
#include "core/learning/data/shape.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kMaxDimensions = 255;
constexpr std::size_t kMaxHeader = 4 + 4 * kMaxDimensions;

struct Header {
  std::vector<std::size_t> shape;
  std::size_t size = 0;        ///< bytes of the header itself
  std::uint64_t elements = 1;  ///< bytes that follow it
};

Result<std::size_t> parse_magic(ByteReader& reader, const IdxLimits& limits) {
  TRY(const auto zeros, reader.take_big_endian<std::uint16_t>());
  TRY(const auto type, reader.take_big_endian<std::uint8_t>());
  TRY(const auto dimensions, reader.take_big_endian<std::uint8_t>());
  if (zeros != 0) return corrupt("not an IDX file (it does not start with two zero bytes)");
  if (type != kUnsignedByte) {
    return unsupported("IDX element type " + std::to_string(type) +
                       " is not supported; use unsigned bytes (8)");
  }
  if (dimensions == 0 || dimensions > limits.dimensions) {
    return corrupt("the IDX header claims " + std::to_string(dimensions) + " dimensions, expected 1 to " +
                   std::to_string(limits.dimensions));
  }
  return std::size_t{dimensions};
}

/// `beginning`: the file's first bytes, at least its header when the file is whole; `file_size`: all of it.
Result<Header> parse_header(std::span<const std::byte> beginning, std::uint64_t file_size,
                            const IdxLimits& limits) {
  ByteReader reader(beginning);
  TRY(const std::size_t dimensions, parse_magic(reader, limits));
  Header header;
  for (std::size_t i = 0; i < dimensions; ++i) {
    TRY(const auto extent, reader.take_big_endian<std::uint32_t>());
    header.shape.push_back(extent);
    if (extent != 0 && header.elements > limits.elements / extent) {
      return corrupt("the IDX header's shape " + shape_text(header.shape) + " exceeds the limit of " +
                     std::to_string(limits.elements) + " elements");
    }
    header.elements *= extent;
  }
  header.size = reader.position();
  if (header.size + header.elements != file_size) {
    return corrupt("the file has " + std::to_string(file_size) + " bytes, its IDX shape " +
                   shape_text(header.shape) + " needs " + std::to_string(header.size + header.elements));
  }
  return header;
}

Result<IdxArray> read_checked(const std::filesystem::path& path, const IdxLimits& limits,
                              const SampleRange& wanted) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return not_found("no such file");
  if (!std::filesystem::is_regular_file(path, error)) return invalid_input("not a regular file");
  const std::uint64_t file_size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return io_error("cannot be opened");
  std::array<std::byte, kMaxHeader> beginning;
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(file_size, beginning.size()));
  file.read(reinterpret_cast<char*>(beginning.data()), static_cast<std::streamsize>(length));
  if (!file) return io_error("cannot be read");
  TRY(auto header, parse_header(std::span(beginning).first(length), file_size, limits));
  TRY(const SampleRange range, wanted.within(header.shape[0], "it"));
  const std::uint64_t row = header.shape[0] == 0 ? 0 : header.elements / header.shape[0];
  header.shape[0] = range.count;
  IdxArray array{std::move(header.shape), std::vector<std::uint8_t>(row * range.count)};
  file.seekg(static_cast<std::streamoff>(header.size + row * range.first));
  file.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(array.data.size()));
  if (!file) return io_error("became shorter while it was read");
  return array;
}

}  // namespace

Result<IdxArray> parse_idx(std::span<const std::byte> bytes, const IdxLimits& limits) {
  TRY(auto header, parse_header(bytes, bytes.size(), limits));
  IdxArray array{std::move(header.shape), {}};
  array.data.resize(header.elements);
  std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(header.size), bytes.end(), array.data.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return array;
}

Result<IdxArray> read_idx(const std::filesystem::path& path, const IdxLimits& limits,
                          const SampleRange& range) {
  auto array = read_checked(path, limits, range);
  if (!array.ok()) return at(path.string(), array.error());
  return array;
}

Status write_idx(const std::filesystem::path& path, const std::vector<std::size_t>& shape,
                 std::span<const std::uint8_t> data) {
  check(!shape.empty() && shape.size() <= kMaxDimensions && element_count(shape) == data.size(),
        "an IDX file's shape must describe its data");
  std::vector<std::byte> bytes;
  bytes.reserve(4 + 4 * shape.size() + data.size());
  ByteWriter writer(bytes);
  writer.put_big_endian(std::uint16_t{0});
  writer.put_big_endian(kUnsignedByte);
  writer.put_big_endian(static_cast<std::uint8_t>(shape.size()));
  for (const std::size_t extent : shape) writer.put_big_endian(static_cast<std::uint32_t>(extent));
  const auto elements = std::as_bytes(data);
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return write_file_atomically(path, std::span<const std::byte>(bytes));
}

Result<Dataset> read_idx_dataset(const std::string& name, std::size_t classes,
                                 const std::filesystem::path& images, const std::filesystem::path& labels,
                                 const SampleRange& range) {
  TRY(auto label_array, read_idx(labels, {}, range));
  if (label_array.shape.size() != 1) {
    return invalid_input(labels.string() + " has shape " + shape_text(label_array.shape) +
                         ", expected one label per image");
  }
  TRY(auto image_array, read_idx(images, {}, range));
  const auto& shape = image_array.shape;
  if (shape.size() != 3 || shape[0] != label_array.shape[0]) {
    return invalid_input(images.string() + " has shape " + shape_text(shape) + ", expected [" +
                         std::to_string(label_array.shape[0]) + ", height, width] to match the labels");
  }
  Dataset data;
  data.name = name;
  data.classes = classes;
  data.sample_shape = {1, shape[1], shape[2]};
  data.features = std::move(image_array.data);
  data.labels.assign(label_array.data.begin(), label_array.data.end());
  if (const Status status = data.validate(); !status.ok()) return at(labels.string(), status.error());
  return data;
}

}  // namespace aflguard
