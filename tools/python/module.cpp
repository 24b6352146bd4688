#include <pybind11/pybind11.h>

#include "core/base/version.h"
#include "tools/python/parts.h"
#include "tools/python/python_attack.h"

PYBIND11_MODULE(_aflguard, module) {
  module.doc() = "AFLGuard Edge's guards, aggregator, recordings and lab.";
  module.attr("__version__") = aflguard::kVersion;
  aflguard::python::add_aggregator(module);
  aflguard::python::add_attacker_view(module);
  aflguard::python::add_lab(module);
}
