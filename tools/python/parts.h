#pragma once

#include <pybind11/pybind11.h>

namespace aflguard::python {

// What module.cpp puts together.
void add_aggregator(pybind11::module_& module);
void add_lab(pybind11::module_& module);

}  // namespace aflguard::python
