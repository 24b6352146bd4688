#include "core/base/byte_cursor.h"
#include "core/base/check.h"
#include "core/envelope/piece_assembler.h"
#include "fuzz/target.h"

using namespace aflguard;

/// The input is a list of events: a byte (the sender, or 255 for a minute of silence), a length of two bytes,
/// and that many bytes of a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  PieceAssemblerLimits limits;
  limits.max_envelope_bytes = 512;
  limits.max_bytes_per_source = 700;
  limits.max_bytes = 1500 + 3 * kTransferOverhead;
  limits.finished_places = 3;
  limits.silence = std::chrono::seconds(90);
  PieceAssembler assembler(limits);
  PieceAssembler::Time now{};
  ByteReader reader(fuzz_input(data, size));
  while (reader.remaining() >= 3) {
    const auto sender = reader.take_big_endian<std::uint8_t>().value();
    const auto length = reader.take_big_endian<std::uint16_t>().value();
    const auto message = reader.take(std::min<std::size_t>(length, reader.remaining())).value();
    if (sender == 255) {
      now += std::chrono::seconds(60);
      assembler.expire(now);
    }
    const std::string source(1, static_cast<char>('a' + sender % 5));
    const auto taken = assembler.accept(source, message, now);
    if (taken.ok() && taken->has_value())
      check((*taken)->size() <= limits.max_envelope_bytes, "envelope limit");
    check(assembler.bytes() <= limits.max_bytes, "limit of all senders");
    check(assembler.bytes_of(source) <= limits.max_bytes_per_source, "limit of one sender");
    check(assembler.sources() * kTransferOverhead <= limits.max_bytes, "number of senders");
  }
  assembler.expire(now + std::chrono::hours(1));
  check(assembler.bytes() == 0 && assembler.sources() == 0, "silence frees everything");
  return 0;
}
