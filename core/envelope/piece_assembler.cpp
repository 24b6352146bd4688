#include "core/envelope/piece_assembler.h"

#include <algorithm>

namespace aflguard {

namespace {

Refusal over_limit(RefusalReason reason, std::string_view source, const PieceHeader& header,
                   std::string_view what, std::size_t limit) {
  return refuse(reason, "transfer of " + std::to_string(header.total) + " bytes from '" +
                            std::string(source) + "' goes over the limit of " + std::to_string(limit) + " " +
                            std::string(what));
}

}  // namespace

std::size_t PieceAssembler::Source::bytes() const {
  std::size_t sum = 0;
  for (const Transfer& transfer : unfinished) sum += transfer.shape.total;
  return sum;
}

Admitted<std::optional<Bytes>> PieceAssembler::accept(std::string_view source,
                                                      std::span<const std::byte> message, Time now) {
  TRY(const Piece piece, read_piece(message));
  const PieceHeader& header = piece.header;
  if (const auto known = sources_.find(source); known != sources_.end() && known->second.finished) {
    const Finished& finished = *known->second.finished;
    if (finished.transfer == header.transfer && header.round <= finished.round) return std::optional<Bytes>{};
  }
  TRY(Transfer * transfer, find_or_open(source, header));
  if (transfer->present[header.index]) return std::optional<Bytes>{};
  std::copy(piece.body.begin(), piece.body.end(),
            transfer->bytes.begin() + static_cast<std::ptrdiff_t>(header.offset()));
  transfer->present[header.index] = true;
  ++transfer->present_count;
  transfer->last_piece = now;
  transfer->shape.round = std::max(transfer->shape.round, header.round);
  if (transfer->present_count < header.count) return std::optional<Bytes>{};
  return std::optional<Bytes>(finish(sources_.find(source)->second, transfer->shape, now));
}

Admitted<PieceAssembler::Transfer*> PieceAssembler::find_or_open(std::string_view source,
                                                                 const PieceHeader& header) {
  const auto known = sources_.find(source);
  if (known == sources_.end()) return open(source, header);
  for (Transfer& transfer : known->second.unfinished) {
    if (transfer.shape.transfer != header.transfer) continue;
    if (transfer.shape.count == header.count && transfer.shape.total == header.total) return &transfer;
    return refuse(RefusalReason::kMalformed,
                  "piece of " + std::to_string(header.count) + " with " + std::to_string(header.total) +
                      " bytes in all contradicts its transfer's " + std::to_string(transfer.shape.count) +
                      " and " + std::to_string(transfer.shape.total));
  }
  return open(source, header);
}

Admitted<PieceAssembler::Transfer*> PieceAssembler::open(std::string_view source, const PieceHeader& header) {
  const std::size_t most = std::min(limits_.max_envelope_bytes, limits_.max_bytes_per_source);
  if (header.total > most) {
    return over_limit(RefusalReason::kOversized, source, header, "bytes per envelope", most);
  }
  auto place = sources_.find(source);
  if (place == sources_.end() && sources_.size() >= limits_.max_sources) {
    return over_limit(RefusalReason::kOverloaded, source, header, "senders", limits_.max_sources);
  }
  // Only the sender's own older transfers may make room, and only when that is enough.
  const std::size_t own = place == sources_.end() ? 0 : place->second.bytes();
  if (header.total > limits_.max_bytes - (bytes_ - own)) {
    return over_limit(RefusalReason::kOverloaded, source, header, "bytes of all senders", limits_.max_bytes);
  }
  if (place == sources_.end()) place = sources_.emplace(std::string(source), Source{}).first;
  Source& entry = place->second;
  while (!entry.unfinished.empty() && (entry.unfinished.size() >= limits_.max_transfers_per_source ||
                                       entry.bytes() + header.total > limits_.max_bytes_per_source ||
                                       bytes_ + header.total > limits_.max_bytes)) {
    drop_oldest(entry);
  }
  Transfer transfer;
  transfer.shape = header;
  transfer.bytes.resize(header.total);
  transfer.present.resize(header.count, false);
  bytes_ += header.total;
  entry.unfinished.push_back(std::move(transfer));
  return &entry.unfinished.back();
}

void PieceAssembler::drop_oldest(Source& source) {
  bytes_ -= source.unfinished.front().shape.total;
  source.unfinished.erase(source.unfinished.begin());
}

Bytes PieceAssembler::finish(Source& source, const PieceHeader& last, Time now) {
  const auto done = std::find_if(source.unfinished.begin(), source.unfinished.end(),
                                 [&](const Transfer& each) { return each.shape.transfer == last.transfer; });
  Bytes envelope = std::move(done->bytes);
  bytes_ -= done->shape.total;
  source.finished = Finished{last.transfer, last.round, now};
  source.unfinished.erase(done);
  return envelope;
}

std::size_t PieceAssembler::expire(Time now) {
  std::size_t dropped = 0;
  for (auto place = sources_.begin(); place != sources_.end();) {
    Source& source = place->second;
    dropped += std::erase_if(source.unfinished, [&](const Transfer& transfer) {
      if (now - transfer.last_piece <= limits_.silence) return false;
      bytes_ -= transfer.shape.total;
      return true;
    });
    if (source.finished && now - source.finished->when > limits_.silence) source.finished.reset();
    const bool forget = source.unfinished.empty() && !source.finished;
    place = forget ? sources_.erase(place) : std::next(place);
  }
  return dropped;
}

std::size_t PieceAssembler::bytes_of(std::string_view source) const {
  const auto known = sources_.find(source);
  return known == sources_.end() ? 0 : known->second.bytes();
}

std::vector<std::uint16_t> PieceAssembler::missing(std::string_view source, std::uint64_t transfer) const {
  std::vector<std::uint16_t> indices;
  const auto known = sources_.find(source);
  if (known == sources_.end()) return indices;
  for (const Transfer& each : known->second.unfinished) {
    if (each.shape.transfer != transfer) continue;
    for (std::size_t i = 0; i < each.present.size(); ++i) {
      if (!each.present[i]) indices.push_back(static_cast<std::uint16_t>(i));
    }
  }
  return indices;
}

}  // namespace aflguard
