#include <map>
#include <pybind11/stl.h>
#include <variant>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/all_guards.h"
#include "core/recording/recording_file.h"
#include "tools/python/arrays.h"
#include "tools/python/parts.h"

namespace aflguard::python {
namespace {

/// An aggregator whose references come from Python.
struct PythonAggregator {
  PythonAggregator(const std::string& guard, const py::array_t<float, py::array::c_style>& initial,
                   double learning_rate, std::uint64_t clients, double tolerance, const OptionValues& options)
      : aggregator(settings(learning_rate),
                   made(guard, static_cast<std::size_t>(initial.size()), clients, tolerance, options),
                   nullptr, {initial.data(), static_cast<std::size_t>(initial.size())}) {}

  static AggregatorOptions settings(double learning_rate) {
    if (!(learning_rate > 0)) throw py::value_error("learning_rate must be positive");
    AggregatorOptions options;
    options.learning_rate = learning_rate;
    options.history = 64;
    return options;
  }
  static std::unique_ptr<Guard> made(const std::string& name, std::size_t dimension, std::uint64_t clients,
                                     double tolerance, const OptionValues& options) {
    const GuardKind* kind = value_or_throw(find_guard(all_guards(), name));
    return value_or_throw(make_guard(*kind, {dimension, clients, tolerance, options}));
  }

  void install(const py::object& vector, const py::object& classes) {
    const std::size_t d = aggregator.model().dimension();
    ReferenceUpdate reference;
    reference.version = aggregator.model().version();
    const auto whole = floats_of(vector, d, "the reference");
    reference.vector.assign(whole.data(), whole.data() + d);
    if (!classes.is_none()) {
      const auto rows = classes.cast<std::vector<py::object>>();
      reference.per_class = RowBundle(rows.size(), d);
      for (std::size_t c = 0; c < rows.size(); ++c) {
        const auto row = floats_of(rows[c], d, "a class's reference");
        reference.per_class.set_row(c, {row.data(), d});
      }
    }
    reference.derive();
    if (auto done = aggregator.install_reference(std::move(reference), aggregator.iteration()); !done) {
      throw py::value_error(done.error().message);
    }
  }

  Verdict submit(ClientId client, const py::object& update, const std::optional<std::uint64_t>& version) {
    const auto vector = floats_of(update, aggregator.model().dimension(), "the update");
    return value_or_throw(aggregator.submit({client,
                                             version.value_or(aggregator.model().version()),
                                             {vector.data(), static_cast<std::size_t>(vector.size())}}));
  }

  Aggregator aggregator;
};

py::object entry_as_python(const RecordingEntry& entry) {
  py::dict out;
  if (const auto* update = std::get_if<RecordedUpdate>(&entry)) {
    out["kind"] = "update";
    out["iteration"] = update->iteration;
    out["client"] = update->client;
    out["device"] = update->device;
    out["base_version"] = update->base_version;
    out["version"] = update->version;
    out["verdict"] = update->verdict;
    auto* kept = new std::vector<float>(update->vector);  // the array's owner
    const py::capsule owner(kept, [](void* held) { delete static_cast<std::vector<float>*>(held); });
    out["vector"] = view_of(*kept, owner);
  } else if (const auto* reference = std::get_if<RecordedReference>(&entry)) {
    out["kind"] = "reference";
    out["due_since"] = reference->due_since;
    out["norm"] = reference->reference.norm;
  } else if (const auto* header = std::get_if<RecordingHeader>(&entry)) {
    out["kind"] = "header";
    out["fleet"] = header->fleet;
    out["guard"] = header->guard;
    out["dimension"] = header->guard_settings.dimension;
  } else {
    out["kind"] = "departure";
    out["client"] = std::get<RecordedDeparture>(entry).client;
  }
  return out;
}

py::list read_recording(const std::string& path) {
  RecordingReader reader = value_or_throw(RecordingReader::open(path));
  py::list entries;
  while (true) {
    const auto entry = value_or_throw(reader.next());
    if (!entry) return entries;
    entries.append(entry_as_python(*entry));
  }
}

}  // namespace

void add_aggregator(py::module_& module) {
  py::class_<Verdict>(module, "Verdict", "What the aggregator says about one update.")
      .def_readonly("accepted", &Verdict::accepted)
      .def_property_readonly("reason", [](const Verdict& v) { return std::string(to_string(v.reason)); })
      .def_readonly("distance", &Verdict::distance)
      .def_readonly("bound", &Verdict::bound)
      .def_readonly("delay", &Verdict::delay)
      .def_readonly("altered", &Verdict::altered)
      .def("__repr__", [](const Verdict& v) { return "<Verdict: " + describe(v) + ">"; });
  py::class_<PythonAggregator>(module, "Aggregator",
                               "Judges updates one at a time and moves the model, as a gateway does.")
      .def(py::init<const std::string&, const py::array_t<float, py::array::c_style>&, double, std::uint64_t,
                    double, const OptionValues&>(),
           py::arg("guard"), py::arg("initial"), py::arg("learning_rate"), py::arg("clients") = 0,
           py::arg("tolerance") = 1.5, py::arg("options") = OptionValues())
      .def("install_reference", &PythonAggregator::install, py::arg("vector"),
           py::arg("classes") = py::none(),
           "The update that the trusted samples give at the current model; `classes`: one row per class.")
      .def("submit", &PythonAggregator::submit, py::arg("client"), py::arg("update"),
           py::arg("base_version") = py::none(), "Judges one update of a client; a Verdict.")
      .def_property_readonly("version",
                             [](const PythonAggregator& a) { return a.aggregator.model().version(); })
      .def_property_readonly("iteration", [](const PythonAggregator& a) { return a.aggregator.iteration(); })
      .def_property_readonly(
          "parameters",
          [](const py::object& self) {
            return view_of(self.cast<PythonAggregator&>().aggregator.model().parameters(), self);
          },
          "The current model: a view without a copy, valid until the next accepted update.");
  module.def("read_recording", &read_recording, py::arg("path"),
             "The entries of one segment of a gateway's recording, as dictionaries.");
}

}  // namespace aflguard::python
