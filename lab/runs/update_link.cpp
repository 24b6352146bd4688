#include "lab/runs/update_link.h"

#include <algorithm>
#include <limits>

#include "core/base/random.h"
#include "lab/tasks/streams.h"

namespace aflguard::lab {
namespace {

/// The encoding alone, or all of them for "auto".
EncodingSet encodings_of(const ExperimentSettings& settings) {
  EncodingSet taken = EncodingSet::all();
  taken.packings = 1;  // packing loses nothing
  const auto wish = parse_encoding(settings.encoding);
  if (!wish) return taken;
  taken.encodings = 0;
  taken.add(*wish);
  return taken;
}

}  // namespace

UpdateLink::UpdateLink(const ExperimentSettings& settings)
    : exact_(settings.encoding == "float32"),
      feedback_(settings.feedback),
      taken_(encodings_of(settings)),
      most_error_(settings.encoding == "auto" ? kMostRelativeError : std::numeric_limits<double>::infinity()),
      seed_(settings.seed) {}

Status UpdateLink::carry(ClientId client, std::uint64_t iteration, std::span<float> update) {
  if (exact_) return {};
  std::vector<float>* lost = feedback_ ? &lost_[client] : nullptr;
  if (lost != nullptr) {
    lost->resize(update.size());
    for (std::size_t i = 0; i < update.size(); ++i) update[i] += (*lost)[i];
  }
  const std::uint64_t dice = Random(seed_ ^ iteration << 20, kRoundingStream).next();
  TRY(const ChosenEncoding chosen, choose_encoding(update, taken_, most_error_, dice));
  const EncodedVector& sent = chosen.vector;
  TRY(const auto decoded,
      decode_vector({sent.encoding, sent.count, sent.packing, sent.bytes}, update.size()));
  for (std::size_t i = 0; lost != nullptr && i < update.size(); ++i) (*lost)[i] = update[i] - decoded[i];
  std::copy(decoded.begin(), decoded.end(), update.begin());
  return {};
}

}  // namespace aflguard::lab
