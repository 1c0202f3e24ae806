// SPDX-License-Identifier: MIT
// `position` is two built-ins: what a vertex stage writes and what a fragment stage reads. A struct
// may be used for both, and then its member has a system value that is each where it is meant.
#include "compiler/front/wgsl/lower/interface.h"

#include "compiler/front/wgsl/sema/builtin_value.h"

namespace kiln::wgsl::front {

// Names of built-ins are those of the IR's table, without a prefix.
void AddBuiltin(LowerContext& context, std::string_view name, uint32_t member) {
  context.builder.Add(ir::Attribute{.of_member = 1,
                                    .key = ir::AttributeKey::kBuiltin,
                                    .owner = member,
                                    .a = context.builder.Text(name).value});
}

// kNoRow values are attributes that are not written. Members and parameters are `of_member`,
// results and resources are declarations.
void AddInterface(LowerContext& context, uint32_t row, bool of_member, uint32_t owner) {
  if (row == kNoRow) {
    return;
  }
  const Attributes& found = context.unit.attributes[row];
  const ir::Builder::AttributeOwner to{.is_member = of_member, .row = owner};
  if (found.builtin == "position") {
    context.builder.AddIfSaid(to, ir::AttributeKey::kSemantic,
                              context.builder.Text("SV_Position").value);
  } else if (!found.builtin.empty()) {
    context.builder.AddIfSaid(
        to, ir::AttributeKey::kBuiltin,
        context.builder.Text(FindBuiltinValue(found.builtin)->variable).value);
  }
  if (!of_member && found.group != kNoRow) {
    context.builder.AddIfSaid(to, ir::AttributeKey::kBinding, found.binding, found.group);
  }
  context.builder.AddIfSaid(to, ir::AttributeKey::kLocation, found.location);
  context.builder.AddIfSaid(to, ir::AttributeKey::kIndex, found.blend_src == 1 ? 1 : kNoRow);
  context.builder.AddIfSaid(to, ir::AttributeKey::kInterpolation, found.interpolation);
}

}  // namespace kiln::wgsl::front
