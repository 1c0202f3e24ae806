// SPDX-License-Identifier: MIT
#include "compiler/layout/entry_inputs.h"

#include <algorithm>
#include <vector>

#include "compiler/layout/item_format.h"

namespace kiln::layout {
namespace {

// Rows of one source lie in one vertex buffer. Rows that name none are gathered by how often they
// advance.
std::string_view SourceName(const ir::InterfaceRow& row, const ir::Pool& pool) {
  if (row.source.valid()) {
    return pool.Text(row.source);
  }
  return row.rate == ir::Rate::kInstance ? "instance" : "vertex";
}

// What one attribute holds: a vector, or one of the matrices that engines fill as a whole.
bool IsWhole(const ir::Type& type) {
  const bool square = type.columns == type.rows && type.rows >= 3;
  return type.kind == ir::TypeKind::kVector || (type.kind == ir::TypeKind::kMatrix && square);
}

class InputPacker {
 public:
  InputPacker(TypeLayouts& types, VertexSource& source) : types_(types), source_(source) {}

  // A row that is a whole attribute has no part number; one that falls apart numbers its parts, for
  // their names.
  void Add(const ir::InterfaceRow& row, uint32_t number) {
    // The parts of a row share what the row says.
    row_ = &row;
    number_ = number;
    location_ = row.Find(ir::AttributeKey::kLocation)->a;
    part_ = IsWhole(Shape(row.type)) ? ir::kNoRow : 0;
    AddParts(row.type);
  }

  void Finish() {
    const PackedBlock block = PackAttributes(types_.types(), fields_);
    // Offsets and stride are known only when all fields are there.
    source_.stride = block.stride;
    for (size_t i = 0; i < fields_.size(); ++i) {
      source_.attributes[i].offset = block.places[i].offset;
      source_.attributes[i].column_stride = block.places[i].column_stride;
    }
  }

 private:
  const ir::Type& Shape(ir::TypeId type) const { return types_.pool()[type]; }

  // Arrays, and matrices that are no attribute, fall into their vectors. Types of rows nest little.
  void AddParts(ir::TypeId id) {
    const ir::Type type = Shape(id);
    if (IsWhole(type)) {
      return AddField(id);
    }
    const bool matrix = type.kind == ir::TypeKind::kMatrix;
    const uint32_t count = matrix ? type.columns : type.extent;
    for (uint32_t i = 0; i < count; ++i) {
      AddParts(matrix ? types_.pool().Vector(type.scalar, type.rows) : ir::TypeId{type.element});
    }
  }

  void AddField(ir::TypeId id) {
    const TypeId imported = types_.Import(id);
    const ItemFormat format = FormatOf(row_->pack, row_->pack_bits);
    const uint32_t count = LocationsOf(types_.types()[imported]);
    fields_.push_back(
        {.name = types_.pool().Text(row_->field), .type = imported, .format = format});
    source_.attributes.push_back({.format = format,
                                  .location = location_,
                                  .location_count = count,
                                  .row = number_,
                                  .part = part_,
                                  .type = id});
    // Locations go on through the parts of a row.
    location_ += count;
    part_ += part_ == ir::kNoRow ? 0 : 1;
  }

  TypeLayouts& types_;
  VertexSource& source_;
  std::vector<PackedField> fields_;
  const ir::InterfaceRow* row_ = nullptr;
  uint32_t number_ = 0;
  uint32_t location_ = 0;
  uint32_t part_ = 0;
};

}  // namespace

// Vertex buffers of an entry point with rows of its own, in the order in which sources are first
// mentioned. The rows are gone through once for each source; there are few.
void PlaceEntryInputs(const ir::SpecialisedProgram& variant, TypeLayouts& types, Layout& layout) {
  const auto entry = std::ranges::find(variant.entries, ir::Stage::kVertex, &ir::EntryRef::stage);
  if (entry == variant.entries.end()) {
    return;
  }
  const auto is_input = [](const ir::InterfaceRow& row) {
    return row.direction == ir::Direction::kIn && row.Find(ir::AttributeKey::kLocation) != nullptr;
  };
  std::vector<std::string_view> done;
  for (const ir::InterfaceRow& first : entry->io) {
    const std::string_view name = SourceName(first, types.pool());
    // Sources are compared by name, so rows of one source need not stand together.
    if (!is_input(first) || std::ranges::find(done, name) != done.end()) {
      continue;
    }
    done.push_back(name);
    VertexSource source{.binding = static_cast<uint32_t>(layout.vertex_sources.size()),
                        .per_instance = first.rate == ir::Rate::kInstance,
                        .name = name};
    InputPacker packer(types, source);
    for (uint32_t row = 0; row < entry->io.size(); ++row) {
      if (is_input(entry->io[row]) && SourceName(entry->io[row], types.pool()) == name) {
        packer.Add(entry->io[row], row);
      }
    }
    packer.Finish();
    layout.vertex_sources.push_back(std::move(source));
  }
}

}  // namespace kiln::layout
