#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <span>
#include <string>

#include "core/base/result.h"

namespace aflguard::python {

namespace py = pybind11;

/// A read-only view of C++ memory as an array, without a copy. It lives as long as the call that it is for;
/// `owner` keeps what outlives the call.
inline py::array view_of(std::span<const float> numbers, const py::handle& owner) {
  py::array array(py::dtype::of<float>(), {static_cast<py::ssize_t>(numbers.size())},
                  {static_cast<py::ssize_t>(sizeof(float))}, numbers.data(), owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

/// An array as floats: without a copy when it is one of float32 already. Throws ValueError for another
/// length.
inline py::array_t<float, py::array::c_style | py::array::forcecast> floats_of(const py::handle& given,
                                                                               std::size_t length,
                                                                               const char* what) {
  auto array = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!array) throw py::value_error(std::string(what) + " is not an array of numbers");
  if (static_cast<std::size_t>(array.size()) != length) {
    throw py::value_error(std::string(what) + " has " + std::to_string(array.size()) +
                          " numbers, the model has " + std::to_string(length));
  }
  return array;
}

/// The value, or a Python exception with the message.
template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw py::value_error(result.error().message);
  return std::move(result).value();
}

}  // namespace aflguard::python
