#include "core/learning/data/partition.h"

#include <cmath>
#include <map>
#include <numeric>

namespace aflguard {

Shares share_iid(std::size_t samples, std::size_t clients, Random& random) {
  std::vector<std::size_t> order(samples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(std::span(order));
  Shares shares(clients);
  for (std::size_t i = 0; i < samples; ++i) shares[i % clients].push_back(order[i]);
  return shares;
}

Shares share_by_label(const Dataset& data, std::size_t clients, double q, Random& random) {
  const std::size_t groups = data.classes;
  std::vector<std::vector<std::size_t>> members(groups);
  if (clients >= groups) {
    for (std::size_t i = 0; i < clients; ++i) members[i % groups].push_back(i);
  } else {
    for (std::size_t group = 0; group < groups; ++group) members[group].push_back(group % clients);
  }
  Shares shares(clients);
  for (std::size_t i = 0; i < data.size(); ++i) {
    auto group = static_cast<std::size_t>(data.labels[i]);
    if (groups > 1 && random.uniform() >= q) {
      const std::size_t other = random.below(groups - 1);
      group = other < group ? other : other + 1;
    }
    shares[members[group][random.below(members[group].size())]].push_back(i);
  }
  return shares;
}

Result<SubjectSplit> split_per_subject(const Dataset& data, double train_fraction, Random& random) {
  if (data.subjects.empty()) {
    return invalid_input("data set '" + data.name + "' does not say which subject each sample belongs to");
  }
  std::map<std::int64_t, std::vector<std::size_t>> by_subject;
  for (std::size_t i = 0; i < data.size(); ++i) by_subject[data.subjects[i]].push_back(i);
  SubjectSplit split;
  for (auto& [subject, samples] : by_subject) {
    random.shuffle(std::span(samples));
    const auto train =
        static_cast<std::size_t>(std::lround(train_fraction * static_cast<double>(samples.size())));
    std::vector<std::size_t>& share = split.shares.emplace_back();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i < train) {
        share.push_back(split.train.size());
        split.train.push_back(samples[i]);
      } else {
        split.test.push_back(samples[i]);
      }
    }
  }
  return split;
}

Dataset subset(const Dataset& data, const std::vector<std::size_t>& indices) {
  Dataset part;
  part.name = data.name;
  part.sample_shape = data.sample_shape;
  part.classes = data.classes;
  const std::size_t width = data.sample_size();
  std::visit(
      [&](const auto& from) {
        std::decay_t<decltype(from)> to;
        to.reserve(indices.size() * width);
        for (const std::size_t i : indices) {
          const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * width);
          to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
        }
        part.features = std::move(to);
      },
      data.features);
  for (const std::size_t i : indices) {
    if (!data.labels.empty()) part.labels.push_back(data.labels[i]);
    if (!data.values.empty()) part.values.push_back(data.values[i]);
    if (!data.subjects.empty()) part.subjects.push_back(data.subjects[i]);
  }
  return part;
}

}  // namespace aflguard
