// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/answer_layout.h"

#include <fmt/format.h>

#include "compiler/layout/cases/records.h"
#include "compiler/layout/engine/faults.h"
#include "compiler/layout/engine/wgsl_checks.h"
#include "compiler/layout/reflection/dump.h"
#include "compiler/layout/split.h"

namespace kiln::layout {
namespace {

// All rules that a block of a program can have, so that a case shows at once which of them a change
// has reached.
constexpr Rules kCaseRules[] = {
    Rules::kStd140,     Rules::kStd430,        Rules::kScalar,       Rules::kC,
    Rules::kD3dCbuffer, Rules::kStd140Relaxed, Rules::kStd430Relaxed};

bool HasRuntimeArray(const Types& types, TypeId id) {
  const Type& type = types[id];
  if (type.kind == TypeKind::kRuntimeArray) {
    return true;
  }
  if (type.kind == TypeKind::kArray) {
    return HasRuntimeArray(types, type.element);
  }
  // Structs with more paths than the limit are refused elsewhere, and walking through them would
  // take too long.
  if (type.kind != TypeKind::kStruct || type.path_count > kMaxPaths) {
    return false;
  }
  for (const Member& member : types.Members(id)) {
    if (HasRuntimeArray(types, member.type)) {
      return true;
    }
  }
  return false;
}

Json DescribeBlock(ByteLayouts& bytes, TypeId block, Rules rules) {
  const Types& types = bytes.types();
  const TypeLayout& layout = bytes.Of(block, rules);
  // The rules of first fit recurse over the depth, so there is a limit beyond which nothing is laid
  // out.
  // One more, because the block itself is a level.
  const bool too_deep = types[block].depth > kMaxFirstFitDepth + 1;
  if (layout.fault != TypeFault::kNone || too_deep) {
    // Depth is no fault of a type, so the text is made here; a fault is explained by the code that
    // explains it for programs.
    Diagnostic diagnostic = Make(Code::kLay1001, {}).With("name", types[block].name);
    if (layout.fault != TypeFault::kNone) {
      diagnostic = ExplainFault(bytes, {.name = "", .content = block, .rules = rules}).diagnostic;
    }
    return {{"error", Json::array({DescribeError(diagnostic)})}};
  }
  Json described = {{"size", layout.unsized ? Json("unsized") : Json(layout.size)},
                    {"align", layout.alignment},
                    {"members", DescribeMembers(bytes, block, rules)}};
  if (rules == Rules::kD3dCbuffer) {
    described["registers"] = RoundUp(layout.size, 16) / 16;
  }
  return described;
}

// The declaration as WGSL text without attributes has the numbers of std430.
Json DescribeWgsl(ByteLayouts& bytes, TypeId block) {
  const Types& types = bytes.types();
  // Faults come first: the walks below rely on types that end.
  const bool faulty = bytes.Of(block, Rules::kStd430).fault != TypeFault::kNone ||
                      types[block].depth > kMaxFirstFitDepth + 1;
  const bool shareable = !faulty && HostShareable(types, block);
  const bool row_major = !faulty && HasRowMajor(bytes, block);
  Json described = {{"host_shareable", shareable}, {"row_major", row_major}};
  // What cannot be shared with a host has no uniform form to be judged.
  if (!shareable || row_major) {
    return described;
  }
  // Every reason is told, so that a case shows which of them has gone.
  Json reasons = Json::array();
  for (const WgslIssue& issue : UniformIssues(bytes, block, Rules::kStd430)) {
    reasons.push_back(fmt::format("{}: {}", issue.path, issue.reason));
  }
  described["uniform_ok"] = reasons.empty();
  described["uniform_why"] = std::move(reasons);
  return described;
}

}  // namespace

Result<Json> AnswerLayout(const Json& item) {
  Types types;
  CaseTypes written(types);
  if (Has(item, "structs")) {
    KILN_TRY_VOID(written.ReadStructs(item["structs"]));
  }
  KILN_TRY(const Json* fields, PartOf(item, "fields"));
  KILN_TRY_VOID(CheckFields(*fields));
  KILN_TRY(const TypeId block, written.Struct("block", *fields));
  ByteLayouts bytes(types);
  // Constant buffers cannot be unsized, thus there is no answer for them.
  const bool unsized = HasRuntimeArray(types, block);
  Json expect = Json::object();
  for (const Rules rules : kCaseRules) {
    if (rules != Rules::kD3dCbuffer || !unsized) {
      expect[std::string(TraitsOf(rules).name)] = DescribeBlock(bytes, block, rules);
    }
  }
  expect["wgsl"] = DescribeWgsl(bytes, block);
  return expect;
}

}  // namespace kiln::layout
