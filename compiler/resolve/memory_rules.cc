// SPDX-License-Identifier: MIT
#include "compiler/resolve/memory_rules.h"

#include <string>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/close_type.h"
#include "compiler/resolve/kind_text.h"

namespace kiln::resolve {
namespace {

bool IsUniformLeaf(const ir::Type& type) {
  if (type.kind == ir::TypeKind::kMatrix) {
    return type.rows == 4 && type.columns == 4;
  }
  return type.rows == 4 && type.scalar != ir::Scalar::kBool && type.scalar != ir::Scalar::kF16;
}

class MemoryCheck {
 public:
  MemoryCheck(const Program& program, const ir::Pool& pool, const ir::ClosedDecl& closed,
              std::vector<Diagnostic>& diagnostics)
      : program_(program), pool_(pool), closed_(closed), diagnostics_(diagnostics) {}

  void Run() {
    const bool uniform =
        closed_.kind == ir::DeclKind::kPushConstant ||
        (closed_.kind == ir::DeclKind::kBuffer && closed_.buffer() == ir::BufferKind::kUniform);
    for (const ir::ClosedMember& member : closed_.members) {
      const Location where = program_.At(member.origin.module, member.origin.span);
      const std::string path(pool_.Text(member.name));
      if (uniform) {
        CheckLeaves(member.type, path, where);
      } else if (&member != &closed_.members.back() && HasRuntimeArray(pool_, member.type)) {
        diagnostics_.push_back(
            Make(Code::kRpl4051, where).With("path", path).With("owner", OwnerText()));
      }
    }
  }

 private:
  std::string_view OwnerText() const { return pool_.Text(closed_.name); }

  Diagnostic About(Code code, const Location& where, std::string_view path) const {
    return Make(code, where)
        .With("path", path)
        .With("kind", DeclKindText(program_.Get(closed_.decl)))
        .With("owner", OwnerText());
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
        if (!IsUniformLeaf(type)) {
          diagnostics_.push_back(
              std::move(About(Code::kRpl4050, where, path)).With("type", ir::TypeText(pool_, id)));
        }
        return;
    }
  }

  const Program& program_;
  const ir::Pool& pool_;
  const ir::ClosedDecl& closed_;
  std::vector<Diagnostic>& diagnostics_;
  FlatMap<uint32_t, bool> checked_;
};

}  // namespace

void CheckMemory(const Program& program, const ir::Pool& pool, const ir::ClosedDecl& closed,
                 std::vector<Diagnostic>& diagnostics) {
  MemoryCheck(program, pool, closed, diagnostics).Run();
}

}  // namespace kiln::resolve
