#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guard_kind.h"
#include "core/base/bytes.h"

namespace aflguard {

/// Under which settings a recording was made, and the aggregator's whole state at its beginning.
/// docs/recording.md describes the file.
struct RecordingHeader {
  std::string fleet;
  std::string model_hash;  ///< layout_hash of the model, hex
  std::string guard;       ///< a GuardKind's name
  GuardSettings guard_settings;
  AggregatorOptions aggregator;
  Bytes state;  ///< Aggregator::save()
};

/// From here on updates were compared with this reference.
struct RecordedReference {
  ReferenceUpdate reference;
  std::uint64_t due_since = 0;  ///< as install_reference() was told
};

/// One update as it was judged, and the answer that it got.
struct RecordedUpdate {
  std::uint64_t iteration = 0;  ///< updates judged, this one included
  ClientId client = 0;
  std::string device;  ///< its name
  std::uint64_t sequence = 0;
  std::uint64_t base_version = 0;
  std::vector<float> vector;  ///< finite
  Verdict verdict;
  std::uint64_t version = 0;  ///< of the model after it
};

/// From here on what this client said counts no longer.
struct RecordedDeparture {
  ClientId client = 0;
};

using RecordingEntry = std::variant<RecordingHeader, RecordedReference, RecordedUpdate, RecordedDeparture>;

/// The body of one entry, and back. kCorrupt when the bytes are damaged, cut or of another version.
[[nodiscard]] Bytes encode_entry(const RecordingHeader& header);
[[nodiscard]] Bytes encode_entry(const RecordedReference& reference);
[[nodiscard]] Bytes encode_entry(const RecordedDeparture& departure);
/// `vector` apart, because the caller has it elsewhere; update.vector is ignored.
[[nodiscard]] Bytes encode_entry(const RecordedUpdate& update, std::span<const float> vector);
[[nodiscard]] Result<RecordingEntry> decode_entry(std::span<const std::byte> bytes);

}  // namespace aflguard
