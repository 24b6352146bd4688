#include "tools/python/python_guard.h"

#include <cmath>
#include <deque>
#include <memory>
#include <stdexcept>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "tools/python/arrays.h"

namespace aflguard::python {
namespace {

constexpr std::string_view kTag = "PYTH";
constexpr std::uint16_t kVersion = 1;

/// Python objects may only be let go under the interpreter's lock.
using Held = std::shared_ptr<py::object>;
Held hold(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const py::gil_scoped_acquire lock;
            delete held;
          }};
}

bool says(const py::object& guard, const char* attribute, bool otherwise) {
  return py::hasattr(guard, attribute) ? guard.attr(attribute).cast<bool>() : otherwise;
}

class PythonGuard final : public Guard {
 public:
  PythonGuard(std::string_view name, py::object guard)
      : name_(name),
        needs_{.reference = says(guard, "needs_reference", true),
               .base_model = says(guard, "needs_base_model", false)},
        types_(hold(py::module_::import("types").attr("SimpleNamespace"))),
        guard_(hold(std::move(guard))) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] GuardNeeds needs() const override { return needs_; }

  [[nodiscard]] Decision judge(const Submission& submission) override {
    Decision decision;
    if (!std::isfinite(squared_norm(submission.vector))) {
      decision.verdict.reason = Reason::kNotFinite;
      return decision;
    }
    const py::gil_scoped_acquire lock;
    const py::none owner;
    const auto array = [&](std::span<const float> numbers) -> py::object {
      if (numbers.empty()) return py::none();
      return view_of(numbers, owner);
    };
    const auto* reference = submission.reference;
    const py::object update = (*types_)(
        py::arg("client") = submission.client, py::arg("delay") = submission.delay,
        py::arg("vector") = array(submission.vector),
        py::arg("reference") = array(reference != nullptr ? std::span<const float>(reference->vector)
                                                          : std::span<const float>()),
        py::arg("reference_norm") = reference != nullptr ? reference->norm : 0.0,
        py::arg("base_model") = array(submission.base_model),
        py::arg("parameters") = array(submission.parameters), py::arg("rate") = submission.rate);
    try {
      read_answer(guard_->attr("judge")(update), submission, decision);
    } catch (const py::builtin_exception& problem) {
      throw std::runtime_error(problem.what());
    } catch (const py::error_already_set& problem) {
      throw std::runtime_error(problem.what());  // whose message outlives the interpreter's lock
    }
    return decision;
  }

  [[nodiscard]] std::vector<std::byte> save() const override { return StateWriter(kTag, kVersion).take(); }
  [[nodiscard]] Status restore(std::span<const std::byte> /*bytes*/) override {
    return invalid_input("a guard written in Python keeps no state over a restart");
  }

 private:
  void read_answer(const py::object& answer, const Submission& submission, Decision& decision) {
    decision.verdict.reason = Reason::kTooFar;
    if (answer.is_none()) return;
    if (py::isinstance<py::array>(answer)) {
      const auto step = floats_of(answer, submission.vector.size(), "what judge() returned");
      step_.assign(step.data(), step.data() + step.size());
      decision.direction = step_;
    } else {
      const double scale = answer.cast<double>();  // True is 1, False is 0
      if (scale == 0) return;
      decision.direction = submission.vector;
      decision.scale = scale;
    }
    decision.verdict.accepted = true;
    decision.verdict.reason = Reason::kAccepted;
    decision.step_norm = std::fabs(decision.scale) * std::sqrt(squared_norm(decision.direction));
  }

  std::string_view name_;
  GuardNeeds needs_;
  Held types_;
  Held guard_;
  std::vector<float> step_;
};

}  // namespace

GuardKind python_guard_kind(const std::string& name, const py::object& make) {
  static std::deque<std::string> names;  // kinds point at them
  const std::string_view kept = names.emplace_back(name);
  GuardKind kind;
  kind.name = kept;
  kind.summary = "written in Python";
  kind.make = [kept, maker = hold(make)](const GuardSettings&) -> std::unique_ptr<Guard> {
    const py::gil_scoped_acquire lock;
    return std::make_unique<PythonGuard>(kept, (*maker)());
  };
  return kind;
}

}  // namespace aflguard::python
