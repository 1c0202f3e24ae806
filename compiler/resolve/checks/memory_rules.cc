// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/memory_rules.h"

#include <algorithm>
#include <string>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_type.h"

namespace kiln::resolve {
namespace {

// Uniform blocks hold nothing but rows of four words, so they have no padding that two compilers
// could place differently.
// spec/rpl 10.3.
bool IsUniformLeaf(const ir::Type& type) {
  if (type.kind == ir::TypeKind::kMatrix) {
    return type.rows == 4 && type.columns == 4;
  }
  return type.rows == 4 && type.scalar != ir::Scalar::kBool && type.scalar != ir::Scalar::kF16;
}

class MemoryCheck {
 public:
  MemoryCheck(const Program& program, const ir::Pool& pool, const ir::SpecialisedDecl& specialised,
              std::vector<Diagnostic>& diagnostics)
      : program_(program), pool_(pool), specialised_(specialised), diagnostics_(diagnostics) {}

  // Limits first: a block with too many parameters gets no other message.
  void Run() {
    uint64_t parameters = 0;
    for (const ir::SpecialisedMember& member : specialised_.members) {
      // Capped one above the limit: structs that hold others twice would overflow any number.
      parameters = std::min(parameters + ParametersOf(member.type), Limit() + 1);
    }
    if (parameters > Limit() && specialised_.kind != ir::DeclKind::kStruct) {
      const std::string what(DeclKindText(program_.Get(specialised_.decl)));
      diagnostics_.push_back(
          Make(Code::kLim1001, program_.At(specialised_.origin.module, specialised_.origin.span))
              .With("what", what + " '" + std::string(OwnerText()) + "'")

              .With("parts", "parameters")
              .With("limit", Limit()));
      return;
    }
    // Two sets of rules: uniform blocks and push constants on the one side, everything else on the
    // other.
    const bool uniform = specialised_.kind == ir::DeclKind::kPushConstant ||
                         (specialised_.kind == ir::DeclKind::kBuffer &&
                          specialised_.buffer() == ir::BufferKind::kUniform);
    // The message stands at the member of the block, however deep in its type the fault lies.
    for (const ir::SpecialisedMember& member : specialised_.members) {
      const Location where = program_.At(member.origin.module, member.origin.span);
      const std::string path(pool_.Text(member.name));
      if (uniform) {
        CheckLeaves(member.type, path, where);
      } else {
        CheckBooleans(member.type, path, where);
      }
      if (!uniform && &member != &specialised_.members.back() &&
          HasRuntimeArray(pool_, member.type)) {
        diagnostics_.push_back(
            Make(Code::kRpl4051, where).With("path", path).With("owner", OwnerText()));
      }
    }
  }

  // Recursion is as deep as types nest.
 private:
  // Flattened, as spec/rpl 12.2 says; no more than one above the limit.
  uint64_t ParametersOf(ir::TypeId id) {
    const ir::Type& type = pool_[id];
    if (type.kind == ir::TypeKind::kRuntimeArray) {
      return ParametersOf(ir::TypeId{type.element});
    }
    if (type.kind == ir::TypeKind::kArray) {
      const ir::TypeKind item = pool_[ir::TypeId{type.element}].kind;
      // Arrays of structs yield no parameters.
      return item == ir::TypeKind::kStruct || item == ir::TypeKind::kArray ? 0 : 1;
    }
    if (type.kind != ir::TypeKind::kStruct) {
      return 1;
    }
    // Remembered for each struct, as one may be used by many others.
    if (const uint64_t* count = parameters_.Find(id.value)) {
      return *count;
    }
    uint64_t count = 0;
    for (const ir::ShapeMember& member : pool_.Members(id)) {
      count = std::min(count + ParametersOf(member.type), Limit() + 1);
    }
    parameters_.Insert(id.value, count);
    return count;
  }

  // The limit is the program's, as all limits of a variant are.
  uint64_t Limit() const { return program_.limits().parameters; }

  std::string_view OwnerText() const { return pool_.Text(specialised_.name); }

  Diagnostic About(Code code, const Location& where, std::string_view path) const {
    return Make(code, where)
        .With("path", path)
        .With("kind", DeclKindText(program_.Get(specialised_.decl)))
        .With("owner", OwnerText());
  }

  // Booleans have no layout; a struct may hold them as long as it stays in functions.
  void CheckBooleans(ir::TypeId id, const std::string& path, const Location& where) {
    while (pool_[id].kind == ir::TypeKind::kArray ||
           pool_[id].kind == ir::TypeKind::kRuntimeArray) {
      id = ir::TypeId{pool_[id].element};
    }
    if (pool_[id].kind == ir::TypeKind::kStruct) {
      // A struct by itself may have booleans; only one that lies in memory is looked into.
      if (specialised_.kind != ir::DeclKind::kStruct && checked_.Insert(id.value, true).second) {
        for (const ir::ShapeMember& member : pool_.Members(id)) {
          CheckBooleans(member.type, path + "." + std::string(pool_.Text(member.name)), where);
        }
      }
    } else if (pool_[id].scalar == ir::Scalar::kBool &&
               specialised_.kind != ir::DeclKind::kStruct) {
      ReportBoolean(id, path, where);
    }
  }

  // A boolean is named by how it was written, for the type in the pool has no name.
  void ReportBoolean(ir::TypeId id, const std::string& path, const Location& where) {
    diagnostics_.push_back(
        Make(Code::kRpl8111, where).With("name", path).With("type", BooleanText(pool_, id)));
  }

  // Structs nest at most 256 deep; one that was seen before has been checked.
  void CheckLeaves(ir::TypeId id, const std::string& path, const Location& where) {
    const ir::Type& type = pool_[id];
    switch (type.kind) {
      case ir::TypeKind::kRuntimeArray:
        diagnostics_.push_back(About(Code::kRpl4052, where, path));
        return;
      case ir::TypeKind::kArray: {
        ir::TypeId item{type.element};
        while (pool_[item].kind == ir::TypeKind::kArray) {
          item = ir::TypeId{pool_[item].element};
        }
        return CheckLeaves(item, path, where);
      }
      case ir::TypeKind::kStruct:
        // A struct that was seen before has been reported with the first path that leads to it.
        if (checked_.Insert(id.value, true).second) {
          for (const ir::ShapeMember& member : pool_.Members(id)) {
            CheckLeaves(member.type, path + "." + std::string(pool_.Text(member.name)), where);
          }
        }
        return;
      case ir::TypeKind::kVector:
      case ir::TypeKind::kMatrix:
      case ir::TypeKind::kVoid:
      case ir::TypeKind::kSampler:
      case ir::TypeKind::kImage:
      case ir::TypeKind::kNamed:
      case ir::TypeKind::kDeferred:
      case ir::TypeKind::kDeclared:
      case ir::TypeKind::kSampledImage:
      case ir::TypeKind::kAccel:
      case ir::TypeKind::kRayQuery:
        if (type.scalar == ir::Scalar::kBool) {
          ReportBoolean(id, path, where);
        } else if (!IsUniformLeaf(type)) {
          diagnostics_.push_back(
              std::move(About(Code::kRpl4050, where, path)).With("type", ir::TypeText(pool_, id)));
        }
        return;
    }
  }

  const Program& program_;
  const ir::Pool& pool_;
  const ir::SpecialisedDecl& specialised_;
  std::vector<Diagnostic>& diagnostics_;
  FlatMap<uint32_t, bool> checked_;
  FlatMap<uint32_t, uint64_t> parameters_;  // of struct types
};

}  // namespace

void CheckMemory(const Program& program, const ir::Pool& pool,
                 const ir::SpecialisedDecl& specialised, std::vector<Diagnostic>& diagnostics) {
  MemoryCheck(program, pool, specialised, diagnostics).Run();
}

}  // namespace kiln::resolve
