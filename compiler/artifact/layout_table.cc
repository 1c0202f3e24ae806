// SPDX-License-Identifier: MIT
#include "compiler/artifact/layout_table.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kiln::artifact {
namespace {

// No alignment of a block is above 16, so a larger gap is not padding: metadata has no rows for
// arrays of structs.
constexpr uint32_t kLargestPadding = 15;

// One line of a block: a member, or the bytes between two of them.
struct Row {
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t array_stride = 0;
  uint32_t matrix_stride = 0;
  std::string what;
};

// Bytes that a parameter fills, as metadata says it: with strides where there are some. Used to
// find the gaps between parameters.
uint32_t SizeOf(const Parameter& parameter) {
  const bool half = parameter.type >= ParameterType::kH1 && parameter.type <= ParameterType::kH4;
  const uint32_t component = half ? 2 : 4;
  // Matrices have a stride for each column; vectors are as long as their components.
  const AttributeShape shape = ShapeOf(parameter.type);
  const uint32_t item =
      shape.columns > 1 ? shape.columns * parameter.matrix_stride : shape.rows * component;
  return parameter.array_stride == 0 ? item : parameter.total_item_count * parameter.array_stride;
}

// Text only, in columns that line up by fixed widths: it is compared by people and by goldens.
class Table {
 public:
  std::string Take() { return std::move(out_); }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    // Spaces at the end of a line would show up in every comparison of texts.
    while (!out_.empty() && out_.back() == ' ') {
      out_.pop_back();
    }
    out_ += '\n';
  }

  // `size` bytes that these parameters fill.
  void Block(const std::vector<Parameter>& parameters, uint32_t size) {
    std::vector<Row> rows;
    for (const Parameter& parameter : parameters) {
      std::string what = fmt::format("{} {}", parameter.name, NameOf(parameter.type));
      for (const uint32_t dimension : parameter.dimensions) {
        what += fmt::format("[{}]", dimension);
      }
      rows.push_back({.offset = parameter.offset,
                      .size = SizeOf(parameter),
                      .array_stride = parameter.array_stride,
                      .matrix_stride = parameter.matrix_stride,
                      .what = std::move(what)});
    }
    Rows(rows, size);
  }

  // Offsets ascend, so what is not covered by a row is a gap. Rows may overlap where the author
  // wrote offsets; the end is that of all before.
  void Rows(const std::vector<Row>& rows, uint32_t size) {
    // The head has the widths of the rows, so it stands above them.
    Line("    {:>6} {:>6} {:>6} {:>6}  {}", "offset", "size", "stride", "matrix", "");
    uint32_t end = 0;
    for (const Row& row : rows) {
      Gap(end, row.offset);
      Line("    {:>6} {:>6} {:>6} {:>6}  {}", row.offset, row.size, Number(row.array_stride),
           Number(row.matrix_stride), row.what);
      end = std::max(end, row.offset + row.size);
    }
    Gap(end, size);
  }

 private:
  // Zero means that there is no stride, and then the column stays empty.
  static std::string Number(uint32_t number) { return number == 0 ? "" : std::to_string(number); }

  void Gap(uint32_t begin, uint32_t end) {
    if (begin < end) {
      Line("    {:>6} {:>6} {:>6} {:>6}  {}", begin, end - begin, "", "",
           end - begin > kLargestPadding ? "(arrays of structs)" : "(padding)");
    }
  }

  std::string out_;
};

// A resource that no stage uses is still bound by the layout, so it is shown and marked.
std::string StagesText(const std::vector<Stage>& stages) {
  std::string text;
  for (const Stage stage : stages) {
    text += fmt::format(" {}", NameOf(stage));
  }
  return text.empty() ? "  unused" : " " + text;
}

// Behind the binding of an array: its descriptors.
std::string CountText(uint32_t count) { return count == 0 ? "" : fmt::format("[{}]", count); }

void AddBuffer(Table& table, size_t set, const Buffer& buffer) {
  table.Line("  set{}.{}{} {} {}  {} bytes{}", set, buffer.binding, CountText(buffer.array_size),
             NameOf(buffer.type), buffer.name, buffer.main_size, StagesText(buffer.stages));
  table.Block(buffer.main_parameters, buffer.main_size);
  // The tail has no size of its own, so its item is shown.
  if (buffer.tail_item_size != 0) {
    table.Line("    tail {} {}[] from {}, stride {}", buffer.tail_field, buffer.tail_type,
               buffer.tail_offset, buffer.tail_item_size);
    if (!buffer.tail_item_parameters.empty()) {
      table.Block(buffer.tail_item_parameters, buffer.tail_item_size);
    }
  }
}

void AddSet(Table& table, size_t index, const Set& set) {
  // All four sets are gone through by their number, and empty ones leave nothing.
  if (set.buffers.empty() && set.samplers.empty() && set.images.empty()) {
    return;
  }
  // The name of the set is that of RPL, and the number that of the descriptor set.
  table.Line("set {} {}", index, kSetNames[index]);
  for (const Buffer& buffer : set.buffers) {
    AddBuffer(table, index, buffer);
  }
  for (const Sampler& sampler : set.samplers) {
    table.Line("  set{}.{}{} sampler {}{}", index, sampler.binding, CountText(sampler.array_size),
               sampler.name, StagesText(sampler.stages));
  }
  for (const Image& image : set.images) {
    // An array of one is still an array in the shader.
    const std::string count = CountText(image.is_array ? image.image_array_size : 0);
    const std::string combined = image.sampler.empty() ? "" : " with sampler " + image.sampler;
    table.Line("  set{}.{}{} {} {}{}{}", index, image.binding, count, NameOf(image.type),
               image.name, combined, StagesText(image.stages));
  }
}

void AddSource(Table& table, const AttributeSource& source) {
  table.Line("vertex buffer {} {}  {} bytes per {}", source.binding, source.name, source.block_size,
             NameOf(source.rate));
  std::vector<Row> rows;
  for (const Attribute& attribute : source.attributes) {
    const AttributeShape shape = ShapeOf(attribute.kind);
    const uint32_t components = shape.rows * shape.columns;
    const uint32_t item = ItemSize(attribute.item_format);
    rows.push_back(
        {.offset = attribute.offset,
         .size = components * item,
         .matrix_stride = attribute.column_stride,
         .what = fmt::format("{} {}x{} location {}", attribute.name, NameOf(attribute.item_format),
                             components, attribute.location)});
  }
  table.Rows(rows, source.block_size);
}

}  // namespace

std::string LayoutTable(const PipelineMetadata& metadata) {
  // In the order in which a vertex goes through the pipeline.
  Table table;
  for (const AttributeSource& source : metadata.attribute_sources) {
    AddSource(table, source);
  }
  for (size_t i = 0; i < metadata.sets.size(); ++i) {
    AddSet(table, i, metadata.sets[i]);
  }
  if (metadata.push_constant) {
    table.Line("push {}  {} bytes{}", metadata.push_constant->name, metadata.push_constant_size,
               StagesText(metadata.push_constant->stages));
    table.Block(metadata.push_constant->members, metadata.push_constant_size);
  }
  for (const StateField& field : metadata.state) {
    table.Line("state location {} {}.{} {}", field.location, field.container, field.name,
               NameOf(field.type));
  }
  for (const ColorOutput& output : metadata.color_outputs) {
    table.Line("output location {} {} {}x{}", output.location, output.name, NameOf(output.item),
               output.components_count);
  }
  return table.Take();
}

}  // namespace kiln::artifact
