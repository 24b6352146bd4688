#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aflguard::bench {

/// A training step in plain C++: every layer as the loops of its definition, one image after the other, left
/// to the compiler. What a programmer writes first, and the baseline of `aflguard bench train` on boards, for
/// which PyTorch is too large.
class PlainNetwork final {
 public:
  [[nodiscard]] static PlainNetwork cnn();       ///< the zoo's "cnn": images of 1 x 28 x 28
  [[nodiscard]] static PlainNetwork resnet20();  ///< the zoo's "resnet20": images of 3 x 32 x 32

  PlainNetwork(PlainNetwork&&) noexcept;
  PlainNetwork& operator=(PlainNetwork&&) noexcept;
  ~PlainNetwork();

  [[nodiscard]] std::size_t dimension()
      const;  ///< numbers in theta and gradient, laid out as the zoo's package has them
  [[nodiscard]] std::size_t input_size() const;  ///< numbers of one sample

  /// The mean cross-entropy of the batch, and the gradient of it.
  float gradient(std::span<const float> theta, std::span<const float> features,
                 std::span<const std::int64_t> labels, std::span<float> gradient);

 private:
  struct Layers;
  explicit PlainNetwork(std::unique_ptr<Layers> layers);
  std::unique_ptr<Layers> layers_;
};

}  // namespace aflguard::bench
