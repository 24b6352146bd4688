#include "models/shapes/window.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace aflguard::models {

std::int64_t Window::positions(std::size_t axis, std::int64_t extent) const {
  const std::int64_t room = extent + pads_begin[axis] + pads_end[axis] - reach(axis);
  return room < 0 ? 0 : room / strides[axis] + 1;
}

std::int64_t Window::unused(std::size_t axis, std::int64_t extent) const {
  return (extent + pads_begin[axis] + pads_end[axis] - reach(axis)) % strides[axis];
}

std::int64_t Window::kernel_size() const {
  return std::accumulate(kernel.begin(), kernel.end(), std::int64_t{1}, std::multiplies<>());
}

bool Window::padded() const {
  const auto positive = [](std::int64_t extent) { return extent != 0; };
  return std::ranges::any_of(pads_begin, positive) || std::ranges::any_of(pads_end, positive);
}

std::vector<std::int64_t> Window::pads() const {
  std::vector<std::int64_t> result = pads_begin;
  result.insert(result.end(), pads_end.begin(), pads_end.end());
  return result;
}

Attributes Window::attributes() const {
  return {{"kernel_shape", kernel}, {"strides", strides}, {"dilations", dilations}, {"pads", pads()}};
}

Result<Window> read_window(const Node& node, std::vector<std::int64_t> kernel) {
  const std::size_t rank = kernel.size();
  Window window;
  window.strides = node.ints_or("strides", std::vector<std::int64_t>(rank, 1));
  window.dilations = node.ints_or("dilations", std::vector<std::int64_t>(rank, 1));
  const auto pads = node.ints_or("pads", std::vector<std::int64_t>(2 * rank, 0));
  const auto declared = node.ints_or("kernel_shape", kernel);
  window.kernel = std::move(kernel);
  if (window.strides.size() != rank || window.dilations.size() != rank || pads.size() != 2 * rank) {
    return invalid_input("strides, dilations or pads do not have one entry per spatial axis (" +
                         std::to_string(rank) + ")");
  }
  if (declared != window.kernel) return invalid_input("kernel_shape differs from the weight's shape");
  const auto impossible = [](std::int64_t value) { return value < 1 || value > kMaxWindowExtent; };
  if (std::ranges::any_of(window.strides, impossible) || std::ranges::any_of(window.dilations, impossible) ||
      std::ranges::any_of(window.kernel, impossible)) {
    return invalid_input("a kernel extent, stride or dilation is outside 1 to " +
                         std::to_string(kMaxWindowExtent));
  }
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0 || pad > kMaxWindowExtent; })) {
    return unsupported("padding is outside 0 to " + std::to_string(kMaxWindowExtent));
  }
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  return window;
}

}  // namespace aflguard::models
