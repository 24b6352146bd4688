#include "edge_client/receiving/model_fetch.h"

#include <utility>

namespace aflguard::edge {

ModelFetch::ModelFetch(const ModelTimeouts& timeouts, std::string topic, MessageBus& bus, const Clock& clock,
                       LogSink& log)
    : timeouts_(timeouts), topic_(std::move(topic)), bus_(bus), clock_(clock), log_(log) {}

void ModelFetch::ask(std::uint64_t at_least) {
  question_ = Question{at_least, clock_.steady()};
  if (const Status status = bus_.subscribe(topic_); !status.ok()) log_.error(status.error().message);
}

void ModelFetch::ask_for_newest() {
  if (!question_) ask(model_ ? model_->version : 0);
}

void ModelFetch::connected() {
  if (question_) question_->asked = clock_.steady();
}

bool ModelFetch::offer(ModelMessage model) {
  if (!question_ || model.version < question_->at_least) return false;
  take(std::move(model));
  return true;
}

void ModelFetch::take(ModelMessage model) {
  if (!model_ || model_->version != model.version) {
    log_.debug("model version " + std::to_string(model.version));
  }
  model_ = std::move(model);
  confirmed_ = clock_.steady();
  if (question_) bus_.unsubscribe(topic_);
  question_.reset();
}

void ModelFetch::newest_is(std::uint64_t version) {
  if (model_ && model_->version == version) {
    confirmed_ = clock_.steady();
    return;
  }
  if (model_ && model_->version > version) model_.reset();
  ask(version);
}

std::optional<ModelFetch::Time> ModelFetch::wait(Time now) {
  const bool answer_may_come = question_ && now < question_->asked + timeouts_.answer;
  if (model_ && !answer_may_come) return std::nullopt;
  if (!question_) ask(0);
  return model_ ? question_->asked + timeouts_.answer : Time::max();
}

std::optional<ModelFetch::Time> ModelFetch::ask_again_when_old(Time now) {
  if (question_ || !model_ || now - confirmed_ <= timeouts_.age) return std::nullopt;
  ask(model_->version);
  return now + timeouts_.answer;
}

}  // namespace aflguard::edge
