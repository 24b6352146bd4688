#include "tools/python/python_attack.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>

#include "tools/python/arrays.h"

namespace aflguard::python {
namespace {

using Floats = py::array_t<float>;

void throw_unless(const Status& status) {
  if (!status) throw py::value_error(status.error().message);
}

/// What an attack in Python sees; lives for one turn.
struct PythonView {
  lab::AttackerView& view;
  std::size_t dimension;

  [[nodiscard]] Floats own_update() const {
    Floats out(static_cast<py::ssize_t>(dimension));
    throw_unless(view.own_update({out.mutable_data(), dimension}));
    return out;
  }
  [[nodiscard]] py::tuple honest_updates(std::size_t devices) const {
    Floats mean(static_cast<py::ssize_t>(dimension));
    Floats deviation(static_cast<py::ssize_t>(dimension));
    throw_unless(view.honest_updates(devices, {mean.mutable_data(), dimension},
                                     {deviation.mutable_data(), dimension}));
    return py::make_tuple(mean, deviation);
  }
  [[nodiscard]] Floats honest_answer(std::size_t which) const {
    if (which >= view.honest_devices()) {
      throw py::index_error("honest device " + std::to_string(which) + " of " +
                            std::to_string(view.honest_devices()));
    }
    Floats out(static_cast<py::ssize_t>(dimension));
    throw_unless(view.honest_answer(which, {out.mutable_data(), dimension}));
    return out;
  }
  [[nodiscard]] py::object array(std::span<const float> numbers) const {
    if (numbers.empty()) return py::none();
    return view_of(numbers, py::none());
  }
  [[nodiscard]] py::object reference() const {
    return view.reference != nullptr ? array(view.reference->vector) : py::none();
  }
};

class PythonAttack final : public lab::Attack {
 public:
  explicit PythonAttack(py::object attack)
      : attack_(new py::object(std::move(attack)), [](py::object* held) {
          const py::gil_scoped_acquire lock;
          delete held;
        }) {}

  Status craft(lab::AttackerView& view, std::span<float> update) override {
    const py::gil_scoped_acquire lock;
    try {
      const py::object answer = (*attack_)(PythonView{view, update.size()});
      const auto crafted = floats_of(answer, update.size(), "what the attack returned");
      std::copy(crafted.data(), crafted.data() + crafted.size(), update.begin());
    } catch (const std::exception& problem) {
      return invalid_input(problem.what());
    }
    return {};
  }

 private:
  std::shared_ptr<py::object> attack_;
};

}  // namespace

lab::AttackKind python_attack_kind(const std::string& name, const py::object& make) {
  static std::deque<std::string> names;  // kinds point at them
  const std::shared_ptr<py::object> maker(new py::object(make), [](py::object* held) {
    const py::gil_scoped_acquire lock;
    delete held;
  });
  lab::AttackKind kind;
  kind.name = names.emplace_back(name);
  kind.summary = "written in Python";
  kind.needs = {.honest_updates = true, .reference = true};
  kind.make = [maker](const lab::AttackSettings&) -> std::unique_ptr<lab::Attack> {
    const py::gil_scoped_acquire lock;
    return std::make_unique<PythonAttack>((*maker)());
  };
  return kind;
}

void add_attacker_view(py::module_& module) {
  py::class_<PythonView>(module, "AttackerView", "What an attacker sees in one turn; valid until it returns.")
      .def_property_readonly("client", [](const PythonView& v) { return v.view.client; })
      .def_property_readonly("iteration", [](const PythonView& v) { return v.view.iteration; })
      .def_property_readonly("rate", [](const PythonView& v) { return v.view.rate; })
      .def_property_readonly("honest_devices", [](const PythonView& v) { return v.view.honest_devices(); })
      .def_property_readonly("base_model", [](const PythonView& v) { return v.array(v.view.base_model); })
      .def_property_readonly("newest_model", [](const PythonView& v) { return v.array(v.view.newest_model); })
      .def_property_readonly("reference", &PythonView::reference)
      .def("own_update", &PythonView::own_update, "What this client would send if it were honest.")
      .def("honest_updates", &PythonView::honest_updates, py::arg("devices") = 20,
           "Mean and deviation of fresh updates of so many honest clients.")
      .def("honest_answer", &PythonView::honest_answer, py::arg("which"),
           "A fresh update of one honest client.");
}

}  // namespace aflguard::python
