#include "edge_client/training/sample_source.h"

#include <string>

namespace aflguard::edge {

Result<const Dataset*> GrowingSamples::samples() {
  const auto added = follower_.poll();
  if (!added.ok()) return added.error();
  if (follower_.skipped() > reported_) {
    log_.warning(std::to_string(follower_.skipped() - reported_) + " rows skipped, the last one because " +
                 follower_.last_problem());
    reported_ = follower_.skipped();
  }
  const Dataset& data = follower_.data();
  if (data.size() == 0) return unavailable("waiting for samples in " + data.name);
  return &data;
}

}  // namespace aflguard::edge
