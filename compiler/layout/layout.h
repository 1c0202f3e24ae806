// SPDX-License-Identifier: MIT
// Every number that was decided for an RPL program, by the ids of its specialised IR, in one value
// that all emitters and metadata read: sets, bindings, locations, sizes of blocks and vertex inputs
// of the live interface. Byte offsets inside a block are a pure function of its type (ir_types.h).
// See spec/layout 7.2, 7.4, 9.2; spec/rpl 10.1 to 10.3.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/ids.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/rules.h"

namespace kiln::layout {

// Where a declaration is bound. kNoRow: has no such number, or the declaration is not live.
struct Placement {
  uint32_t set = ir::kNoRow;      // buffers, samplers, images
  uint32_t binding = ir::kNoRow;  // in its set; of containers of attributes: of the vertex buffer
  // Row of Layout::blocks (buffers, push constants) or vertex_sources (containers of attributes).
  uint32_t row = ir::kNoRow;
  friend bool operator==(const Placement&, const Placement&) = default;
};

// A buffer or the push constant. Sizes in bytes.
struct Block {
  ir::DeclId decl{};
  Rules rules = Rules::kStd430;
  uint32_t main_size = 0;       // without the runtime tail: items of the tail start here
  uint32_t tail_item_size = 0;  // distance of the items of the tail; 0: no tail
  uint32_t tail_offset = 0;     // main_size if there is a tail, else 0
  friend bool operator==(const Block&, const Block&) = default;
};

// One field of an attribute container, in bytes. A matrix is one attribute of several locations.
struct Attribute {
  ir::MemberId member{};
  ItemFormat format = ItemFormat::kFloat32;
  uint32_t location = 0;  // the first
  uint32_t location_count = 1;
  uint32_t offset = 0;
  uint32_t column_stride = 0;  // matrices: distance of columns; 0 for vectors
  // Of an entry point of a typed module, instead of `member`: the row of its interface, the part of
  // it that this is (kNoRow: all), and its type.
  uint32_t row = ir::kNoRow;
  uint32_t part = ir::kNoRow;
  ir::TypeId type{};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// One vertex buffer.
struct VertexSource {
  ir::DeclId container{};
  uint32_t binding = 0;
  bool per_instance = false;
  uint32_t stride = 0;  // bytes from one element to the next
  std::vector<Attribute> attributes{};
  std::string_view name{};  // without a container; of the pool
  friend bool operator==(const VertexSource&, const VertexSource&) = default;
};

// An array of images on WebGPU, which has none: every element is a binding of its own, the first
// one that of the array.
struct SplitArray {
  ir::DeclId decl{};
  std::vector<uint32_t> bindings{};  // by element
  friend bool operator==(const SplitArray&, const SplitArray&) = default;
};

// Tables by id are dense over the program-wide rows, so that a look-up is one load; what is not
// live has kNoRow. The lists are in binding order.
struct Layout {
  std::vector<Placement> placements;  // by DeclId
  std::vector<uint32_t> locations;    // by MemberId: fields of containers
  std::vector<Block> blocks;
  std::vector<VertexSource> vertex_sources;
  std::vector<SplitArray> split_arrays;  // WebGPU only
  uint32_t push_constant_size = 0;       // 0: no push constant is live

  // Requires: a live buffer, sampler or image.
  const Placement& PlacementOf(ir::DeclId decl) const {
    KILN_DCHECK(decl.value < placements.size() && placements[decl.value].set != ir::kNoRow);
    return placements[decl.value];
  }
  // Requires: a live field of a container.
  uint32_t LocationOf(ir::MemberId member) const {
    KILN_DCHECK(member.value < locations.size() && locations[member.value] != ir::kNoRow);
    return locations[member.value];
  }
  // Requires: a live buffer or push constant.
  const Block& BlockOf(ir::DeclId decl) const { return blocks[RowOf(decl)]; }
  // Requires: a live container of attributes.
  const VertexSource& SourceOf(ir::DeclId decl) const { return vertex_sources[RowOf(decl)]; }

  // Requires: a live array of images, on WebGPU.
  const std::vector<uint32_t>& ElementsOf(ir::DeclId decl) const {
    for (const SplitArray& array : split_arrays) {
      if (array.decl == decl) {
        return array.bindings;
      }
    }
    KILN_UNREACHABLE();
  }

  // Grow as needed; later calls replace.
  void Place(ir::DeclId decl, Placement placement) {
    if (decl.value >= placements.size()) {
      placements.resize(decl.value + 1);
    }
    placements[decl.value] = placement;
  }
  void Locate(ir::MemberId member, uint32_t location) {
    if (member.value >= locations.size()) {
      locations.resize(member.value + 1, ir::kNoRow);
    }
    locations[member.value] = location;
  }
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  uint32_t RowOf(ir::DeclId decl) const {
    KILN_DCHECK(decl.value < placements.size() && placements[decl.value].row != ir::kNoRow);
    return placements[decl.value].row;
  }
};

}  // namespace kiln::layout
