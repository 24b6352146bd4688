#pragma once

#include <memory>
#include <optional>

#include "core/learning/trainer.h"
#include "edge_client/training/gradient_training.h"
#include "lab/attacks/craft/attacker_view.h"

namespace aflguard::sim {

/// A trainer on false samples: the attack changes every batch before the real trainer sees it.
class LyingTrainer final : public Trainer {
 public:
  explicit LyingTrainer(Trainer& honest) : honest_(honest) {}
  /// For the batches to come; null: honest again.
  void tell(const lab::Lie* lie) { lie_ = lie; }

  [[nodiscard]] const ModelDescription& model() const override { return honest_.model(); }
  [[nodiscard]] Result<float> gradient(std::span<const float> parameters, const Batch& batch,
                                       std::span<float> gradient) override;
  [[nodiscard]] Status predict(std::span<const float> parameters, std::span<const float> features,
                               std::size_t count, std::span<float> outputs) override;

 private:
  Trainer& honest_;
  const lab::Lie* lie_ = nullptr;
};

/// What a live device sees: its own samples, the model that it was sent, and the guard's reference update if
/// the trusted samples leaked. The honest updates of others stay hidden.
class DeviceView final : public lab::AttackerView {
 public:
  /// Borrows trainer and source.
  DeviceView(Trainer& trainer, edge::SampleSource& source, std::uint64_t seed);

  /// Another model has come; both live until the answer is crafted.
  void begin(const ModelMessage& model, const edge::LocalTraining::KeepGoing& keep_going);
  /// Fills `reference`: the update that these samples give at the model.
  [[nodiscard]] Status look_at(const Dataset& trusted);
  /// How many samples the last training saw and its loss: what the device reports with its update.
  [[nodiscard]] const edge::TrainedUpdate& trained() const { return trained_; }

  [[nodiscard]] Random& random() override { return random_; }
  [[nodiscard]] Result<const Dataset*> samples() override { return source_.samples(); }
  [[nodiscard]] Status own_update(std::span<float> update) override;
  [[nodiscard]] Status false_update(const lab::Lie& lie, std::span<float> update) override;
  [[nodiscard]] Status update_on(const Batch& batch, std::span<float> update) override;
  [[nodiscard]] Status honest_updates(std::size_t devices, std::span<float> mean,
                                      std::span<float> deviation) override;
  [[nodiscard]] Status honest_answer(std::size_t which, std::span<float> update) override;
  /// Computes the honest update that own_update() gives, once per model.
  [[nodiscard]] Status train();

 private:
  LyingTrainer trainer_;
  edge::SampleSource& source_;
  edge::GradientTraining training_;
  Random random_;
  const ModelMessage* model_ = nullptr;
  const edge::LocalTraining::KeepGoing* keep_going_ = nullptr;
  bool honest_ = false;  ///< trained_ is the honest update for this model
  edge::TrainedUpdate trained_;
  ReferenceUpdate reference_;
};

}  // namespace aflguard::sim
