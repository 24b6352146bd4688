#include "core/learning/inference_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/byte_cursor.h"

// ONNX files are protocol buffers. Boards have no library for them and need none: a field is a key, a length
// and bytes, and a parameter becomes a constant when it moves from the graph's inputs to its initializers.
namespace aflguard {
namespace {

using ByteSpan = std::span<const std::byte>;

constexpr std::size_t kLargestFile = std::numeric_limits<std::int32_t>::max();  // of a protocol buffer

// Field numbers of onnx.proto.
constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kModelNotes = 14;
constexpr std::uint64_t kGraphInitializer = 5;
constexpr std::uint64_t kGraphInput = 11;
constexpr std::uint64_t kTensorDims = 1;
constexpr std::uint64_t kTensorType = 2;
constexpr std::uint64_t kTensorName = 8;
constexpr std::uint64_t kTensorRaw = 9;
constexpr std::uint64_t kFloat = 1;

struct Field {
  std::uint64_t number = 0;
  bool has_length = false;
  ByteSpan content;  ///< of a field with a length
  ByteSpan whole;    ///< with its key
};

Result<std::uint64_t> take_varint(ByteReader& reader) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    TRY(const ByteSpan byte, reader.take(1));
    const auto bits = static_cast<std::uint64_t>(byte[0]);
    value |= (bits & 0x7f) << shift;
    if ((bits & 0x80) == 0) return value;
  }
  return corrupt("a number has more than ten bytes");
}

Result<Field> take_field(ByteReader& reader, ByteSpan all) {
  const std::size_t start = reader.position();
  TRY(const std::uint64_t key, take_varint(reader));
  Field field;
  field.number = key >> 3;
  switch (key & 7) {
    case 0:
      if (auto number = take_varint(reader); !number.ok()) return number.error();
      break;
    case 1:
      if (auto eight = reader.take(8); !eight.ok()) return eight.error();
      break;
    case 2: {
      TRY(const std::uint64_t length, take_varint(reader));
      TRY(field.content, reader.take(static_cast<std::size_t>(length)));
      field.has_length = true;
      break;
    }
    case 5:
      if (auto four = reader.take(4); !four.ok()) return four.error();
      break;
    default:
      return corrupt("a field of an unknown kind");
  }
  field.whole = all.subspan(start, reader.position() - start);
  return field;
}

Result<std::vector<Field>> fields_of(ByteSpan message) {
  std::vector<Field> fields;
  ByteReader reader(message);
  while (reader.remaining() > 0) {
    TRY(Field field, take_field(reader, message));
    fields.push_back(field);
  }
  return fields;
}

/// The text in field 1 of a message: a value's name, or a note's.
Result<std::string> text_of(ByteSpan message, std::uint64_t number = 1) {
  TRY(const auto fields, fields_of(message));
  for (const Field& field : fields) {
    if (field.number != number || !field.has_length) continue;
    return std::string(reinterpret_cast<const char*>(field.content.data()), field.content.size());
  }
  return corrupt("something has no name");
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_number(std::string& out, std::uint64_t field, std::uint64_t value) {
  put_varint(out, field << 3);
  put_varint(out, value);
}

void put_length(std::string& out, std::uint64_t field, std::size_t length) {
  put_varint(out, field << 3 | 2);
  put_varint(out, length);
}

void put_text(std::string& out, std::uint64_t field, std::string_view text) {
  put_length(out, field, text.size());
  out += text;
}

/// A tensor of floats up to its values, which follow.
std::string tensor_head(const std::string& name, const std::vector<std::size_t>& shape, std::size_t bytes) {
  std::string inner;
  for (const std::size_t extent : shape) put_number(inner, kTensorDims, extent);
  put_number(inner, kTensorType, kFloat);
  put_text(inner, kTensorName, name);
  put_length(inner, kTensorRaw, bytes);
  std::string head;
  put_length(head, kGraphInitializer, inner.size() + bytes);
  return head + inner;
}

Status check_numbers(std::span<const float> numbers, std::size_t wanted, const std::string& what,
                     const std::string& model) {
  if (numbers.size() != wanted) {
    return invalid_input("the " + what + " are " + std::to_string(numbers.size()) + " numbers, model '" +
                         model + "' has " + std::to_string(wanted));
  }
  const auto odd = std::find_if(numbers.begin(), numbers.end(), [](float v) { return !std::isfinite(v); });
  if (odd == numbers.end()) return {};
  return invalid_input("number " + std::to_string(odd - numbers.begin()) + " of the " + what +
                       " is not finite");
}

/// Collects the parts of one message.
class PartList final {
 public:
  explicit PartList(std::deque<std::string>& texts) : texts_(texts) {}
  void borrow(ByteSpan bytes) {
    parts_.push_back(bytes);
    size_ += bytes.size();
  }
  void own(std::string text) {
    texts_.push_back(std::move(text));
    borrow(std::as_bytes(std::span(texts_.back())));
  }
  void append(const PartList& other) {
    for (const ByteSpan part : other.parts_) borrow(part);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<ByteSpan>& parts() const { return parts_; }

 private:
  std::deque<std::string>& texts_;
  std::vector<ByteSpan> parts_;
  std::size_t size_ = 0;
};

/// The graph's fields, with constants where parameters and statistics were inputs.
Status put_graph(ByteSpan graph, const ModelDescription& model, std::span<const float> theta,
                 std::span<const float> statistics, PartList& out) {
  TRY(const auto fields, fields_of(graph));
  std::vector<std::string> inputs;
  std::vector<ByteSpan> input_fields;
  for (const Field& field : fields) {
    if (field.number != kGraphInput) {
      out.borrow(field.whole);
      continue;
    }
    TRY(auto name, text_of(field.content));
    inputs.push_back(std::move(name));
    input_fields.push_back(field.whole);
  }
  const std::size_t parameters = model.parameters.size();
  if (inputs.size() != parameters + (statistics.empty() ? 1 : 2)) {
    return corrupt(std::to_string(inputs.size()) + " inputs for " + std::to_string(parameters) +
                   " parameters");
  }
  out.borrow(input_fields.back());
  const auto put_tensor = [&out](const std::string& name, const std::vector<std::size_t>& shape,
                                 std::span<const float> values) {
    out.own(tensor_head(name, shape, values.size_bytes()));
    out.borrow(std::as_bytes(values));
  };
  for (std::size_t i = 0; i < parameters; ++i) {
    const Parameter& parameter = model.parameters[i];
    put_tensor(inputs[i], parameter.shape, theta.subspan(parameter.offset, parameter.size()));
  }
  if (!statistics.empty()) put_tensor(inputs[parameters], {statistics.size()}, statistics);
  return {};
}

std::string notes_text(const FileNotes& notes) {
  std::string text;
  for (const auto& [key, value] : notes) {
    std::string entry;
    put_text(entry, 1, key);
    put_text(entry, 2, value);
    put_text(text, kModelNotes, entry);
  }
  return text;
}

}  // namespace

std::size_t InferenceFile::size() const {
  std::size_t size = 0;
  for (const ByteSpan part : parts) size += part.size();
  return size;
}

Result<InferenceFile> make_inference_file(const ModelPackage& package, std::span<const float> theta,
                                          std::span<const float> statistics, const FileNotes& notes) {
  const ModelDescription& model = package.description;
  if (package.inference_graph.empty()) {
    return unsupported("the package of model '" + model.name +
                       "' has no inference graph; build it again with: aflguard model build");
  }
  TRY_STATUS(check_numbers(theta, model.dimension(), "parameters", model.name));
  TRY_STATUS(check_numbers(statistics, model.statistics, "statistics", model.name));
  const auto fields = fields_of(std::as_bytes(std::span(package.inference_graph)));
  if (!fields.ok()) return at("the inference graph is not ONNX", fields.error());
  InferenceFile file;
  PartList graph(file.own);
  PartList out(file.own);
  for (const Field& field : *fields) {
    if (field.number != kModelGraph) {
      out.borrow(field.whole);
      continue;
    }
    const Status put = put_graph(field.content, model, theta, statistics, graph);
    if (!put.ok()) return at("the inference graph does not fit its manifest", put.error());
  }
  std::string head;
  put_length(head, kModelGraph, graph.size());
  out.own(std::move(head));
  out.append(graph);
  out.own(notes_text(notes));
  if (out.size() > kLargestFile) {
    return unsupported("the model would be a file of " + std::to_string(out.size()) +
                       " bytes; an ONNX file has at most " + std::to_string(kLargestFile));
  }
  file.parts = out.parts();
  return file;
}

Result<FileNotes> read_file_notes(std::span<const std::byte> file) {
  TRY(const auto fields, fields_of(file));
  FileNotes notes;
  for (const Field& field : fields) {
    if (field.number != kModelNotes || !field.has_length) continue;
    TRY(auto key, text_of(field.content, 1));
    TRY(auto value, text_of(field.content, 2));
    notes.emplace_back(std::move(key), std::move(value));
  }
  return notes;
}

FileNotes model_notes(const ModelDescription& model) {
  FileNotes notes = {{"aflguard.model", model.name}, {kNoteLayout, model.hash}};
  std::string names;
  for (const std::string& name : model.class_names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) notes.emplace_back("aflguard.class_names", names);
  return notes;
}

}  // namespace aflguard
