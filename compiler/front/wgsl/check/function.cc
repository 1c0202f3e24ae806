// SPDX-License-Identifier: MIT
// A function: its head, its parameters in a scope, its body. The row in the unit is made first,
// since the body adds to it whatever it calls and mentions; entry points and aliases are judged
// by these lists, so they must hold every mention. A function is declared only behind its body:
// it cannot call itself.
#include "compiler/front/wgsl/check/function.h"

#include <optional>
#include <string>

#include "compiler/front/wgsl/check/attribute.h"
#include "compiler/front/wgsl/check/declaration.h"
#include "compiler/front/wgsl/check/entry_point.h"
#include "compiler/front/wgsl/check/expressions/expression.h"
#include "compiler/front/wgsl/check/expressions/override_form.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/check/statement.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl::front {
namespace {

constexpr size_t kMostParameters = 255;  // as the language has it

// Checks one function. Nothing of it is undone after an error: the row stays, and its name is
// declared as failed.
class Functions {
 public:
  Functions(CheckContext& context, const syntax::Decl& decl) : context_(context), decl_(decl) {}

  // A function is declared behind its body, so a body cannot mention it; recursion was a cycle
  // before, in check/order. The row is in the unit from the beginning, since the body adds
  // calls and mentions to it.
  void Check() {
    FunctionRow row{.name = context_.Text(decl_.token), .at = {decl_.token, decl_.token + 1}};
    context_.function = FunctionId{static_cast<uint32_t>(context_.unit.functions.size())};
    context_.unit.functions.push_back(row);
    // The body is checked even if the head is wrong: errors in both are of use.
    const bool head = Head();
    context_.scopes.Open();
    const bool parameters = Parameters();
    const CheckedBody body = CheckBody(context_, decl_.body);
    context_.scopes.Close();
    FunctionRow& made = context_.Function();
    made.body = body.body;
    // WGSL, "Behavior Analysis": a body whose end can be reached gives no value.
    const bool falls = (body.ways & static_cast<uint8_t>(Way::kNext)) != 0;
    if (head && falls && made.result != context_.types().Void()) {
      context_.Say(context_.At(Code::kWgsl2007, decl_.token).With("name", made.name));
    }
    if (head && parameters && made.stage != kNoRow) {
      CheckEntryPoint(context_, context_.function);
    }
    const FunctionId id = context_.function;
    context_.function = FunctionId{};
    if (head && parameters) {
      Declare(context_, decl_.token,
              {.kind = ExprKind::kFunction, .a = id.value, .at = context_.unit[id].at});
    } else {
      DeclareFailed(context_, decl_.token);
    }
  }

 private:
  // Stage, attributes and result. False after an error in the type of the result.
  bool Head() {
    Stage();
    FunctionRow& row = context_.Function();
    row.result = context_.types().Void();
    AllowAttributes(context_, decl_.result_attributes,
                    {"builtin", "location", "interpolate", "invariant", "blend_src"}, "a result");
    if (!decl_.type.valid()) {
      return true;
    }
    const TypeId result = CheckType(context_, decl_.type);
    if (result == context_.types().Failed()) {
      return false;
    }
    if (!context_.types().IsConstructible(result)) {
      context_.Mismatch(context_.ast[decl_.type].at, "type of values",
                        context_.types().Text(result));
      return false;
    }
    context_.Function().result = result;
    context_.Function().result_attributes = CheckInterface(context_, decl_.result_attributes);
    return true;
  }

  // At most one of three attributes. @workgroup_size belongs to compute and must be there.
  void Stage() {
    AllowAttributes(context_, decl_.attributes,
                    {"vertex", "fragment", "compute", "workgroup_size", "must_use"}, "a function");
    const auto find = [&](std::string_view name) {
      return FindAttribute(context_, decl_.attributes, name);
    };
    constexpr std::string_view kStages[] = {"vertex", "fragment", "compute"};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; ++i) {
      if (find(kStages[i]) != nullptr) {
        context_.Function().stage = i;
        ++count;
      }
    }
    if (count > 1) {
      context_.Forbid(context_.Function().at, "an entry point has one stage");
    }
    context_.Function().must_use = find("must_use") != nullptr;
    if (context_.Function().must_use && !decl_.type.valid()) {
      context_.Forbid(find("must_use")->at, "the function gives nothing");
    }
    const syntax::Attribute* size = find("workgroup_size");
    const bool compute = context_.Function().stage == static_cast<uint32_t>(ir::Stage::kCompute);
    if (size != nullptr && !compute) {
      context_.Say(context_.At(Code::kWgsl1004, size->token)
                       .With("name", "workgroup_size")
                       .With("where", "what is no compute entry point"));
    } else if (size != nullptr) {
      WorkgroupSize(*size);
    } else if (compute) {
      context_.Forbid(context_.Function().at, "a compute entry point has a @workgroup_size");
    }
  }

  // Sizes may depend on overrides, so a value that is not known yet is judged by the variant.
  // One that is known must be above zero.
  void WorkgroupSize(const syntax::Attribute& size) {
    const std::span<const uint32_t> arguments = context_.ast.List(size.arguments);
    if (arguments.empty() || arguments.size() > 3) {
      return context_.Forbid(size.at, "it takes one to three numbers");
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ExprId value =
          Concrete(context_, CheckExpression(context_, syntax::ExprId{arguments[i]}));
      if (context_.IsFailed(value)) {
        return;
      }
      const Expr& expr = context_.Get(value);
      const Type& type = context_.TypeRowOf(value);
      if (type.kind != TypeKind::kScalar || !IsInteger(type.scalar)) {
        return context_.Mismatch(expr.at, "i32 or u32", context_.TypeText(value));
      }
      if (expr.rate == Rate::kRun) {
        return context_.Say(
            context_.At(Code::kWgsl3003, expr.at).With("stage", "known with overrides"));
      }
      if (!IsCexpr(context_.unit, value)) {
        return context_.Refuse(expr.at, "sizes of workgroups have no such values yet");
      }
      if (const std::optional<int64_t> number = WholeOf(context_, value);
          number.has_value() && *number <= 0) {
        return context_.Forbid(expr.at, "the size of a workgroup is 1 or more");
      }
      context_.Function().workgroup[i] = value;
    }
  }

  // Parameters are in the scope that Check opened. A wrong one is declared as failed, so that
  // the body says nothing about it.
  bool Parameters() {
    bool right = true;
    if (context_.ast.List(decl_.members).size() > kMostParameters) {
      context_.Say(context_.At(Code::kWgsl1007, decl_.token)
                       .With("what", "parameters of a function")
                       .With("limit", kMostParameters));
      return false;
    }
    for (const uint32_t id : context_.ast.List(decl_.members)) {
      const syntax::Variable& written = context_.ast.variables[id];
      AllowAttributes(context_, written.attributes,
                      {"builtin", "location", "interpolate", "invariant"}, "a parameter");
      const TypeId type = CheckType(context_, written.type);
      if (type == context_.types().Failed() || !Allowed(written, type)) {
        right = false;
        DeclareFailed(context_, written.token);
        continue;
      }
      const LocalId local =
          context_.Add(Local{.name = context_.Text(written.token),
                             .kind = LocalKind::kParameter,
                             .type = type,
                             .at = {written.token, written.token + 1},
                             .attributes = CheckInterface(context_, written.attributes)});
      context_.Function().parameters.push_back(local);
      const Meaning meaning{.value = {.kind = ExprKind::kLocal,
                                      .type = type,
                                      .a = local.value,
                                      .at = context_.unit[local].at},
                            .token = written.token};
      // A second parameter of a name: the first keeps it.
      if (!context_.scopes.Declare(context_.Text(written.token), meaning)) {
        context_.Say(
            context_.At(Code::kWgsl2003, written.token).With("name", context_.Text(written.token)));
      }
    }
    return right;
  }

  // WGSL, "Function Restrictions": values, pointers, textures and samplers.
  bool Allowed(const syntax::Variable& written, TypeId type) {
    const Type& row = context_.types()[type];
    const bool fits = context_.types().IsConstructible(type) || row.kind == TypeKind::kPointer ||
                      row.kind == TypeKind::kTexture || row.kind == TypeKind::kSampler;
    if (!fits) {
      context_.Mismatch(written.at, "type of a parameter", context_.types().Text(type));
    }
    return fits;
  }

  CheckContext& context_;
  const syntax::Decl& decl_;
};

}  // namespace

// The functions that it calls are checked already, as check/order sorts declarations.
void CheckFunction(CheckContext& context, const syntax::Decl& decl) {
  Functions(context, decl).Check();
}

}  // namespace kiln::wgsl::front
