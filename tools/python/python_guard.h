#pragma once

#include <pybind11/pybind11.h>
#include <string>

#include "core/aggregation/guard_kind.h"

namespace aflguard::python {

/// A guard written in Python: an object with judge(update). `update` has client, delay, vector, reference,
/// base_model, parameters and rate; arrays are views of the gateway's memory and live for the call. It
/// returns
///   False or None      rejected
///   True               the model takes the step
///   a number           ... this many times as long
///   an array           the model steps along it instead
/// `make` is called without arguments for every run. The name lives as long as the program.
[[nodiscard]] GuardKind python_guard_kind(const std::string& name, const pybind11::object& make);

}  // namespace aflguard::python
