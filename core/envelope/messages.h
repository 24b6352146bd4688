#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/encoding/model_difference.h"

namespace aflguard {

/// SHA-256 of a model's layout: what the numbers of a vector mean (layout_hash of core/learning, as bytes).
using ModelHash = std::array<std::uint8_t, 32>;

/// What a device sends. Who sent it is not in here: that comes from the verified signature.
struct UpdateMessage {
  std::string fleet;
  ModelHash model_hash{};
  std::uint64_t base_version = 0;  ///< version of the global model that the update was computed on
  std::uint64_t sequence = 1;      ///< from 1; the same number means the same update
  std::uint64_t samples = 0;       ///< claimed by the device: information, never an input to a decision
  double loss = 0;                 ///< the same; may be any double
  std::vector<float> vector;       ///< SUM of the gradients over the mini-batch; finite, not empty

  friend bool operator==(const UpdateMessage&, const UpdateMessage&) = default;
};

/// The global model with everything a device needs to train on it.
struct ModelMessage {
  std::string fleet;
  std::uint64_t version = 0;
  ModelHash model_hash{};
  std::uint32_t batch_size = 1;   ///< samples per mini-batch, at least 1
  double learning_rate = 0;       ///< finite, above 0
  std::uint32_t local_steps = 1;  ///< mini-batches per update, at least 1
  std::vector<float> vector;      ///< parameters; finite, not empty

  friend bool operator==(const ModelMessage&, const ModelMessage&) = default;
};

/// A device waits no longer for its next turn, whatever a verdict says.
inline constexpr std::chrono::milliseconds kLongestPause = std::chrono::hours(24);

/// What the gateway answers to one update, after the outcome is durable.
struct VerdictMessage {
  std::string fleet;
  std::string device;          ///< whom it is for
  std::uint64_t sequence = 1;  ///< of the judged update
  bool accepted = false;
  std::uint8_t reason = 0;  ///< the guard's Reason below 64, a RefusalReason from 64 on
  double distance = 0;
  double bound = 0;
  std::uint64_t version = 0;           ///< of the global model after this verdict
  std::uint64_t delay = 0;             ///< versions between the update's base and its arrival
  std::uint64_t highest_sequence = 0;  ///< highest number judged for this device; a new update goes above it
  std::optional<ModelMessage> model;   ///< the model of `version`; without it, see the topic `model`
  /// The next update should come after so long; 0: when the device sees fit. Above 0 in format 2 only.
  std::chrono::milliseconds come_back{0};

  friend bool operator==(const VerdictMessage&, const VerdictMessage&) = default;
};

/// The global model as a difference to an older version of it, which the device has.
struct DifferenceMessage {
  ModelMessage terms;                     ///< of the new version; without its vector
  std::uint64_t base_version = 0;         ///< what the difference is to
  std::array<std::uint8_t, 32> digest{};  ///< SHA-256 of the new parameters: binary32, little endian
  DifferenceKind kind = DifferenceKind::kBlocks;
  std::vector<std::byte> bytes;  ///< apply_difference() reads them

  friend bool operator==(const DifferenceMessage&, const DifferenceMessage&) = default;
};

/// What a gateway takes beside format 1: the same bytes for every device that asks.
struct OfferMessage {
  std::string fleet;
  ModelHash model_hash{};
  EncodingSet taken;  ///< encodings and packings of updates

  friend bool operator==(const OfferMessage&, const OfferMessage&) = default;
};

}  // namespace aflguard
