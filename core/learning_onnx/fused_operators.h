#pragma once

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
/// The domain must outlive every session that uses it.
[[nodiscard]] Ort::CustomOpDomain make_fused_operator_domain();

}  // namespace aflguard
