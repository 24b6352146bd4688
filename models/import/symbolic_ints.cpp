#include "models/import/symbolic_ints.h"

#include <algorithm>
#include <functional>

namespace aflguard::models {
namespace {

/// Shapes and paddings are short; longer tables of integers are data.
constexpr std::int64_t kMaxFolded = 4096;

using Folded = Result<std::optional<SymbolicInts>>;
using Binary = std::function<std::optional<Dim>(const Dim&, const Dim&)>;

std::optional<Dim> plus(const Dim& a, const Dim& b, std::int64_t sign) {
  if (a.batch == b.batch) {
    std::int64_t sum = 0;
    const bool overflow = sign > 0 ? __builtin_add_overflow(a.value, b.value, &sum)
                                   : __builtin_sub_overflow(a.value, b.value, &sum);
    if (overflow) return std::nullopt;
    return Dim{sum, a.batch && sum != 0};
  }
  if (b.value == 0) return a;
  if (a.value == 0) return times(b, {sign, false});
  return std::nullopt;
}

/// Integer division; kB / c keeps the batch when it divides evenly.
std::optional<Dim> quotient(const Dim& a, const Dim& b) {
  if (b.value < 1) return std::nullopt;
  if (!a.batch && !b.batch) return Dim{a.value / b.value, false};
  return divided(a, b);
}

std::optional<Dim> equal(const Dim& a, const Dim& b) {
  return Dim{a == b ? 1 : 0, false};
}

Binary binary_operation(const std::string& op) {
  if (op == "Add") return [](const Dim& a, const Dim& b) { return plus(a, b, 1); };
  if (op == "Sub") return [](const Dim& a, const Dim& b) { return plus(a, b, -1); };
  if (op == "Mul") return times;
  if (op == "Div") return quotient;
  if (op == "Equal") return equal;
  return {};
}

/// Elementwise on equal sizes, or with one operand a single element.
Folded fold_binary(const Binary& operation, const std::vector<SymbolicInts>& in) {
  const SymbolicInts& a = in[0];
  const SymbolicInts& b = in[1];
  const SymbolicInts& larger = b.values.size() > a.values.size() || b.shape.size() > a.shape.size() ? b : a;
  if (a.values.size() != b.values.size() && a.values.size() != 1 && b.values.size() != 1)
    return std::optional<SymbolicInts>();
  SymbolicInts result{larger.shape, {}};
  for (std::size_t i = 0; i < larger.values.size(); ++i) {
    const auto value =
        operation(a.values[a.values.size() == 1 ? 0 : i], b.values[b.values.size() == 1 ? 0 : i]);
    if (!value) return unsupported("its result is not a multiple of the batch size");
    result.values.push_back(*value);
  }
  return std::optional(result);
}

Folded fold_gather(const std::vector<SymbolicInts>& in) {
  if (in[0].shape.size() != 1) return std::optional<SymbolicInts>();
  SymbolicInts result{in[1].shape, {}};
  const auto count = static_cast<std::int64_t>(in[0].values.size());
  for (const Dim& index : in[1].values) {
    const std::int64_t at = index.value < 0 ? index.value + count : index.value;
    if (index.batch || at < 0 || at >= count)
      return invalid_input("index " + text(index) + " is outside the shape");
    result.values.push_back(in[0].values[static_cast<std::size_t>(at)]);
  }
  return std::optional(result);
}

Folded fold_concat(const std::vector<SymbolicInts>& in) {
  SymbolicInts result{{0}, {}};
  for (const SymbolicInts& part : in) {
    if (part.shape.size() != 1) return std::optional<SymbolicInts>();
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
  }
  result.shape = {static_cast<std::int64_t>(result.values.size())};
  return std::optional(result);
}

/// Picks elements: `source` says from which flat position each element of the result comes.
SymbolicInts picked(const SymbolicInts& in, std::vector<std::int64_t> shape,
                    const std::vector<std::size_t>& source) {
  SymbolicInts result{std::move(shape), {}};
  for (const std::size_t at : source) result.values.push_back(in.values[at]);
  return result;
}

/// The positions that NumPy's slice start:end:step takes out of `extent`.
std::vector<std::int64_t> slice_positions(std::int64_t extent, std::int64_t start, std::int64_t end,
                                          std::int64_t step) {
  std::vector<std::int64_t> positions;
  const std::int64_t low = step > 0 ? 0 : -1;
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max<std::int64_t>(at + extent, low) : at, low,
                                    step > 0 ? extent : extent - 1);
  };
  const std::int64_t last = step < 0 && end < -extent ? -1 : clamp(end);
  for (std::int64_t at = clamp(start); step > 0 ? at < last : at > last; at += step) positions.push_back(at);
  return positions;
}

/// Slices along one axis of a list or table.
Folded fold_slice(const Node& node, const std::vector<SymbolicInts>& in) {
  const auto setting = [&](std::size_t input, const char* attribute, std::int64_t default_value) {
    if (input < in.size()) return in[input].values.size() == 1 ? in[input].values : Shape();
    return constant_shape(node.ints_or(attribute, {default_value}));
  };
  const Shape start = setting(1, "starts", 0);
  const Shape end = setting(2, "ends", 0);
  const Shape axes = setting(3, "axes", 0);
  const Shape step = setting(4, "steps", 1);
  for (const Shape* one : {&start, &end, &axes, &step}) {
    if (one->size() != 1 || one->front().batch) return std::optional<SymbolicInts>();
  }
  TRY(const std::size_t axis, normal_axis(axes.front().value, in[0].shape.size()));
  if (step.front().value == 0 || step.front().value > kMaxFolded || step.front().value < -kMaxFolded) {
    return invalid_input("its step " + std::to_string(step.front().value) + " is impossible");
  }
  const auto positions =
      slice_positions(in[0].shape[axis], start.front().value, end.front().value, step.front().value);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < in[0].shape.size(); ++i)
    inner *= static_cast<std::size_t>(in[0].shape[i]);
  const std::size_t block = inner * static_cast<std::size_t>(in[0].shape[axis]);
  std::vector<std::size_t> source;
  for (std::size_t first = 0; block > 0 && first < in[0].values.size(); first += block) {
    for (const std::int64_t at : positions) {
      for (std::size_t i = 0; i < inner; ++i)
        source.push_back(first + static_cast<std::size_t>(at) * inner + i);
    }
  }
  auto shape = in[0].shape;
  shape[axis] = static_cast<std::int64_t>(positions.size());
  return std::optional(picked(in[0], std::move(shape), source));
}

Folded fold_transpose(const Node& node, const SymbolicInts& in) {
  if (in.shape.size() != 2 || node.ints_or("perm", {1, 0}) != std::vector<std::int64_t>{1, 0}) {
    return std::optional<SymbolicInts>();
  }
  const auto rows = static_cast<std::size_t>(in.shape[0]);
  const auto columns = static_cast<std::size_t>(in.shape[1]);
  std::vector<std::size_t> source;
  for (std::size_t i = 0; i < rows * columns; ++i) source.push_back(i % rows * columns + i / rows);
  return std::optional(picked(in, {in.shape[1], in.shape[0]}, source));
}

Folded fold_reshape(const std::vector<SymbolicInts>& in) {
  TRY(auto target, in[1].constants());
  for (const std::int64_t extent : target) {
    if (extent < -1 || extent > kMaxFolded)
      return invalid_input("it asks for the extent " + std::to_string(extent));
  }
  if (target.size() > 4) return std::optional<SymbolicInts>();
  const auto count = static_cast<std::int64_t>(in[0].values.size());
  std::int64_t known = 1;
  for (const std::int64_t extent : target) known *= extent == -1 ? 1 : extent;
  for (std::int64_t& extent : target) {
    if (extent == -1 && known > 0) extent = count / known;
  }
  std::int64_t total = 1;
  for (const std::int64_t extent : target) total *= extent;
  if (total != count)
    return invalid_input(std::to_string(count) + " numbers cannot take the shape it asks for");
  SymbolicInts result = in[0];
  result.shape = target;
  return std::optional(result);
}

/// The same values as a scalar, a list of one, or unchanged.
Folded fold_rearranged(const std::string& op, const std::vector<SymbolicInts>& in) {
  SymbolicInts result = in[0];
  if (op == "Squeeze" && result.values.size() == 1) result.shape = {};
  if (op == "Unsqueeze") {
    if (result.shape.size() > 1) return std::optional<SymbolicInts>();
    result.shape = {static_cast<std::int64_t>(result.values.size())};
  }
  return std::optional(result);
}

Folded fold_shape(const SymbolicInts& in) {
  return std::optional(SymbolicInts{{static_cast<std::int64_t>(in.shape.size())}, constant_shape(in.shape)});
}

Folded fold_constant_of_shape(const Node& node, const SymbolicInts& shape) {
  Dim fill{0, false};
  if (const auto found = node.attributes.find("value"); found != node.attributes.end()) {
    const auto* tensor = std::get_if<Tensor>(&found->second);
    const auto values = tensor ? symbolic_ints(*tensor) : std::nullopt;
    if (!values || values->values.empty()) return std::optional<SymbolicInts>();
    fill = values->values.front();
  } else {
    return std::optional<SymbolicInts>();  // zeros of type float
  }
  if (shape.values.size() != 1 || shape.depends_on_batch() || shape.values.front().value < 0 ||
      shape.values.front().value > kMaxFolded) {
    return std::optional<SymbolicInts>();
  }
  SymbolicInts result{{shape.values.front().value}, {}};
  result.values.assign(static_cast<std::size_t>(shape.values.front().value), fill);
  return std::optional(result);
}

Folded fold_where(const std::vector<SymbolicInts>& in) {
  const std::size_t count = in[0].values.size();
  if (in[1].values.size() != count || in[2].values.size() != count) return std::optional<SymbolicInts>();
  SymbolicInts result{in[0].shape, {}};
  for (std::size_t i = 0; i < count; ++i) {
    result.values.push_back(in[0].values[i].value != 0 ? in[1].values[i] : in[2].values[i]);
  }
  return std::optional(result);
}

Folded fold_product(const std::vector<SymbolicInts>& in) {
  const auto total = product(in[0].values);
  if (!total) return unsupported("its result is not a multiple of the batch size");
  return std::optional(SymbolicInts{{}, {*total}});
}

/// start, limit, step; as exporters count the places of a sequence.
Folded fold_range(const std::vector<SymbolicInts>& in) {
  for (const SymbolicInts& setting : in) {
    if (setting.values.size() != 1) return std::optional<SymbolicInts>();
    if (setting.depends_on_batch()) return unsupported("it counts to the batch size, which is free");
  }
  const std::int64_t start = in[0].values.front().value;
  const std::int64_t limit = in[1].values.front().value;
  const std::int64_t step = in[2].values.front().value;
  if (step == 0) return invalid_input("its step is 0");
  SymbolicInts result{{0}, {}, in[0].type};
  for (std::int64_t at = start; step > 0 ? at < limit : at > limit;) {
    if (result.values.size() == kMaxFolded)
      return unsupported("it counts further than " + std::to_string(kMaxFolded) + " numbers");
    result.values.push_back({at, false});
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  result.shape = {static_cast<std::int64_t>(result.values.size())};
  return std::optional(result);
}

Folded fold_cast(const Node& node, const SymbolicInts& in) {
  const auto type = static_cast<ElementType>(node.int_or("to", 0));
  if (type != ElementType::kInt64 && type != ElementType::kInt32 && type != ElementType::kBool) {
    return std::optional<SymbolicInts>();
  }
  SymbolicInts result = in;
  result.type = type;
  return std::optional(result);
}

}  // namespace

bool SymbolicInts::depends_on_batch() const {
  return std::ranges::any_of(values, [](const Dim& value) { return value.batch; });
}

Result<std::vector<std::int64_t>> SymbolicInts::constants() const {
  std::vector<std::int64_t> result;
  for (const Dim& value : values) {
    if (value.batch) return unsupported("a setting depends on the batch size");
    result.push_back(value.value);
  }
  return result;
}

std::optional<SymbolicInts> symbolic_ints(const Tensor& tensor) {
  SymbolicInts result{tensor.shape, {}, tensor.type};
  const auto append = [&](const auto& values) {
    for (const auto value : values) result.values.push_back({static_cast<std::int64_t>(value), false});
  };
  if (tensor.type == ElementType::kInt64) {
    append(tensor.values<std::int64_t>());
  } else if (tensor.type == ElementType::kInt32) {
    append(tensor.values<std::int32_t>());
  } else if (tensor.type == ElementType::kBool) {
    append(tensor.values<std::uint8_t>());
  } else {
    return std::nullopt;
  }
  return result;
}

Tensor to_tensor(const SymbolicInts& ints) {
  std::vector<std::int64_t> values;
  for (const Dim& value : ints.values) values.push_back(value.value);
  Tensor wide = int64_tensor(values, ints.shape);
  if (ints.type == ElementType::kInt64) return wide;
  Tensor narrow{ints.type, ints.shape, {}};
  const std::size_t width = element_size(ints.type);
  for (std::size_t i = 0; i < values.size(); ++i) {  // little-endian: the low bytes come first
    const auto* first = wide.data.data() + i * sizeof(std::int64_t);
    narrow.data.insert(narrow.data.end(), first, first + width);
  }
  return narrow;
}

Folded fold_ints(const Node& node, const std::vector<SymbolicInts>& in) {
  const std::string& op = node.op.op_type;
  if (!node.op.domain.empty() || in.empty()) return std::optional<SymbolicInts>();
  for (const SymbolicInts& input : in) {
    if (input.values.size() > kMaxFolded) return std::optional<SymbolicInts>();
  }
  if (const Binary operation = binary_operation(op); operation && in.size() == 2)
    return fold_binary(operation, in);
  if (op == "Gather" && in.size() == 2) return fold_gather(in);
  if (op == "Concat") return fold_concat(in);
  if (op == "Slice") return fold_slice(node, in);
  if (op == "Squeeze" || op == "Unsqueeze" || op == "Identity") return fold_rearranged(op, in);
  if (op == "Reshape" && in.size() == 2) return fold_reshape(in);
  if (op == "Transpose") return fold_transpose(node, in[0]);
  if (op == "Shape") return fold_shape(in[0]);
  if (op == "ConstantOfShape") return fold_constant_of_shape(node, in[0]);
  if (op == "Where" && in.size() == 3) return fold_where(in);
  if (op == "Range" && in.size() == 3) return fold_range(in);
  if (op == "ReduceProd") return fold_product(in);
  if (op == "Cast") return fold_cast(node, in[0]);
  return std::optional<SymbolicInts>();
}

}  // namespace aflguard::models
