#include "core/envelope/renewal_message.h"

#include "core/base/identifier.h"
#include "core/envelope/message_fields.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {
namespace {

constexpr std::uint64_t kRenewalFields = 4;
constexpr std::size_t kMaxRequestBytes = 8u << 10;
constexpr std::uint64_t kLatestTime =
    9'000'000'000;  // what a clock of nanoseconds can count, and the year 2255

Status check_renewal(const RenewalMessage& renewal) {
  TRY_STATUS(check_identifier("fleet", renewal.fleet));
  TRY_STATUS(check_identifier("device", renewal.device));
  if (!renewal.request.empty() && renewal.request.size() <= kMaxRequestBytes) return {};
  return invalid_input("a certificate request of " + std::to_string(renewal.request.size()) +
                       " bytes; 1 to " + std::to_string(kMaxRequestBytes) + " are allowed");
}

Status read_renewal(CborReader& reader, RenewalMessage& renewal) {
  TRY_STATUS(reader.expect_map(kRenewalFields));
  TRY_STATUS(take_entry(reader, 1, renewal.fleet));
  TRY_STATUS(take_entry(reader, 2, renewal.device));
  std::uint64_t seconds = 0;
  TRY_STATUS(take_entry(reader, 3, seconds));
  if (seconds > kLatestTime) return corrupt("time " + std::to_string(seconds) + " is after the year 2255");
  renewal.time = std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
  TRY_STATUS(reader.expect_key(4));
  TRY(const std::string_view request, reader.take_text());
  renewal.request = request;
  TRY_STATUS(reader.expect_end());
  return check_renewal(renewal);
}

}  // namespace

Result<Payload> encode(const RenewalMessage& renewal) {
  TRY_STATUS(check_renewal(renewal));
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(renewal.time.time_since_epoch()).count();
  if (seconds < 0) return invalid_input("a renewal request from before 1970; set the clock");
  Payload payload{PayloadType::kRenewal, {}};
  CborWriter writer(payload.bytes);
  writer.put_map(kRenewalFields);
  put_entry(writer, 1, renewal.fleet);
  put_entry(writer, 2, renewal.device);
  put_entry(writer, 3, static_cast<std::uint64_t>(seconds));
  put_entry(writer, 4, renewal.request);
  return payload;
}

Admitted<RenewalMessage> decode_renewal(const VerifiedPayload& payload) {
  if (payload.type() != PayloadType::kRenewal) {
    return refuse(RefusalReason::kUnsupported, "payload is " + std::string(content_type(payload.type())) +
                                                   ", needs " +
                                                   std::string(content_type(PayloadType::kRenewal)));
  }
  RenewalMessage renewal;
  CborReader reader(payload.bytes());
  TRY_STATUS(read_renewal(reader, renewal));
  return renewal;
}

}  // namespace aflguard
