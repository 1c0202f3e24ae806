// SPDX-License-Identifier: MIT
#include "compiler/layout/split.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

// Walks a type once, depth first, and writes down a leaf for everything that needs a binding.
// Numbers are counted from zero as if the parameter were alone (`cursor_`, by kind); assignment
// adds where its runs begin. A parameter block opens a group: a space of its own, with counters
// that begin anew. Arrays multiply what is below them and are not unrolled, so the cost is the
// number of paths in the type, which is checked before.
class Splitter {
 public:
  Splitter(const Types& types, std::string_view name, const SplitContext& context)
      : types_(types), context_(context), path_(name) {}

  Demands Run(TypeId type) {
    const uint32_t depth = context_.policy == Policy::kRpl ? kMaxDepth : kMaxFirstFitDepth;
    // Checked before the walk, which is as deep and as long as these two numbers say.
    if (types_[type].depth > depth || types_[type].path_count > kMaxPaths) {
      Fail(SplitFault::kTooMany);
      return std::move(out_);
    }
    out_.bytes = types_[type].has_bytes && context_.role == Role::kResource;
    // A push constant of a plain struct is the block itself and not something in a block.
    if (context_.role == Role::kPush &&
        types_[ItemOf(types_, type)].kind != TypeKind::kConstantBuffer) {
      Content(type, type);
    } else {
      Walk(type);
    }
    out_.counts = cursor_;
    // Each kind is counted apart; only one that is too large is a fault.
    for (const uint64_t count : out_.counts) {
      if (count > kMaxCount) {
        Fail(count == kUnknown ? SplitFault::kUnspecialised : SplitFault::kTooMany);
      }
    }
    if (groups_ > kMaxCount) {
      Fail(SplitFault::kTooMany);
    }
    out_.spaces = groups_;
    return std::move(out_);
  }

 private:
  void Walk(TypeId id);
  void Array(const Type& type);
  void Members(TypeId id);
  // A buffer `holder` with this content, and the resources in it.
  void Content(TypeId holder, TypeId content);
  void Block(TypeId id);
  // Whether it uses something besides spaces of its own.
  bool UsesOwn(TypeId id) const;

  void Add(TypeId id, bool block, bool data);
  void AddParts(Leaf& leaf, const Type& type, bool block);
  void AddPart(Leaf& leaf, Kind kind, uint64_t count);
  // Saturates, as all counts here do.
  uint64_t Items() const {
    uint64_t items = 1;
    for (const uint64_t extent : extents_) {
      items = MultiplyCounts(items, extent);
    }
    return items;
  }
  // The first fault is kept: what comes after it is often its consequence.
  void Fail(SplitFault fault) {
    if (out_.fault == SplitFault::kNone) {
      out_.fault = fault;
      out_.fault_path = path_;
    }
  }

  const Types& types_;
  const SplitContext& context_;
  Demands out_;
  std::string path_;
  std::vector<uint64_t> extents_;  // of the arrays around, outermost first
  std::array<uint64_t, kKindCount> cursor_{};
  uint64_t group_ = 0;   // that the cursor counts in
  uint64_t groups_ = 0;  // given out
  uint32_t block_depth_ = 0;
};

void Splitter::Walk(TypeId id) {
  const Type& type = types_[id];
  switch (type.kind) {
    case TypeKind::kVector:
    case TypeKind::kMatrix:
      return;
    case TypeKind::kGeneric:
      Fail(SplitFault::kUnspecialised);
      return;
    case TypeKind::kEndless:
      Fail(SplitFault::kTooMany);
      return;
    case TypeKind::kArray:
    case TypeKind::kRuntimeArray:
      Array(type);
      return;
    case TypeKind::kStruct:
      Members(id);
      return;
    // A buffer with an element is a block.
    case TypeKind::kResource:
      Add(id, types_[id].element.valid(), false);
      return;
    case TypeKind::kConstantBuffer:
      Content(id, type.element);
      return;
    case TypeKind::kParameterBlock:
      // D3D 11 has no spaces, so a parameter block is an ordinary buffer there.
      if (context_.platform == Platform::kD3d11) {
        Content(id, type.element);
      } else {
        Block(id);
      }
      return;
  }
  KILN_UNREACHABLE();
}

void Splitter::Array(const Type& type) {
  const TypeId item = ItemOf(types_, type.element);
  const bool endless = types_[item].kind == TypeKind::kEndless;
  // Arrays of plain bytes need no binding: they belong to the buffer around.
  if (!type.has_resources && !endless && types_[item].kind != TypeKind::kGeneric) {
    return;
  }
  const bool unsized = type.kind == TypeKind::kRuntimeArray;
  if (type.has_resources && context_.platform == Platform::kWebgpu &&
      (unsized || context_.webgpu_arrays == WebgpuArrays::kError)) {
    Fail(SplitFault::kArray);
  }
  if (type.has_resources && unsized && context_.platform == Platform::kD3d11) {
    Fail(SplitFault::kUnbounded);
  }
  // The extent is remembered and the item walked once.
  extents_.push_back(unsized ? kUnbounded : type.extent);
  Walk(type.element);
  extents_.pop_back();
}

void Splitter::Members(TypeId id) {
  for (const Member& member : types_.Members(id)) {
    // The path is one text that grows and shrinks with the walk.
    const size_t length = path_.size();
    path_ += '.';
    path_ += member.name;
    Walk(member.type);
    path_.resize(length);
  }
}

void Splitter::Content(TypeId holder, TypeId content) {
  // Under policy rpl a buffer keeps its binding though options have taken all its fields.
  if (types_[content].has_bytes || context_.policy == Policy::kRpl) {
    Add(holder, true, false);
  }
  if (types_[content].has_resources) {
    Walk(content);
  }
}

// All items of an array of blocks are alike: one is walked, and the spaces that it took are
// multiplied.
void Splitter::Block(TypeId id) {
  const TypeId content = types_[id].element;
  const uint64_t items = Items();
  if (items >= kUnbounded) {
    Fail(SplitFault::kUnboundedSpaces);
    return;
  }
  if (items == 0) {
    return;  // no block, no space
  }
  // Inside of a block everything counts from zero, as if it were a parameter of its own.
  const auto outer_cursor = std::exchange(cursor_, {});
  const auto outer_extents = std::exchange(extents_, {});
  const uint64_t before = groups_;
  const uint64_t outer_group = group_;
  ++block_depth_;
  if (UsesOwn(content)) {
    group_ = ++groups_;
  }
  if (types_[content].has_bytes) {
    Add(id, true, true);
  }
  if (types_[content].has_resources) {
    Walk(content);
  }
  groups_ = AddCounts(before, MultiplyCounts(groups_ - before, items));
  --block_depth_;
  group_ = outer_group;
  cursor_ = outer_cursor;
  extents_ = outer_extents;
}

// Whether it uses something besides spaces of its own. A block that holds nothing but other blocks
// gets no space; a space without any binding would have to be declared all the same.
bool Splitter::UsesOwn(TypeId id) const {
  const Type& type = types_[id];
  switch (type.kind) {
    case TypeKind::kVector:
    case TypeKind::kMatrix:
    case TypeKind::kGeneric:
    case TypeKind::kEndless:
    case TypeKind::kResource:
      return true;
    // Nothing of anything needs no space.
    case TypeKind::kArray:
      return type.extent != 0 && UsesOwn(type.element);
    case TypeKind::kRuntimeArray:
      return (context_.platform != Platform::kD3d12 || !type.has_resources) &&
             UsesOwn(type.element);
    case TypeKind::kStruct:
      return std::ranges::any_of(types_.Members(id),
                                 [&](const Member& member) { return UsesOwn(member.type); });
    case TypeKind::kConstantBuffer:
      return types_[type.element].has_bytes || UsesOwn(type.element);
    case TypeKind::kParameterBlock:
      return false;
  }
  KILN_UNREACHABLE();
}

void Splitter::Add(TypeId id, bool block, bool data) {
  Leaf leaf{.path = data ? path_ + "{data}" : path_,
            .type = id,
            .block = block,
            .data = data,
            .in_block = block_depth_ != 0,
            .items = Items()};
  if (leaf.items == 0) {
    return;  // no element, nothing to bind
  }
  if (leaf.items < kUnbounded && leaf.items > kMaxCount) {
    Fail(SplitFault::kTooMany);
    return;
  }
  // From the inside out: the stride of an array is the product of the arrays further in
  // (spec/layout 5.4).
  uint64_t stride = 1;
  for (auto extent = extents_.rbegin(); extent != extents_.rend(); ++extent) {
    leaf.strides.insert(leaf.strides.begin(), stride);
    stride = MultiplyCounts(stride, *extent);
  }
  AddParts(leaf, types_[id], block);
  out_.leaves.push_back(std::move(leaf));
}

// What one leaf takes of which kind: the table of spec/layout 5.1 as code.
void Splitter::AddParts(Leaf& leaf, const Type& type, bool block) {
  const bool resource = type.kind == TypeKind::kResource;
  const bool combined = resource && type.resource == ResourceClass::kCombined;
  const bool subpass = resource && type.resource == ResourceClass::kSubpass;
  const Kind kind = RegisterClassOf(type);
  // Only the first block of a push constant is pushed; resources in it are bound as usual.
  if (context_.role == Role::kPush && block && !IsD3d(context_.platform) && out_.leaves.empty()) {
    AddPart(leaf, Kind::kPush, 1);
    return;
  }
  if (subpass && context_.platform == Platform::kWebgpu) {
    Fail(SplitFault::kSubpass);
    return;
  }
  if (context_.policy == Policy::kRpl || !IsD3d(context_.platform)) {
    const bool two =
        (resource && type.resource == ResourceClass::kCounted) ||
        (combined && context_.platform == Platform::kWebgpu && !context_.reserved_samplers);
    // Classes with a shift are numbered apart, except in blocks, whose space is not known yet
    // (engine_records).
    const bool apart = context_.classes[static_cast<size_t>(kind)] && group_ == 0;
    AddPart(leaf, apart ? kind : Kind::kSlot, two ? 2 : 1);
  } else {
    AddPart(leaf, kind, leaf.items);
    if (combined) {
      AddPart(leaf, Kind::kS, leaf.items);
    }
  }
  if (subpass) {
    AddPart(leaf, Kind::kAttachment, leaf.items);
  }
}

void Splitter::AddPart(Leaf& leaf, Kind kind, uint64_t count) {
  LeafPart part{.kind = kind, .group = group_, .count = count};
  // Nothing can follow a run without an end, so it gets a space of its own (spec/layout 5.5).
  if (count >= kUnbounded) {
    part.group = ++groups_;
  } else if (kind != Kind::kPush) {
    uint64_t& next = cursor_[static_cast<size_t>(kind)];
    part.offset = next;
    next = AddCounts(next, count);
  }
  leaf.parts[leaf.part_count++] = part;
}

}  // namespace

// Nothing but spaces: such a parameter is bound by naming its space.
bool Demands::whole() const {
  return spaces != 0 && !bytes &&
         std::ranges::all_of(counts, [](uint64_t count) { return count == 0; });
}

// Everything that is no resource is bound as a constant buffer.
Kind RegisterClassOf(const Type& type) {
  if (type.kind != TypeKind::kResource) {
    return Kind::kB;
  }
  switch (type.resource) {
    case ResourceClass::kRead:
    case ResourceClass::kTextureBuffer:
    case ResourceClass::kCombined:
    case ResourceClass::kSubpass:
      return Kind::kT;
    case ResourceClass::kWrite:
    case ResourceClass::kCounted:
      return Kind::kU;
    case ResourceClass::kSampler:
      return Kind::kS;
  }
  KILN_UNREACHABLE();
}

Demands Split(const Types& types, TypeId type, std::string_view name, const SplitContext& context) {
  return Splitter(types, name, context).Run(type);
}

}  // namespace kiln::layout
