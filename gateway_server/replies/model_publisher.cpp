#include "gateway_server/replies/model_publisher.h"

namespace aflguard::gateway {

SharedModel ModelPublisher::published(const SharedModel& model) {
  if (model == nullptr || model == source_) return published_;
  if (source_ != nullptr && model->version < source_->version)
    *this = ModelPublisher();  // restored from a backup
  follow(model);
  source_ = model;
  published_ = model;
  if (!grid_) return published_;
  auto rounded = std::make_shared<ModelSnapshot>();
  rounded->version = model->version;
  rounded->iteration = model->iteration;
  rounded->parameters = grid_->rounded(model->parameters);
  published_ = std::move(rounded);
  return published_;
}

void ModelPublisher::follow(const SharedModel& model) {
  const bool due = !grid_ || model->version >= fitted_ + kVersionsPerGrid;
  if (!due) return;
  if (older_ != nullptr && model->version > older_->version) {
    grid_.emplace(older_->parameters, model->parameters, model->version - older_->version);
    fitted_ = model->version;
    older_.reset();
  } else {
    older_ = model;
  }
}

}  // namespace aflguard::gateway
