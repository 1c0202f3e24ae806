// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/repeated.h"

#include <algorithm>
#include <string>

#include "compiler/ir/text/attribute_text.h"

namespace kiln::resolve {
namespace {

bool IsLive(const Program& program, ir::DeclId id, VariantEvaluator& answers,
            std::vector<Diagnostic>& diagnostics) {
  const uint32_t m = program.ModuleOf(id);
  const ir::Decl& decl = program.Get(id);
  return decl.condition == ir::kTrue ||
         answers
             .CheckCondition(program.Wide(m, decl.condition),
                             program.At(m, program.SpansOf(id).condition), {}, diagnostics)
             .value_or(false);
}

bool AreEqual(std::span<const ir::Attribute> a, std::span<const ir::Attribute> b) {
  return std::ranges::equal(a, b, [](const ir::Attribute& x, const ir::Attribute& y) {
    return x.key == y.key && x.a == y.a && x.b == y.b;
  });
}

// "binding(3, 1)", or "none".
std::string PlaceText(const ir::SpecialisedDecl& decl, const ir::Pool& pool) {
  std::string text;
  for (const ir::Attribute& attribute : decl.attributes) {
    text += text.empty() ? "" : " ";
    text += ir::AttributeText(attribute, [&](uint32_t id) {
      return "\"" + std::string(pool.Text(ir::StringId{id})) + "\"";
    });
  }
  return text.empty() ? "none" : text;
}

}  // namespace

// Modules that are linked may declare the same resource; they must agree about it, as there is one
// of it in the interface.
void CheckRepeated(const Program& program, ir::DeclId repeated, VariantEvaluator& answers,
                   std::vector<Diagnostic>& diagnostics) {
  const ir::DeclId first = program.FirstOf(repeated);
  // What is not there in this variant cannot disagree.
  if (!IsLive(program, repeated, answers, diagnostics)) {
    return;
  }
  const ir::SpecialisedDecl* own = answers.Decl(repeated);
  const ir::SpecialisedDecl* other = answers.Decl(first);
  // A declaration that failed has its own message, and comparing it would add a second one.
  if (own == nullptr || other == nullptr) {
    return;  // said with the declaration
  }
  const std::string_view name = program.Text(program.NameOf(repeated));
  Diagnostic found;
  // Kind, flags and type are the declaration itself; attributes only say where it is bound, which
  // is another error.
  if (own->kind != other->kind || own->flags != other->flags || own->type != other->type ||
      !IsLive(program, first, answers, diagnostics)) {
    found =
        Make(Code::kLay2003, program.NameLocation(repeated)).With("name", name).With("path", name);
  } else if (!AreEqual(own->attributes, other->attributes)) {
    found = Make(Code::kLay2002, program.NameLocation(repeated))
                .With("name", name)
                .With("place", PlaceText(*own, answers.pool()))
                .With("other_place", PlaceText(*other, answers.pool()));
  } else {
    return;
  }
  // A diagnostic makes the answer not fixed, or the next variant would be silent.
  answers.NoteEffect();
  diagnostics.push_back(std::move(found).Label(LabelKind::kFirstHere, program.NameLocation(first)));
}

}  // namespace kiln::resolve
