// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/unit_content.h"

#include <cstring>

#include "compiler/base/hash/checksum.h"
#include "compiler/ir/operands.h"

namespace kiln::driver {
namespace {

// Marks numbers that belong to no function.
// A bit that no place within a function reaches, so the two kinds of numbers never meet.
constexpr uint32_t kNobody = 0x40000000u;

}  // namespace

// A number that belongs to a function becomes its place in that function. Numbers of the program
// shift when another function grows; this one does not, so an edit leaves the content of all other
// functions as it was, and their lowered code is found again.
uint32_t UnitContent::Numbered(const FunctionNumbering& numbering, uint32_t number) {
  const FunctionNumbering::Place place = numbering.PlaceOf(number);
  return place.function.valid() ? place.index : number | kNobody;
}

// Hashes of parts are words like any other.
void UnitContent::Put(const Hash128& hash) {
  uint32_t words[sizeof(hash) / sizeof(uint32_t)];
  std::memcpy(words, hash.bytes.data(), sizeof(words));
  words_.insert(words_.end(), std::begin(words), std::end(words));
}

// The length first: two lists behind each other have one meaning only.
template <class Row>
void UnitContent::PutAll(std::span<const Row> rows) {
  Put(static_cast<uint32_t>(rows.size()));
  for (const Row& row : rows) {
    if constexpr (std::is_integral_v<Row>) {
      Put(row);
    } else if constexpr (std::is_enum_v<Row>) {
      Put(static_cast<uint32_t>(row));
    } else {
      Put(row.value);
    }
  }
}

// Operands are hashed by what they are: numbers of locals and regions by their place, everything
// else as it stands, since ids of types, constants and names belong to a pool that all links share.
void UnitContent::Put(const ir::Inst& inst) {
  // Kind and flags share a word, which keeps the content of large functions short.
  Put(static_cast<uint32_t>(inst.kind) | uint32_t{inst.flags} << 16);
  Put(inst.type.value);
  for (const ir::Operand& operand : ir::OperandsOf(inst)) {
    switch (operand.schema) {
      case ir::OperandSchema::kLocal:
      case ir::OperandSchema::kOptLocal:
        Put(Local(ir::LocalId{operand.word}));
        break;
      case ir::OperandSchema::kRegion:
        Put(Region(ir::RegionId{operand.word}));
        break;
      case ir::OperandSchema::kNone:
      case ir::OperandSchema::kInst:
      case ir::OperandSchema::kOptInst:
      case ir::OperandSchema::kString:
      case ir::OperandSchema::kConst:
      case ir::OperandSchema::kDecl:
      case ir::OperandSchema::kOptMember:
      case ir::OperandSchema::kBlock:
      case ir::OperandSchema::kCexpr:
      case ir::OperandSchema::kLiteral:
      case ir::OperandSchema::kInsts:
      case ir::OperandSchema::kLocals:  // of generic IR
      case ir::OperandSchema::kBlocks:
      case ir::OperandSchema::kTexts:  // of generic IR
      case ir::OperandSchema::kPart:
      case ir::OperandSchema::kCases:
        Put(operand.word);
        break;
    }
  }
}

// Everything about a declaration that lowering asks for.
void UnitContent::Put(const ir::SpecialisedDecl& decl) {
  Put(decl.decl.value);
  Put(static_cast<uint32_t>(decl.kind) | uint32_t{decl.flags} << 16);
  Put(decl.name.value);
  Put(decl.type.value);
  Put(static_cast<uint32_t>(decl.members.size()));
  for (const ir::SpecialisedMember& member : decl.members) {
    Put(member.name.value);
    Put(member.type.value);
    Put(member.member.value);
    // Each part has its own bits, so two different members never write the same word.
    Put(static_cast<uint32_t>(member.pack) | uint32_t{member.pack_bits} << 8 |
        static_cast<uint32_t>(member.access) << 16 | (member.relaxed ? 1u << 24 : 0u));
    Put(Local(member.local));
    Put(std::span<const ir::Attribute>(member.attributes));
  }
  Put(decl.initial.value);
  Put(std::span<const ir::Attribute>(decl.attributes));
}

void UnitContent::Put(std::span<const ir::Attribute> attributes) {
  Put(static_cast<uint32_t>(attributes.size()));
  for (const ir::Attribute& attribute : attributes) {
    Put(static_cast<uint32_t>(attribute.key) | uint32_t{attribute.of_member} << 16);
    Put(attribute.a);
    Put(attribute.b);
  }
}

Hash128 UnitContent::Finish() {
  // Good within this process only, as the numbers in it are too.
  const Hash128 content = ProcessHash(std::as_bytes(std::span(words_)));
  words_.clear();
  return content;
}

// All that lowering reads of a region, and nothing else: a field that is missing here would give
// one region the words of another, one too many would only lose a hit. Lists are preceded by their
// length, so that no two regions write the same words.
Hash128 UnitContent::Of(const ir::SpecialisedRegion& region) {
  Put(region.function.value);
  Put(Region(region.id));
  Put(static_cast<uint32_t>(region.insts.size()));
  for (const ir::Inst& inst : region.insts) {
    Put(inst);
  }
  Put(static_cast<uint32_t>(region.blocks.size()));
  for (const ir::Block& block : region.blocks) {
    Put(block.first);
    Put(block.count);
  }
  PutAll(std::span(region.block_insts));
  PutAll(std::span(region.extra));
  Put(region.body.value);
  Put(static_cast<uint32_t>(region.locals.size()));
  for (const ir::SpecialisedLocal& local : region.locals) {
    Put(Local(local.local));
    Put(static_cast<uint32_t>(local.kind) | static_cast<uint32_t>(local.access) << 8 |
        (local.relaxed ? 1u << 16 : 0u));
    Put(local.name.value);
    Put(local.type.value);
  }
  Put(static_cast<uint32_t>(region.insertion_points.size()));
  for (const ir::RegionId point : region.insertion_points) {
    Put(Region(point));
  }
  Put(static_cast<uint32_t>(region.io.size()));
  for (const ir::InterfaceRow& row : region.io) {
    Put(row.name.value);
    Put(row.type.value);
    Put(static_cast<uint32_t>(row.direction));
    Put(std::span<const ir::Attribute>(row.attributes));
  }
  PutAll(std::span(region.stage_variables));
  PutAll(std::span(region.relaxed));
  Put((region.discards ? 1u : 0u) | (region.bound ? 2u : 0u) |
      (region.uses_implicit_lod ? 4u : 0u));
  return Finish();
}

// A function is its signature and its regions in order, with who is in whom.
Hash128 UnitContent::Of(const ir::FunctionRef& function, std::span<const Hash128> regions) {
  Put(*function.signature);
  Put((function.stage_sensitive ? 1u : 0u) | static_cast<uint32_t>(function.stage) << 1);
  for (size_t i = 0; i < regions.size(); ++i) {
    Put(regions[i]);
    Put(function.regions[i].parent);
  }
  return Finish();
}

// The interface with its numbers: what was written into code as relocations.
Hash128 UnitContent::Of(std::span<const ir::SpecialisedDecl* const> interface,
                        const layout::Layout& layout,
                        const std::array<uint32_t, 3>& workgroup_size) {
  for (const ir::SpecialisedDecl* decl : interface) {
    Put(*decl);
    if (decl->decl.value < layout.placements.size()) {
      const layout::Placement& placement = layout.placements[decl->decl.value];
      Put(placement.set);
      Put(placement.binding);
    }
    for (const ir::SpecialisedMember& member : decl->members) {
      if (member.member.valid() && member.member.value < layout.locations.size()) {
        Put(layout.locations[member.member.value]);
      }
    }
  }
  PutAll(std::span<const uint32_t>(workgroup_size));
  return Finish();
}

}  // namespace kiln::driver
