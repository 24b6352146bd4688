#pragma once

#include <pybind11/pybind11.h>
#include <string>

#include "lab/attacks/attack.h"

namespace aflguard::python {

/// An attack written in Python: something that is called with a view and returns the update to send. `make`
/// is called without arguments for every run and gives that something. The name lives as long as the program.
[[nodiscard]] lab::AttackKind python_attack_kind(const std::string& name, const pybind11::object& make);

/// The class of such views.
void add_attacker_view(pybind11::module_& module);

}  // namespace aflguard::python
