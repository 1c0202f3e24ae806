// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/constant_values.h"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_type.h"
#include "compiler/resolve/values/expression_reports.h"
#include "compiler/resolve/values/half.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {
namespace {

// Reads one constant: a constructor is read part by part from its leaves, which are scalar
// expressions, and interned when all of its parts are; equal constants are one row of the pool.
// A type is bound where it is written, so parts are compared by id. Constructors nest as
// expressions do, at most 256 deep.
class CompositeReader {
 public:
  CompositeReader(VariantEvaluator& answers, ir::DeclId constant,
                  std::vector<Diagnostic>* diagnostics)
      : answers_(answers),
        program_(answers.program()),
        pool_(answers.pool()),
        constant_(constant),
        name_(answers.program().Text(answers.program().NameOf(constant))),
        run_(RunOf(answers.program(),
                   answers.program().At(answers.program().ModuleOf(constant),
                                        answers.program().SpansOf(constant).value))),
        diagnostics_(diagnostics) {}

  // Called once to get the value, without diagnostics, and once more to explain what is wrong with
  // it. Both ways are one, so the explanation cannot differ from the answer.
  ir::ConstId Run() {
    const uint32_t m = program_.ModuleOf(constant_);
    const ir::Decl& decl = program_.Get(constant_);
    const ir::TypeId type = Close(m, decl.type, program_.SpansOf(constant_).type, TypeUse::kLocal);
    if (type.valid() && HoldsStruct(type)) {
      Report(Make(Code::kRpl4011, program_.At(m, program_.SpansOf(constant_).type))
                 .With("kind", "constant")
                 .With("name", name_)
                 .With("type", Text(type)));
      return {};
    }
    // The type is kept for messages about parts, which name what the constant should be.
    declared_ = type;
    const ir::ConstId value =
        type.valid() ? Read(program_.Wide(m, ir::CexprId{decl.body}), 0) : ir::ConstId{};
    if (!value.valid() || !type.valid()) {
      return {};
    }
    // The type is written, so another one is an error and never converted.
    if (pool_[value].type != type) {
      Report(Make(Code::kRpl8110, run_.At(0))
                 .With("name", name_)
                 .With("type", Text(type))
                 .With("found", Text(pool_[value].type)));
      return {};
    }
    return value;
  }

 private:
  void Report(Diagnostic made) {
    if (diagnostics_ != nullptr) {
      diagnostics_->push_back(std::move(made));
    }
  }

  // Arrays of structs count as well.
  bool HoldsStruct(ir::TypeId type) const {
    while (pool_[type].kind == ir::TypeKind::kArray) {
      type = ir::TypeId{pool_[type].element};
    }
    return pool_[type].kind == ir::TypeKind::kStruct;
  }

  std::string Text(ir::TypeId type) const { return BooleanText(pool_, type); }

  // The diagnostics go through Report, so that they vanish when only the value is asked for.
  ir::TypeId Close(uint32_t module, ir::TypeId type, ir::SpanId spans, TypeUse use) {
    std::vector<Diagnostic> found;
    const ir::TypeId specialised =
        SpecialiseType({.module = module, .type = type, .spans = spans, .owner = name_, .use = use},
                       answers_, found);
    for (Diagnostic& diagnostic : found) {
      Report(std::move(diagnostic));
    }
    return specialised;
  }

  // `node` is the place of the row in the run of spans.
  ir::ConstId Read(ir::CexprId id, uint32_t node) {
    // Both names and literals are leaves here: only constructors have parts.
    const ir::Cexpr& row = program_.Row(id);
    if (row.op != ir::CexprOp::kComposite) {
      return ReadScalar(id, node);
    }
    const uint32_t m = program_.ModuleOf(id);
    const ir::TypeId type = Close(m, ir::TypeId{row.a}, {}, TypeUse::kConstructor);
    std::vector<ir::ConstId> parts;
    // For messages about a single part.
    std::vector<uint32_t> nodes;
    bool good = type.valid();
    uint32_t next = node + 1;
    // Spans of an expression are laid out in pre-order, hence the span of a part lies behind those
    // of all parts before it.
    for (const uint32_t item : program_.module(m).List(ir::ListId{row.b})) {
      const ir::CexprId part = program_.Wide(m, ir::CexprId{item});
      nodes.push_back(next);
      parts.push_back(Read(part, next));
      good = good && parts.back().valid();
      next += program_.TreeSize(part);
    }
    if (good && parts.empty()) {
      Report(Make(Code::kRpl6057, run_.At(node)).With("type", Text(type)));
    }
    return good && !parts.empty() ? Combine(type, parts, nodes, node) : ir::ConstId{};
  }

  ir::ConstId ReadScalar(ir::CexprId id, uint32_t node) {
    // The spans of a part begin `node` places behind those of the whole.
    SpanRun run = run_;
    // Without spans nothing has a place, and then no part has one either.
    run.first = run.first.valid() ? ir::SpanId{run.first.value + node} : run.first;
    // A composite constant sees only the constants before it.
    const Value value = answers_.values().ValueBefore(constant_, id, run, diagnostics_);
    switch (value.kind) {
      case ir::ValueKind::kFlag:
        return pool_.InternScalar(pool_.bool_type(), value.bits);
      case ir::ValueKind::kUint:
        return pool_.InternScalar(pool_.Vector(ir::Scalar::kU32, 1), value.bits);
      case ir::ValueKind::kSint:
        return pool_.InternScalar(pool_.Vector(ir::Scalar::kS32, 1), value.bits);
      case ir::ValueKind::kFloat:
        return pool_.InternScalar(pool_.Vector(ir::Scalar::kF32, 1), value.bits);
      // Strings are values of compile-time expressions but have no constant.
      case ir::ValueKind::kString:
        Report(Make(Code::kRpl8110, run_.At(node))
                   .With("name", name_)
                   .With("type", "scalar")
                   .With("found", "string"));
        return {};
      case ir::ValueKind::kFailed:
        return {};
    }
    return {};
  }

  ir::ConstId Combine(ir::TypeId type, const std::vector<ir::ConstId>& parts,
                      const std::vector<uint32_t>& nodes, uint32_t node) {
    // A constructor around one value of its own type is that value.
    if (parts.size() == 1 && pool_[parts[0]].type == type) {
      return parts[0];
    }
    const ir::Type target = pool_[type];
    if (target.kind == ir::TypeKind::kVector) {
      return CombineVector(type, parts, nodes, node);
    }
    if (target.kind == ir::TypeKind::kStruct) {
      Report(Make(Code::kRpl8110, run_.At(node))
                 .With("name", name_)
                 .With("type", Text(declared_))
                 .With("found", Text(type)));
      return {};
    }
    // Matrices are made of columns and arrays of items, both of one type for all parts.
    const bool matrix = target.kind == ir::TypeKind::kMatrix;
    const ir::TypeId part =
        matrix ? pool_.Vector(target.scalar, target.rows) : ir::TypeId{target.element};
    for (size_t i = 0; i < parts.size(); ++i) {
      if (pool_[parts[i]].type != part) {
        Report(Make(Code::kRpl6053, run_.At(nodes[i]))
                   .With("index", i + 1)
                   .With("type", Text(type))
                   .With("found", Text(pool_[parts[i]].type))
                   .With("expected", Text(part)));
        return {};
      }
    }
    // The number is checked last, like components of vectors.
    const uint32_t count = matrix ? target.columns : target.extent;
    if (parts.size() != count) {
      return WrongCount(type, count, matrix ? "columns" : "items", parts.size(), node);
    }
    return pool_.InternComposite(type, parts);
  }

  ir::ConstId CombineVector(ir::TypeId type, const std::vector<ir::ConstId>& parts,
                            const std::vector<uint32_t>& nodes, uint32_t node) {
    const ir::Type target = pool_[type];
    const ir::Const only = pool_[parts[0]];
    // The one conversion in a constant: a half has no literal of its own.
    const bool folds = parts.size() == 1 && target.rows == 1 && target.scalar == ir::Scalar::kF16 &&
                       only.type == pool_.Vector(ir::Scalar::kF32, 1);
    if (folds) {
      return pool_.InternScalar(type, HalfBits(std::bit_cast<float>(only.a)));
    }
    std::vector<ir::ConstId> items;
    for (size_t i = 0; i < parts.size(); ++i) {
      const ir::Type& part = pool_[pool_[parts[i]].type];
      if (part.kind != ir::TypeKind::kVector || part.scalar != target.scalar) {
        Report(Make(Code::kRpl6050, run_.At(nodes[i]))
                   .With("index", i + 1)
                   .With("type", Text(type))
                   .With("found", Text(pool_[parts[i]].type)));
        return {};
      }
      // Vectors in a constructor of a vector give their components one by one.
      if (part.rows == 1) {
        items.push_back(parts[i]);
      } else {
        const std::span<const ir::ConstId> inner = pool_.Parts(parts[i]);
        items.insert(items.end(), inner.begin(), inner.end());
      }
    }
    // One scalar fills the whole vector.
    if (items.size() == 1) {
      items.resize(target.rows, items[0]);
    }
    if (items.size() != target.rows) {
      return WrongCount(type, target.rows, "components", items.size(), node);
    }
    return pool_.InternComposite(type, items);
  }

  ir::ConstId WrongCount(ir::TypeId type, uint32_t expected, std::string_view parts, size_t found,
                         uint32_t node) {
    Report(Make(Code::kRpl6051, run_.At(node))
               .With("type", Text(type))
               .With("expected", expected)
               .With("parts", parts)
               .With("found", found));
    return {};
  }

  VariantEvaluator& answers_;
  const Program& program_;
  ir::Pool& pool_;
  const ir::DeclId constant_;
  const std::string_view name_;
  const SpanRun run_;
  std::vector<Diagnostic>* diagnostics_;
  ir::TypeId declared_;
};

// A typed constant of scalar type is an ordinary constant, if the value is of that type.
void CheckWrittenType(VariantEvaluator& answers, ir::DeclId constant, const Value& value,
                      std::vector<Diagnostic>& diagnostics) {
  const Program& program = answers.program();
  const ir::Decl& decl = program.Get(constant);
  // Earlier versions of the language have no types on constants.
  if (!decl.type.valid() || value.failed() ||
      program.module(program.ModuleOf(constant)).header.version < 2) {
    return;
  }
  const uint32_t m = program.ModuleOf(constant);
  // Most constants have exactly the type that is written, and this is found without specialising
  // the type.
  const ir::Type& written = program.module(m).types[decl.type.value];
  const ir::Scalar scalar = value.kind == ir::ValueKind::kFlag    ? ir::Scalar::kBool
                            : value.kind == ir::ValueKind::kUint  ? ir::Scalar::kU32
                            : value.kind == ir::ValueKind::kSint  ? ir::Scalar::kS32
                            : value.kind == ir::ValueKind::kFloat ? ir::Scalar::kF32
                                                                  : ir::Scalar::kNone;
  if (written == ir::VectorType(scalar, 1)) {
    return;
  }
  const ir::DeclSpans spans = program.SpansOf(constant);
  const ir::TypeId type = SpecialiseType({.module = m,
                                          .type = decl.type,
                                          .spans = spans.type,
                                          .owner = program.Text(program.NameOf(constant)),
                                          .use = TypeUse::kLocal},
                                         answers, diagnostics);
  if (type.valid()) {
    diagnostics.push_back(Make(Code::kRpl8110, program.At(m, spans.value))
                              .With("name", program.Text(program.NameOf(constant)))
                              .With("type", ir::TypeText(answers.pool(), type))
                              .With("found", KindText(value.kind)));
  }
}

}  // namespace

ir::ConstId ReadComposite(VariantEvaluator& answers, ir::DeclId constant,
                          std::vector<Diagnostic>* diagnostics) {
  return CompositeReader(answers, constant, diagnostics).Run();
}

void ReportConstant(VariantEvaluator& answers, ir::DeclId constant, const ConstantState& state,
                    std::vector<Diagnostic>& diagnostics) {
  const Program& program = answers.program();
  const uint32_t m = program.ModuleOf(constant);
  const ir::Decl& decl = program.Get(constant);
  const ir::DeclSpans spans = program.SpansOf(constant);
  // Names are looked up as the constant sees them: only what is declared before it.
  ValueScope scope(answers.values(), constant);
  // An expression is evaluated again only if it failed or may have something to remark; nearly none
  // does.
  const auto explain = [&](ir::CexprId root, ir::SpanId first, bool failed) -> Value {
    if (!failed && !program.MayRemark(root)) {
      return {};
    }
    return Explain(scope, root, RunOf(program, program.At(m, first)), diagnostics);
  };
  const bool failed = state.kind == ConstantState::Kind::kFailed;
  const Value condition = explain(program.Wide(m, decl.condition), spans.condition, failed);
  // A failed condition without a reason of its own has a value that is no flag.
  if (failed && !condition.failed()) {
    diagnostics.push_back(NoCondition(program.At(m, spans.condition), condition.kind));
  }
  if (state.kind == ConstantState::Kind::kActive && state.composite) {
    ReadComposite(answers, constant, &diagnostics);
  } else if (state.kind == ConstantState::Kind::kActive) {
    explain(program.Wide(m, ir::CexprId{decl.body}), spans.value, state.value.failed());
    CheckWrittenType(answers, constant, state.value, diagnostics);
  }
}

}  // namespace kiln::resolve
