#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

enum class Loss : std::uint8_t { kCrossEntropy, kMeanSquaredError };

[[nodiscard]] std::string_view to_string(Loss loss);  // "cross-entropy", "mse"
[[nodiscard]] Result<Loss> parse_loss(std::string_view text);

/// What the numbers of a sample are to the model. Samples hold them as float32 either way.
enum class InputType : std::uint8_t {
  kFloat32,
  kInt64,  ///< ids: whole numbers that an embedding looks up, from 0 on
};

[[nodiscard]] std::string_view to_string(InputType type);  // "float32", "int64"

/// Float32 holds every whole number below this one, and no larger ids are possible.
inline constexpr std::int64_t kMaxInputIds = std::int64_t{1} << 24;

/// How a parameter gets its first value when a model is initialised from a seed.
enum class Initializer : std::uint8_t {
  kStored,  ///< from initial.npy of the package (the values inside an imported ONNX file)
  kZero,
  kOne,
  kUniform,  ///< uniform in [-bound, bound]
};

/// One named tensor inside the flat parameter vector theta.
struct Parameter {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;  ///< first coordinate in theta
  Initializer initializer = Initializer::kZero;
  double bound = 0;  ///< for kUniform

  [[nodiscard]] std::size_t size() const;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// How a model scales its input, so that all boards scale alike: every feature minus its mean, divided by its
/// deviation. The graphs do it; what is fed to them is what sensors write. Empty: not at all.
struct InputScaling {
  std::vector<float> means;
  std::vector<float> deviations;  ///< above 0

  [[nodiscard]] bool empty() const { return means.empty(); }
  friend bool operator==(const InputScaling&, const InputScaling&) = default;
};

/// What a device needs to know about a model: the manifest of a model package, as a value.
struct ModelDescription {
  std::string name;
  std::vector<Parameter> parameters;      ///< in order of offset, without gaps
  std::vector<std::size_t> input_shape;   ///< of one sample, without the batch dimension
  std::vector<std::size_t> output_shape;  ///< of one sample: {classes} for cross-entropy
  Loss loss = Loss::kCrossEntropy;
  InputType input_type = InputType::kFloat32;
  std::int64_t input_ids = 0;  ///< for kInt64: a sample holds ids from 0 to this - 1
  int opset = 0;
  std::vector<std::string> class_names;  ///< in the order of the classes; empty: classes are numbers from 0
  InputScaling scaling;
  /// Numbers beside theta that predictions need: means and variances of batch normalisations, flat. 0: none.
  std::size_t statistics = 0;
  /// Identifies what the graphs compute from theta and a sample, as who built them says: 64 hexadecimal
  /// digits; empty in packages of a program that did not hash it.
  std::string function;
  std::string hash;  ///< layout_hash(*this), hex

  [[nodiscard]] std::size_t dimension() const;    ///< d, the length of theta
  [[nodiscard]] std::size_t input_size() const;   ///< floats per sample
  [[nodiscard]] std::size_t output_size() const;  ///< floats per sample
  /// Number of classes for cross-entropy, 0 for regression.
  [[nodiscard]] std::size_t classes() const;
  /// Its name, or its number where classes have no names.
  [[nodiscard]] std::string class_name(std::size_t number) const;

  friend bool operator==(const ModelDescription&, const ModelDescription&) = default;
};

/// Identifies what theta means: SHA-256 over parameter names, shapes, offsets, input and output shape, loss,
/// and where they are given the function, class names and scaling: with another activation or with classes in
/// another order theta means something else. Two packages with the same hash exchange updates; the graphs may
/// differ (standard or fused operators).
[[nodiscard]] std::string layout_hash(const ModelDescription& model);

/// kInvalidInput, naming the first number that is not an id of the model, its place and the limit; never for
/// a model on numbers. `features` are whole samples; `what` names them.
[[nodiscard]] Status check_input_ids(const ModelDescription& model, std::span<const float> features,
                                     const std::string& what);

/// kInvalidInput when class names or scaling do not fit the rest, e.g. two names for three classes.
[[nodiscard]] Status check_names_and_scaling(const ModelDescription& model);

/// The manifest as JSON text, and back. Reading refuses unknown versions, gaps in the layout and a wrong
/// hash.
[[nodiscard]] std::string manifest_json(const ModelDescription& model);
[[nodiscard]] Result<ModelDescription> parse_manifest(std::string_view json);

}  // namespace aflguard
