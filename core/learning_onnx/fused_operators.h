#pragma once

#include <memory>

#include "core/learning_onnx/onnx_api.h"

namespace aflguard {

/// This project's own operators for ONNX Runtime, domain "aflguard", version 1 (docs/fused-operators.md):
///
///   Conv(X, W, [B]) -> Y                                 convolution of one group, optional rectifier
///   ConvGrad(dY, X, W, [Y]) -> dW, dB, [dX]              Y is given with a rectifier
///   ConvPool(X, W, [B]) -> Y, choices                    convolution, max pooling without overlap, rectifier
///   ConvPoolGrad(dY, X, W, choices) -> dW, dB, [dX]
///   BatchNorm(X, scale, bias, [residual]) -> Y, mean, inverse_std
///   BatchNormGrad(dY, X, scale, mean, inverse_std, [Y]) -> dX, dscale, dbias, [dresidual]
///
/// Attributes: strides, dilations [h, w]; pads [top, left, bottom, right]; pool [h, w]; relu 0 or 1; epsilon.
/// Optional inputs and outputs are trailing. Everything is float32 except choices (uint8, opaque).
/// One session runs at a time: its operators share scratch memory and threads. They give the same bits for
/// any number of threads. ONNX Runtime's own threads cannot do that: its matrix products are cut into other
/// pieces, and so add up in another order, when there are more of them. A session with these operators has
/// one thread.
class FusedOperators final {
 public:
  explicit FusedOperators(int threads);  ///< with the one that runs the session; > 0
  ~FusedOperators();
  FusedOperators(const FusedOperators&) = delete;
  FusedOperators& operator=(const FusedOperators&) = delete;

  /// For a session's options; this object must outlive every session that uses it.
  [[nodiscard]] const Ort::CustomOpDomain& domain() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace aflguard
