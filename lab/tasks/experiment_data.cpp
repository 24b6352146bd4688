#include "lab/tasks/experiment_data.h"

#include <cmath>

#include "datasets/synthetic.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/trusted_set.h"

namespace aflguard::lab {
namespace {

constexpr double kSubjectTrainFraction = 0.75;

Result<ExperimentData> prepare_synthetic(const ExperimentSettings& settings) {
  auto generated = datasets::generate_synthetic(settings.seed);
  Random trusted(settings.seed, kTrustedStream);
  Random partition(settings.seed, kPartitionStream);
  ExperimentData data;
  data.trusted = datasets::draw_synthetic(generated.true_model, settings.trusted_size, trusted);
  data.true_model = std::move(generated.true_model);
  data.shares = share_iid(generated.split.train.size(), settings.clients, partition);
  data.train = std::make_shared<const Dataset>(std::move(generated.split.train));
  data.test = std::make_shared<const Dataset>(std::move(generated.split.test));
  return data;
}

Dataset join(const Dataset& first, const Dataset& second) {
  Dataset all = first;
  auto& features = std::get<std::vector<float>>(all.features);
  const auto& more = std::get<std::vector<float>>(second.features);
  features.insert(features.end(), more.begin(), more.end());
  all.values.insert(all.values.end(), second.values.begin(), second.values.end());
  all.labels.insert(all.labels.end(), second.labels.begin(), second.labels.end());
  all.subjects.insert(all.subjects.end(), second.subjects.begin(), second.subjects.end());
  return all;
}

/// Shifts and scales every feature to mean 0 and deviation 1 over `train`, and `test` alike.
void standardise(Dataset& train, Dataset& test) {
  const std::size_t width = train.sample_size();
  auto& from = std::get<std::vector<float>>(train.features);
  auto& also = std::get<std::vector<float>>(test.features);
  const auto count = static_cast<double>(train.size());
  for (std::size_t feature = 0; feature < width; ++feature) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = feature; i < from.size(); i += width) sum += from[i];
    const double mean = sum / count;
    for (std::size_t i = feature; i < from.size(); i += width) squares += (from[i] - mean) * (from[i] - mean);
    const double deviation = std::sqrt(squares / count);
    const double scale = deviation > 1e-12 ? 1 / deviation : 0;  // a constant feature says nothing
    for (auto* features : {&from, &also}) {
      for (std::size_t i = feature; i < features->size(); i += width) {
        (*features)[i] = static_cast<float>(((*features)[i] - mean) * scale);
      }
    }
  }
}

Result<ExperimentData> prepare_per_subject(const ExperimentSettings& settings, const DatasetSplit& source,
                                           bool scaled) {
  const Dataset all = join(source.train, source.test);
  Random partition(settings.seed, kPartitionStream);
  TRY(auto split, split_per_subject(all, kSubjectTrainFraction, partition));
  if (split.shares.size() != settings.clients) {
    return invalid_input("data set '" + settings.dataset + "' has " + std::to_string(split.shares.size()) +
                         " subjects and each is a client, but " + std::to_string(settings.clients) +
                         " clients were asked for");
  }
  Dataset train = subset(all, split.train);
  Dataset test = subset(all, split.test);
  if (scaled) standardise(train, test);
  ExperimentData data;
  data.shares = std::move(split.shares);
  data.train = std::make_shared<const Dataset>(std::move(train));
  data.test = std::make_shared<const Dataset>(std::move(test));
  return data;
}

}  // namespace

Result<ExperimentData> prepare_data(const ExperimentSettings& settings,
                                    std::shared_ptr<const DatasetSplit> source) {
  TRY_STATUS(validate(settings));
  TRY(const LabDataset* known, find_lab_dataset(settings.dataset));
  if (known->partition == Partition::kIid) return prepare_synthetic(settings);
  if (source == nullptr) return invalid_input("data set '" + settings.dataset + "' was not loaded");
  ExperimentData data;
  const bool by_column = settings.partition.starts_with("column:");
  const bool per_subject = known->partition == Partition::kPerSubject && settings.partition.empty();
  if (per_subject || by_column) {
    TRY(data, prepare_per_subject(settings, *source, /*scaled=*/per_subject));
  } else if (settings.partition == "iid" || source->train.regression()) {
    Random partition(settings.seed, kPartitionStream);
    data.train = {source, &source->train};
    data.test = {source, &source->test};
    data.shares = share_iid(data.train->size(), settings.clients, partition);
  } else {
    Random partition(settings.seed, kPartitionStream);
    data.train = {source, &source->train};
    data.test = {source, &source->test};
    data.shares = share_by_label(*data.train, settings.clients, settings.non_iid, partition);
  }
  Random trusted(settings.seed, kTrustedStream);
  TRY(data.trusted,
      draw_trusted_set(*data.train, settings.trusted_size, settings.distribution_shift, trusted));
  return data;
}

}  // namespace aflguard::lab
