#include "core/envelope/piece_assembler.h"

#include <algorithm>

namespace aflguard {

namespace {

/// Looking for what has stalled costs a walk over all that is unfinished.
constexpr std::chrono::milliseconds kBetweenLooks(500);

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

/// Pieces mostly come in order: then the bytes are written once, and not as zeros first.
void PieceAssembler::Transfer::place(const Piece& piece) {
  const std::size_t offset = piece.header.offset();
  if (offset == bytes.size()) {
    bytes.insert(bytes.end(), piece.body.begin(), piece.body.end());
    return;
  }
  bytes.resize(std::max(bytes.size(), offset + piece.body.size()));
  std::copy(piece.body.begin(), piece.body.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

Admitted<std::optional<Bytes>> PieceAssembler::accept(std::string_view source,
                                                      std::span<const std::byte> message, Time now) {
  TRY(const Piece piece, read_piece(message));
  const PieceHeader& header = piece.header;
  if (finished_.is_repeat(source, header.transfer, header.round, now)) return std::optional<Bytes>{};
  TRY(Transfer * transfer, find_or_open(source, header, now));
  if (transfer->present[header.index]) return std::optional<Bytes>{};
  transfer->place(piece);
  transfer->present[header.index] = true;
  ++transfer->present_count;
  transfer->last_piece = now;
  transfer->shape.round = std::max(transfer->shape.round, header.round);
  if (transfer->present_count < header.count) return std::optional<Bytes>{};
  return std::optional<Bytes>(finish(sources_.find(source), transfer->shape, now));
}

bool PieceAssembler::opens(std::string_view source, const PieceHeader& header, Time now) const {
  if (finished_.is_repeat(source, header.transfer, header.round, now)) return false;
  const auto known = sources_.find(source);
  if (known == sources_.end()) return true;
  return std::none_of(known->second.unfinished.begin(), known->second.unfinished.end(),
                      [&](const Transfer& each) { return each.shape.transfer == header.transfer; });
}

Admitted<PieceAssembler::Transfer*> PieceAssembler::find_or_open(std::string_view source,
                                                                 const PieceHeader& header, Time now) {
  const auto known = sources_.find(source);
  if (known == sources_.end()) return open(source, header, now);
  for (Transfer& transfer : known->second.unfinished) {
    if (transfer.shape.transfer != header.transfer) continue;
    if (transfer.shape.count == header.count && transfer.shape.total == header.total) return &transfer;
    return refuse(RefusalReason::kMalformed,
                  "piece of " + std::to_string(header.count) + " with " + std::to_string(header.total) +
                      " bytes in all contradicts its transfer's " + std::to_string(transfer.shape.count) +
                      " and " + std::to_string(transfer.shape.total));
  }
  return open(source, header, now);
}

Admitted<PieceAssembler::Transfer*> PieceAssembler::open(std::string_view source, const PieceHeader& header,
                                                         Time now) {
  const std::size_t most = std::min(limits_.max_envelope_bytes, limits_.max_bytes_per_source);
  if (header.total > most) {
    return over_limit(RefusalReason::kOversized, source, header, "bytes per envelope", most);
  }
  // The sender's own older transfers make room where that is enough, then those that have stalled.
  const std::size_t cost = header.total + kTransferOverhead;
  const auto fits_without_own = [&] {
    const auto own = sources_.find(source);
    const std::size_t others = charge() - (own == sources_.end() ? 0 : own->second.charge());
    return cost <= limits_.max_bytes && others <= limits_.max_bytes - cost;
  };
  if (!fits_without_own() && now - looked_for_stalled_ >= kBetweenLooks) {
    looked_for_stalled_ = now;
    drop_silent(now, limits_.stalled, &pushed_out_);
  }
  if (!fits_without_own()) {
    return over_limit(RefusalReason::kOverloaded, source, header, "bytes of all senders", limits_.max_bytes);
  }
  auto place = sources_.find(source);
  if (place == sources_.end()) place = sources_.emplace(std::string(source), Source{}).first;
  Source& entry = place->second;
  while (!entry.unfinished.empty() && (entry.unfinished.size() >= limits_.max_transfers_per_source ||
                                       entry.bytes() + header.total > limits_.max_bytes_per_source ||
                                       charge() + cost > limits_.max_bytes)) {
    drop_oldest(entry);
  }
  Transfer transfer;
  transfer.shape = header;
  transfer.bytes.reserve(header.total);
  transfer.present.resize(header.count, false);
  transfer.last_piece = now;
  bytes_ += header.total;
  ++transfers_;
  entry.unfinished.push_back(std::move(transfer));
  return &entry.unfinished.back();
}

void PieceAssembler::forget(const Transfer& transfer) {
  bytes_ -= transfer.shape.total;
  --transfers_;
}

void PieceAssembler::drop_oldest(Source& source) {
  forget(source.unfinished.front());
  source.unfinished.erase(source.unfinished.begin());
}

Bytes PieceAssembler::finish(Sources::iterator source, const PieceHeader& last, Time now) {
  std::vector<Transfer>& unfinished = source->second.unfinished;
  const auto done = std::find_if(unfinished.begin(), unfinished.end(),
                                 [&](const Transfer& each) { return each.shape.transfer == last.transfer; });
  Bytes envelope = std::move(done->bytes);
  forget(*done);
  finished_.note(source->first, last.transfer, last.round, now);
  unfinished.erase(done);
  if (unfinished.empty()) sources_.erase(source);
  return envelope;
}

std::size_t PieceAssembler::expire(Time now) {
  return drop_silent(now, limits_.silence, nullptr);
}

std::size_t PieceAssembler::drop_silent(Time now, std::chrono::steady_clock::duration longest,
                                        std::vector<PushedOut>* dropped) {
  std::size_t count = 0;
  for (auto place = sources_.begin(); place != sources_.end();) {
    count += std::erase_if(place->second.unfinished, [&](const Transfer& transfer) {
      if (now - transfer.last_piece <= longest) return false;
      forget(transfer);
      if (dropped != nullptr) dropped->push_back({place->first, transfer.shape.transfer});
      return true;
    });
    place = place->second.unfinished.empty() ? sources_.erase(place) : std::next(place);
  }
  return count;
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
