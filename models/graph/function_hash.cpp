#include "models/graph/function_hash.h"

#include <algorithm>
#include <span>

#include "core/base/sha256.h"
#include "models/batch_norm.h"

namespace aflguard::models {
namespace {

/// Parts with their lengths in front, so that different parts are different texts.
class Description final {
 public:
  explicit Description(std::string_view kind) { add(kind); }

  void add(std::string_view part) {
    text_ += std::to_string(part.size());
    text_ += ':';
    text_ += part;
  }
  void add(std::int64_t number) { add(std::to_string(number)); }
  void add(float number) { add_bytes(std::as_bytes(std::span(&number, 1))); }
  void add(const Tensor& tensor) {
    add(static_cast<std::int64_t>(tensor.type));
    add(tensor.shape);
    add_bytes(tensor.data);
  }
  template <typename T>
  void add(const std::vector<T>& list) {
    add(static_cast<std::int64_t>(list.size()));
    for (const T& item : list) add(item);
  }
  void add(const Attributes& attributes) {
    add(static_cast<std::int64_t>(attributes.size()));
    for (const auto& [name, attribute] : attributes) {
      add(std::string_view(name));
      add(static_cast<std::int64_t>(attribute.index()));
      std::visit([this](const auto& value) { add(value); }, attribute);
    }
  }

  [[nodiscard]] std::string hash() const { return sha256_hex(text_); }

 private:
  void add(const std::string& part) { add(std::string_view(part)); }
  void add_bytes(std::span<const std::byte> bytes) {
    add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  std::string text_;
};

using Hashes = std::map<Value, std::string>;

/// What inputs, parameters and constants are.
Hashes hash_leaves(const Graph& graph, const std::map<Value, std::string>& parameters) {
  Hashes hashes;
  std::int64_t position = 0;
  for (const Value& input : graph.inputs) {
    Description description("input");
    description.add(position++);
    hashes[input] = description.hash();
  }
  for (const auto& [value, tensor] : graph.constants) {
    Description description("constant");
    description.add(tensor);
    hashes[value] = description.hash();
  }
  for (const auto& [value, name] : parameters) {
    Description description("parameter");
    description.add(std::string_view(name));
    hashes[value] = description.hash();
  }
  return hashes;
}

void hash_outputs(const Node& node, Hashes& hashes) {
  Description description("node");
  description.add(std::string_view(node.op.domain));
  description.add(std::string_view(node.op.op_type));
  description.add(node.attributes);
  constexpr std::size_t kTrainingReads = 3;  // x, scale and bias; the stored statistics follow
  const std::size_t inputs =
      node.op == kBatchNorm ? std::min(node.inputs.size(), kTrainingReads) : node.inputs.size();
  description.add(static_cast<std::int64_t>(inputs));
  for (std::size_t i = 0; i < inputs; ++i) {
    const Value& input = node.inputs[i];
    description.add(input.empty() ? std::string_view("none") : std::string_view(hashes[input]));
  }
  const std::string own = description.hash();
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    Description output("output");
    output.add(std::string_view(own));
    output.add(static_cast<std::int64_t>(i));
    hashes[node.outputs[i]] = output.hash();
  }
}

}  // namespace

std::string function_hash(const Graph& graph, const std::map<Value, std::string>& parameters) {
  Hashes hashes = hash_leaves(graph, parameters);
  for (const Node& node : graph.nodes) hash_outputs(node, hashes);
  return hashes[graph.outputs.front()];
}

}  // namespace aflguard::models
