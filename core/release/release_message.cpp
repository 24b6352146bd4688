#include "core/release/release_message.h"

#include <algorithm>

#include "core/base/identifier.h"
#include "core/envelope/message_fields.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {
namespace {

constexpr std::uint64_t kReleaseFields = 10;
/// The largest order: digests of all pieces and names of all canaries.
constexpr std::size_t kMaxOrderBytes = 256u << 10;

Status check_name(const std::string& name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
  if (!name.empty() && name.size() <= kMaxModelName && printable) return {};
  return invalid_input("a model's name has " + std::to_string(name.size()) + " bytes; a release needs 1 to " +
                       std::to_string(kMaxModelName) + ", printable ASCII");
}

Status check_release(const ReleaseMessage& release) {
  TRY_STATUS(check_identifier("fleet", release.fleet));
  TRY_STATUS(check_name(release.model_name));
  if (release.number == 0 || release.model_number == 0)
    return invalid_input("a release has number 0; the first one is 1");
  if (release.package_bytes == 0 || release.package_bytes > kMaxPackageBytes) {
    return invalid_input("a package of " + std::to_string(release.package_bytes) + " bytes; 1 to " +
                         std::to_string(kMaxPackageBytes) + " can be rolled out");
  }
  if (release.pieces.size() != release_piece_count(release.package_bytes)) {
    return invalid_input("a package of " + std::to_string(release.package_bytes) + " bytes has " +
                         std::to_string(release.pieces.size()) + " pieces, needs " +
                         std::to_string(release_piece_count(release.package_bytes)));
  }
  if (release.canaries.size() > kMaxCanaries) {
    return invalid_input(std::to_string(release.canaries.size()) + " canaries; at most " +
                         std::to_string(kMaxCanaries) + " are allowed");
  }
  for (const std::string& canary : release.canaries) TRY_STATUS(check_identifier("canary", canary));
  return {};
}

Status take_text(CborReader& reader, std::int64_t key, std::string& to, std::size_t limit) {
  TRY_STATUS(reader.expect_key(key));
  TRY(const std::string_view text, reader.take_text());
  if (text.size() > limit) return corrupt("entry " + std::to_string(key) + " is too long");
  to = text;
  return {};
}

Status take_pieces(CborReader& reader, ReleaseMessage& release) {
  TRY_STATUS(reader.expect_key(9));
  TRY(const auto bytes, reader.take_bytes());
  constexpr std::size_t kDigest = sizeof(Sha256Digest);
  if (bytes.size() % kDigest != 0) return corrupt("the digests of pieces are not whole");
  release.pieces.resize(bytes.size() / kDigest);
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(release.pieces)).begin());
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

Status take_canaries(CborReader& reader, ReleaseMessage& release) {
  TRY_STATUS(reader.expect_key(10));
  TRY(const auto text, reader.take_text());
  std::string name;
  const auto add = [&] {
    if (!name.empty()) release.canaries.push_back(std::exchange(name, {}));
  };
  for (const char letter : text) {
    if (letter == ',') {
      add();
    } else {
      name += letter;
    }
  }
  add();
  if (joined(release.canaries) == text) return {};
  return corrupt("the names of canaries are not one, a comma, and the next");
}

Status read_fields(CborReader& reader, ReleaseMessage& release) {
  TRY_STATUS(reader.expect_map(kReleaseFields));
  TRY_STATUS(take_entry(reader, 1, release.fleet));
  TRY_STATUS(take_entry(reader, 2, release.number));
  TRY_STATUS(take_entry(reader, 3, release.model_number));
  TRY_STATUS(take_text(reader, 4, release.model_name, kMaxModelName));
  TRY_STATUS(take_entry(reader, 5, release.model_hash));
  TRY_STATUS(take_entry(reader, 6, release.replaces));
  TRY_STATUS(take_entry(reader, 7, release.package_bytes));
  TRY_STATUS(take_entry(reader, 8, release.package_digest));
  TRY_STATUS(take_pieces(reader, release));
  TRY_STATUS(take_canaries(reader, release));
  TRY_STATUS(reader.expect_end());
  return check_release(release);
}

}  // namespace

std::size_t release_piece_count(std::uint64_t package_bytes) {
  return static_cast<std::size_t>((package_bytes + kReleasePieceBytes - 1) / kReleasePieceBytes);
}

std::vector<Sha256Digest> release_pieces(std::span<const std::byte> archive) {
  std::vector<Sha256Digest> digests;
  for (std::size_t at = 0; at < archive.size(); at += kReleasePieceBytes) {
    digests.push_back(sha256(archive.subspan(at, std::min(kReleasePieceBytes, archive.size() - at))));
  }
  return digests;
}

std::string package_name(const Sha256Digest& package) {
  return to_hex(std::span(package).first(8));
}

std::string release_piece_name(const Sha256Digest& package, std::size_t index) {
  return package_name(package) + "-" + std::to_string(index);
}

Result<Payload> encode(const ReleaseMessage& release) {
  TRY_STATUS(check_release(release));
  Payload payload{PayloadType::kRelease, {}};
  CborWriter writer(payload.bytes);
  writer.put_map(kReleaseFields);
  put_entry(writer, 1, release.fleet);
  put_entry(writer, 2, release.number);
  put_entry(writer, 3, release.model_number);
  put_entry(writer, 4, release.model_name);
  put_entry(writer, 5, release.model_hash);
  put_entry(writer, 6, release.replaces);
  put_entry(writer, 7, release.package_bytes);
  put_entry(writer, 8, release.package_digest);
  writer.put_unsigned(9);
  writer.put_bytes(std::as_bytes(std::span(release.pieces)));
  put_entry(writer, 10, joined(release.canaries));
  return payload;
}

Admitted<ReleaseMessage> decode_release(const VerifiedPayload& payload) {
  if (const Status fits = check_type(payload, PayloadType::kRelease, kFirstFormat); !fits.ok()) {
    return refuse(RefusalReason::kUnsupported, fits.error().message);
  }
  ReleaseMessage release;
  CborReader reader(payload.bytes());
  if (const Status read = read_fields(reader, release); !read.ok()) {
    return refuse(RefusalReason::kMalformed, "release: " + read.error().message);
  }
  return release;
}

Admitted<ReleaseMessage> open_release(Bytes envelope, const EnvelopeOpener& opener,
                                      const std::string& fleet) {
  TRY(auto parsed, UnverifiedEnvelope::parse(std::move(envelope), kMaxOrderBytes));
  TRY(const VerifiedPayload payload, opener.open(std::move(parsed)));
  TRY(ReleaseMessage release, decode_release(payload));
  if (release.fleet == fleet) return release;
  return refuse(RefusalReason::kWrongFleet,
                "a release for fleet '" + release.fleet + "', this is '" + fleet + "'");
}

}  // namespace aflguard
