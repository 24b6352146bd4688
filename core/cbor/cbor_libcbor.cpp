#include "core/cbor/cbor.h"

#include <array>
#include <cbor.h>
#include <limits>
#include <string>

namespace aflguard {

namespace {

enum Kind : int {
  kNothing,
  kUnsigned,
  kNegative,
  kByteString,
  kText,
  kArray,
  kMap,
  kTag,
  kBool,
  kDouble,
  kOther
};

constexpr const char* kKindNames[] = {"nothing",
                                      "an unsigned integer",
                                      "a negative integer",
                                      "a byte string",
                                      "a text",
                                      "an array",
                                      "a map",
                                      "a tag",
                                      "a bool",
                                      "a double",
                                      "something else"};

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

/// Bytes of the shortest head that can carry `argument`.
std::size_t shortest_head(std::uint64_t argument) {
  if (argument < 24) return 1;
  if (argument <= 0xff) return 2;
  if (argument <= 0xffff) return 3;
  return argument <= 0xffffffff ? 5 : 9;
}

void append(Bytes& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

constexpr std::size_t kLongestHead = 9;

template <typename Encode>
void append_head(Bytes& out, Encode encode) {
  std::array<unsigned char, kLongestHead> head;
  append(out, head.data(), encode(head.data(), head.size()));
}

}  // namespace

void CborWriter::put_unsigned(std::uint64_t value) {
  append_head(out_, [&](unsigned char* to, std::size_t size) { return cbor_encode_uint(value, to, size); });
}

void CborWriter::put_integer(std::int64_t value) {
  if (value >= 0) return put_unsigned(static_cast<std::uint64_t>(value));
  const auto argument = static_cast<std::uint64_t>(-(value + 1));
  append_head(out_,
              [&](unsigned char* to, std::size_t size) { return cbor_encode_negint(argument, to, size); });
}

void CborWriter::put_bytes_head(std::uint64_t size) {
  append_head(out_, [&](unsigned char* to, std::size_t room) {
    return cbor_encode_bytestring_start(size, to, room);
  });
}

void CborWriter::put_bytes(std::span<const std::byte> bytes) {
  put_bytes_head(bytes.size());
  append(out_, bytes.data(), bytes.size());
}

void CborWriter::put_text(std::string_view text) {
  append_head(out_, [&](unsigned char* to, std::size_t room) {
    return cbor_encode_string_start(text.size(), to, room);
  });
  append(out_, text.data(), text.size());
}

void CborWriter::put_array(std::uint64_t items) {
  append_head(out_,
              [&](unsigned char* to, std::size_t room) { return cbor_encode_array_start(items, to, room); });
}

void CborWriter::put_map(std::uint64_t pairs) {
  append_head(out_,
              [&](unsigned char* to, std::size_t room) { return cbor_encode_map_start(pairs, to, room); });
}

void CborWriter::put_tag(std::uint64_t tag) {
  append_head(out_, [&](unsigned char* to, std::size_t room) { return cbor_encode_tag(tag, to, room); });
}

void CborWriter::put_bool(bool value) {
  append_head(out_, [&](unsigned char* to, std::size_t room) { return cbor_encode_bool(value, to, room); });
}

void CborWriter::put_double(double value) {
  append_head(out_, [&](unsigned char* to, std::size_t room) { return cbor_encode_double(value, to, room); });
}

/// One item as libcbor's stateless decoder reports it.
struct CborReader::Item {
  Kind kind = kNothing;
  std::uint64_t argument = 0;  ///< value, length, count, tag or truth
  double number = 0;
  std::span<const std::byte> data;

  static Item& of(void* context) { return *static_cast<Item*>(context); }
  template <typename Integer, Kind as>
  static void integer(void* context, Integer value) {
    of(context) = {as, value, 0, {}};
  }
  template <Kind as>
  static void counted(void* context, std::size_t count) {
    of(context) = {as, count, 0, {}};
  }
  template <Kind as>
  static void string(void* context, cbor_data data, std::size_t size) {
    of(context) = {as, size, 0, {reinterpret_cast<const std::byte*>(data), size}};
  }
  static void boolean(void* context, bool value) { of(context) = {kBool, value, 0, {}}; }
  static void float8(void* context, double value) { of(context) = {kDouble, 0, value, {}}; }
  static void other(void* context) { of(context).kind = kOther; }
  static void other_float(void* context, float) { of(context).kind = kOther; }

  static const cbor_callbacks& callbacks() {
    static const cbor_callbacks table = [] {
      cbor_callbacks c{};
      c.uint8 = integer<std::uint8_t, kUnsigned>;
      c.uint16 = integer<std::uint16_t, kUnsigned>;
      c.uint32 = integer<std::uint32_t, kUnsigned>;
      c.uint64 = integer<std::uint64_t, kUnsigned>;
      c.negint8 = integer<std::uint8_t, kNegative>;
      c.negint16 = integer<std::uint16_t, kNegative>;
      c.negint32 = integer<std::uint32_t, kNegative>;
      c.negint64 = integer<std::uint64_t, kNegative>;
      c.byte_string_start = other;
      c.byte_string = string<kByteString>;
      c.string = string<kText>;
      c.string_start = other;
      c.indef_array_start = other;
      c.array_start = counted<kArray>;
      c.indef_map_start = other;
      c.map_start = counted<kMap>;
      c.tag = integer<std::uint64_t, kTag>;
      c.float2 = other_float;
      c.float4 = other_float;
      c.float8 = float8;
      c.undefined = other;
      c.null = other;
      c.boolean = boolean;
      c.indef_break = other;
      return c;
    }();
    return table;
  }
};

Result<CborReader::Item> CborReader::take_item(int kind) {
  const std::size_t start = position();
  const std::string place = " at offset " + std::to_string(start);
  Item item;
  const auto rest = bytes_.subspan(start);
  const auto decoded = cbor_stream_decode(raw(rest.data()), rest.size(), &Item::callbacks(), &item);
  if (decoded.status != CBOR_DECODER_FINISHED) {
    return corrupt(std::string("needs ") + kKindNames[kind] + place + ", finds no whole CBOR item");
  }
  if (item.kind != kind) {
    return corrupt(std::string("needs ") + kKindNames[kind] + place + ", finds " + kKindNames[item.kind]);
  }
  if (kind != kDouble && kind != kBool && decoded.read - item.data.size() != shortest_head(item.argument)) {
    return corrupt("the head" + place + " is longer than it need be");
  }
  TRY([[maybe_unused]] auto read, cursor_.take(decoded.read));
  return item;
}

Result<std::uint64_t> CborReader::take_unsigned() {
  TRY(const Item item, take_item(kUnsigned));
  return item.argument;
}

Result<std::int64_t> CborReader::take_integer() {
  // The type is the head's first three bits: 0 is unsigned, 1 is negative.
  const bool negative = cursor_.remaining() > 0 && (std::to_integer<unsigned>(bytes_[position()]) >> 5) == 1;
  const std::size_t start = position();
  TRY(const Item item, take_item(negative ? kNegative : kUnsigned));
  if (item.argument > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return corrupt("the integer at offset " + std::to_string(start) + " does not fit 64 bits");
  }
  const auto argument = static_cast<std::int64_t>(item.argument);
  return negative ? -1 - argument : argument;
}

Result<std::span<const std::byte>> CborReader::take_bytes() {
  TRY(const Item item, take_item(kByteString));
  return item.data;
}

Result<std::string_view> CborReader::take_text() {
  TRY(const Item item, take_item(kText));
  return std::string_view(reinterpret_cast<const char*>(item.data.data()), item.data.size());
}

Result<bool> CborReader::take_bool() {
  TRY(const Item item, take_item(kBool));
  return item.argument != 0;
}

Result<double> CborReader::take_double() {
  TRY(const Item item, take_item(kDouble));
  return item.number;
}

Result<std::uint64_t> CborReader::take_map() {
  TRY(const Item item, take_item(kMap));
  return item.argument;
}

namespace {

Status expect(const char* what, std::uint64_t wanted, std::uint64_t found) {
  if (found == wanted) return {};
  return corrupt(std::string(what) + " is " + std::to_string(found) + ", needs " + std::to_string(wanted));
}

}  // namespace

Status CborReader::expect_array(std::uint64_t items) {
  TRY(const Item item, take_item(kArray));
  return expect("the number of array items", items, item.argument);
}

Status CborReader::expect_map(std::uint64_t pairs) {
  TRY(const Item item, take_item(kMap));
  return expect("the number of map entries", pairs, item.argument);
}

Status CborReader::expect_tag(std::uint64_t tag) {
  // libcbor 0.8 takes tags 6 to 20 for errors, and COSE_Sign1 is 18; a tag below 24 is one byte.
  if (tag < 24) {
    TRY(const std::uint8_t head, cursor_.take_big_endian<std::uint8_t>());
    if (head == 0xc0 + tag) return {};
    return corrupt("needs tag " + std::to_string(tag) + " at offset " + std::to_string(position() - 1) +
                   ", finds the byte " + std::to_string(head));
  }
  TRY(const Item item, take_item(kTag));
  return expect("the tag", tag, item.argument);
}

Status CborReader::expect_key(std::int64_t key) {
  TRY(const std::int64_t found, take_integer());
  if (found == key) return {};
  return corrupt("the map key is " + std::to_string(found) + ", needs " + std::to_string(key));
}

Status CborReader::expect_end() const {
  if (cursor_.remaining() == 0) return {};
  return corrupt(std::to_string(cursor_.remaining()) + " bytes are left over after the last item");
}

}  // namespace aflguard
