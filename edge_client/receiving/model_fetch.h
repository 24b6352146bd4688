#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/messages.h"
#include "core/transport/message_bus.h"

namespace aflguard::edge {

struct ModelTimeouts {
  /// How long to wait for a newer model before going on with the one at hand.
  std::chrono::milliseconds answer{20'000};
  /// A model that has been here for longer is asked for again before it is trained on.
  std::chrono::milliseconds age{30'000};
};

/// The newest model that a device has, and asking for a newer one: subscribing to the topic `model` brings
/// the one that the broker keeps, and newer ones until one of them is the answer. Borrows everything it is
/// given; one thread.
class ModelFetch final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ModelFetch(const ModelTimeouts& timeouts, std::string topic, MessageBus& bus, const Clock& clock,
             LogSink& log);

  [[nodiscard]] const std::string& topic() const { return topic_; }
  [[nodiscard]] const std::optional<ModelMessage>& model() const { return model_; }
  /// Messages of the topic are of use only while this is true; some come later.
  [[nodiscard]] bool asking() const { return question_.has_value(); }

  /// For a model of that version or a newer one.
  void ask(std::uint64_t at_least);
  /// For one that is at least as new as the model at hand, unless there is a question already.
  void ask_for_newest();
  /// There is a connection: the timeout of a question begins now.
  void connected();

  /// A verified model of the topic; true when it is the answer, and from now on the model at hand.
  bool offer(ModelMessage model);
  /// A verified model that came with a verdict: it is the newest.
  void take(ModelMessage model);
  /// A verdict says which version is the newest: the one at hand, or one to ask for. A gateway that was
  /// restored from a backup has gone back: then the model at hand is dropped.
  void newest_is(std::uint64_t version);

  /// Nothing when there is a model to train on; else until when to wait for one, Time::max() while there is
  /// none at all. Asks for one unless that was done.
  [[nodiscard]] std::optional<Time> wait(Time now);
  /// Asks again when the model at hand is too old; then, until when to wait for the answer.
  [[nodiscard]] std::optional<Time> ask_again_when_old(Time now);

 private:
  struct Question {
    std::uint64_t at_least = 0;  ///< older versions are no answer
    Time asked;
  };

  const ModelTimeouts timeouts_;
  const std::string topic_;
  MessageBus& bus_;
  const Clock& clock_;
  LogSink& log_;
  std::optional<ModelMessage> model_;
  Time confirmed_{};  ///< when the model at hand was the newest, as far as is known
  std::optional<Question> question_;
};

}  // namespace aflguard::edge
