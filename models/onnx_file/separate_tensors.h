#pragma once

#include <string>
#include <vector>

#include "models/onnx_file/onnx_model.h"

namespace aflguard::models {

/// Exporters that write a network for evaluation merge tensors that happen to be equal: the bias of a fresh
/// normalisation with its stored mean, the scales of two of them. Gives every use its tensor back, under its
/// own name where the file still knows it: vectors that an Identity passes on, and what normalisations read.
/// Matrices stay shared, because networks share them on purpose. Names of the tensors that were made.
std::vector<std::string> separate_equal_tensors(OnnxModel& model);

}  // namespace aflguard::models
