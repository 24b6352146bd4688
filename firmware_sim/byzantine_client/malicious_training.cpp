#include "firmware_sim/byzantine_client/malicious_training.h"

#include "firmware_sim/byzantine_client/device_view.h"

namespace aflguard::sim {
namespace {

lab::AttackSettings attack_settings(const AttackPlan& plan) {
  lab::AttackSettings settings;
  settings.lambda = plan.lambda;
  settings.trusted_size = plan.trusted_size;
  settings.reach = plan.reach;
  settings.memory = plan.memory;
  settings.options = plan.options;
  return settings;
}

class MaliciousTraining final : public edge::LocalTraining {
 public:
  MaliciousTraining(const lab::AttackKind& kind, const AttackPlan& plan, Trainer& trainer,
                    edge::SampleSource& source, std::uint64_t seed)
      : kind_(kind),
        attack_((kind.make_on_device != nullptr ? kind.make_on_device : kind.make)(attack_settings(plan))),
        trusted_(plan.trusted),
        view_(trainer, source, seed) {}

  Result<edge::TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override {
    view_.begin(model, keep_going);
    if (kind_.trains_first) TRY_STATUS(view_.train());
    if (kind_.needs.reference && trusted_ != nullptr && trusted_->size() > 0) {
      TRY_STATUS(view_.look_at(*trusted_));
    }
    edge::TrainedUpdate update;
    update.vector.resize(model.vector.size());
    TRY_STATUS(attack_->craft(view_, update.vector));
    update.samples = view_.trained().samples;
    update.loss = view_.trained().loss;
    return update;
  }

 private:
  const lab::AttackKind& kind_;
  std::unique_ptr<lab::Attack> attack_;
  std::shared_ptr<const Dataset> trusted_;
  DeviceView view_;
};

}  // namespace

Result<std::unique_ptr<edge::LocalTraining>> make_malicious_training(const AttackPlan& plan, Trainer& trainer,
                                                                     edge::SampleSource& source,
                                                                     std::uint64_t seed) {
  TRY(const lab::AttackKind* kind, find_live_attack(plan.name));
  TRY_STATUS(check_options(kind->name, kind->options, plan.options));
  return std::unique_ptr<edge::LocalTraining>(
      std::make_unique<MaliciousTraining>(*kind, plan, trainer, source, seed));
}

}  // namespace aflguard::sim
