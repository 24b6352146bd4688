#include "core/envelope/refusal_message.h"

#include <algorithm>

#include "core/base/identifier.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {
namespace {

constexpr std::uint64_t kFields = 8;
constexpr auto kFirstReason = static_cast<std::uint64_t>(RefusalReason::kMalformed);
constexpr std::uint64_t kLastReason = 255;

Status check_text(std::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (text.size() <= kMaxRefusalText && printable) return {};
  return invalid_input("the text of a refusal has " + std::to_string(text.size()) +
                       " bytes; it needs printable ASCII, at most " + std::to_string(kMaxRefusalText));
}

Status check_come_back(std::uint64_t milliseconds) {
  if (milliseconds <= static_cast<std::uint64_t>(kLongestComeBack.count())) return {};
  return invalid_input("a device shall come back after " + std::to_string(milliseconds) +
                       " ms; at most an hour is allowed");
}

}  // namespace

Result<Payload> encode(const RefusalMessage& refusal) {
  TRY_STATUS(check_identifier("fleet", refusal.fleet));
  TRY_STATUS(check_identifier("device", refusal.device));
  TRY_STATUS(check_come_back(static_cast<std::uint64_t>(refusal.come_back.count())));
  TRY_STATUS(check_text(refusal.text));
  Payload payload{PayloadType::kRefusal, {}};
  CborWriter writer(payload.bytes);
  writer.put_map(kFields);
  writer.put_unsigned(1);
  writer.put_text(refusal.fleet);
  writer.put_unsigned(2);
  writer.put_text(refusal.device);
  writer.put_unsigned(3);
  writer.put_unsigned(refusal.transfer);
  writer.put_unsigned(4);
  writer.put_unsigned(refusal.sequence);
  writer.put_unsigned(5);
  writer.put_unsigned(static_cast<std::uint64_t>(refusal.reason));
  writer.put_unsigned(6);
  writer.put_bool(refusal.proven);
  writer.put_unsigned(7);
  writer.put_unsigned(static_cast<std::uint64_t>(refusal.come_back.count()));
  writer.put_unsigned(8);
  writer.put_text(refusal.text);
  return payload;
}

Admitted<RefusalMessage> decode_refusal(const VerifiedPayload& payload) {
  if (payload.type() != PayloadType::kRefusal) {
    return refuse(RefusalReason::kUnsupported, "payload is " + std::string(content_type(payload.type())) +
                                                   ", needs " +
                                                   std::string(content_type(PayloadType::kRefusal)));
  }
  CborReader reader(payload.bytes());
  RefusalMessage refusal;
  const auto take_name = [&reader](std::int64_t key, std::string& to) -> Status {
    TRY_STATUS(reader.expect_key(key));
    TRY(const std::string_view name, reader.take_text());
    TRY_STATUS(check_identifier("entry " + std::to_string(key), name));
    to = name;
    return {};
  };
  TRY_STATUS(reader.expect_map(kFields));
  TRY_STATUS(take_name(1, refusal.fleet));
  TRY_STATUS(take_name(2, refusal.device));
  TRY_STATUS(reader.expect_key(3));
  TRY(refusal.transfer, reader.take_unsigned());
  TRY_STATUS(reader.expect_key(4));
  TRY(refusal.sequence, reader.take_unsigned());
  TRY_STATUS(reader.expect_key(5));
  TRY(const std::uint64_t reason, reader.take_unsigned());
  if (reason < kFirstReason || reason > kLastReason) {
    return corrupt("reason " + std::to_string(reason) + " is outside 64 to 255");
  }
  refusal.reason = static_cast<RefusalReason>(reason);
  TRY_STATUS(reader.expect_key(6));
  TRY(refusal.proven, reader.take_bool());
  TRY_STATUS(reader.expect_key(7));
  TRY(const std::uint64_t come_back, reader.take_unsigned());
  TRY_STATUS(check_come_back(come_back));
  refusal.come_back = std::chrono::milliseconds(come_back);
  TRY_STATUS(reader.expect_key(8));
  TRY(const std::string_view text, reader.take_text());
  TRY_STATUS(check_text(text));
  refusal.text = text;
  TRY_STATUS(reader.expect_end());
  return refusal;
}

}  // namespace aflguard
