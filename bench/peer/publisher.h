#pragma once

#include <deque>
#include <map>
#include <optional>

#include "bench/peer/peer.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/transport/topics.h"

namespace aflguard::bench {

/// When a publisher goes on to its next update.
enum class GoOn {
  kVerdict,  ///< as devices do: the gateway's signed verdict has come
  kAcks,     ///< the broker has acknowledged every piece
};

struct PublisherSettings {
  Identity identity;
  ModelHash model_hash{};
  PublicKey gateway_key{};
  std::vector<float> vector;  ///< of every update
};

/// A device without training: it signs updates beforehand and sends them one after the other.
class Publisher final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Publisher>> create(PublisherSettings settings, LogSink& log);

  /// Signs `count` updates on the newest version that it knows. Returns the size of one envelope.
  [[nodiscard]] Result<std::size_t> prepare(std::size_t count);
  /// Sends what was prepared, one at a time; when each was complete.
  [[nodiscard]] Result<Moments> run(GoOn go_on);
  /// Accepted by the gateway since the start.
  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  /// Verdicts that carried a model, since the start.
  [[nodiscard]] std::size_t models() const { return models_; }

 private:
  Publisher(PublisherSettings settings, OpensslSigner signer, std::unique_ptr<MqttBus> bus,
            FleetTopics topics);
  [[nodiscard]] Status send(Bytes envelope, std::uint64_t sequence, GoOn go_on);
  void pump(PieceSender& sender);
  /// The verdict that this message completes, if it does.
  [[nodiscard]] Result<std::optional<VerdictMessage>> take_verdict(const Message& message);

  PublisherSettings settings_;
  OpensslSigner signer_;
  EnvelopeSealer sealer_;
  std::unique_ptr<MqttBus> bus_;
  std::string topic_;
  KeyTable gateway_;
  OpensslVerifier verifier_;
  PieceAssembler assembler_;
  std::map<PublishId, std::uint16_t> on_their_way_;
  struct Prepared {
    std::uint64_t sequence = 0;
    Bytes envelope;
  };
  std::deque<Prepared> prepared_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t version_ = 0;
  std::size_t accepted_ = 0;
  std::size_t models_ = 0;
};

}  // namespace aflguard::bench
