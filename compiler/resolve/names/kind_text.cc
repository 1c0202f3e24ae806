// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/kind_text.h"

#include "compiler/base/check.h"

namespace kiln::resolve {
namespace {

// Spelled out for messages; the words of the language are tokens and differ.
std::string_view ContainerText(ir::ContainerKind kind) {
  switch (kind) {
    case ir::ContainerKind::kVertexAttributes:
      return "vertex attribute container";
    case ir::ContainerKind::kInstanceAttributes:
      return "instanced attribute container";
    case ir::ContainerKind::kState:
      return "state container";
    case ir::ContainerKind::kColorOutput:
      return "colour output container";
  }
  KILN_UNREACHABLE();
}

std::string_view BufferText(ir::BufferKind kind) {
  switch (kind) {
    case ir::BufferKind::kUniform:
      return "uniform buffer";
    case ir::BufferKind::kReadOnlyStorage:
      return "read-only storage buffer";
    case ir::BufferKind::kReadWriteStorage:
      return "read-write storage buffer";
  }
  KILN_UNREACHABLE();
}

}  // namespace

// Messages take these words into sentences, so they are in lower case and without an article.
std::string_view DeclKindText(const ir::Decl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kConstant:
      return "constant";
    case ir::DeclKind::kSetting:
      return "setting";
    case ir::DeclKind::kStruct:
      return "struct";
    case ir::DeclKind::kContainer:
      return ContainerText(decl.container());
    case ir::DeclKind::kBuffer:
      return BufferText(decl.buffer());
    case ir::DeclKind::kPushConstant:
      return "push constant";
    case ir::DeclKind::kSampler:
      return "sampler";
    case ir::DeclKind::kImage:
      return "image";
    case ir::DeclKind::kFunction:
      return "function";
    case ir::DeclKind::kWorkgroup:
      return "workgroup variable";
    case ir::DeclKind::kPrivate:
      return "variable";
    case ir::DeclKind::kEntry:
      return "entry point";
  }
  KILN_UNREACHABLE();
}

std::string_view LocalKindText(ir::LocalKind kind) {
  switch (kind) {
    case ir::LocalKind::kParameter:
      return "argument";
    case ir::LocalKind::kAlias:
      return "alias";
    case ir::LocalKind::kVariable:
    // Exits are variables that the compiler made.
    case ir::LocalKind::kLoopExit:
    case ir::LocalKind::kSwitchExit:
      return "variable";
  }
  KILN_UNREACHABLE();
}

// Only declarations of the interface have conditions that a walk reports; others never get here.
std::string_view ConditionText(ir::DeclKind kind) {
  switch (kind) {
    case ir::DeclKind::kContainer:
      return "the conditional of container";
    case ir::DeclKind::kBuffer:
      return "the conditional of buffer";
    case ir::DeclKind::kPushConstant:
      return "the conditional of push constant";
    case ir::DeclKind::kSampler:
      return "the conditional of sampler";
    case ir::DeclKind::kImage:
      return "the conditional of image";
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
    case ir::DeclKind::kPrivate:
    case ir::DeclKind::kEntry:
      break;
  }
  KILN_UNREACHABLE();
}

// RPL spells this type b1.
std::string BooleanText(const ir::Pool& pool, ir::TypeId type) {
  return type == pool.bool_type() ? "b1" : ir::TypeText(pool, type);
}

}  // namespace kiln::resolve
