// SPDX-License-Identifier: MIT
// Sources are evaluated once, in order. Their leaves are taken one after another; a part that is a
// whole source, or a vector that is whole in it, is taken as it is, so `float4 (v.xyz, 1)` is one
// instruction.
#include "compiler/front/hlsl/lower/build.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/value.h"

namespace kiln::hlsl {
namespace {

// `next_` is the source whose leaves are taken now, `leaf_` how many of them are gone.
// Requires: as many leaves as the type has, which was checked.
class Builder {
 public:
  Builder(LowerContext& context, const Expr& expr) : context_(context) {
    for (const uint32_t source : context.unit.List(ListId{expr.a})) {
      sources_.push_back({ValueOf(context, ExprId{source}), context.Get(ExprId{source}).type});
    }
    context.at = expr.at;
  }

  // Recursion is as deep as types nest. A source that is the part itself is taken whole.
  ir::InstId Make(TypeId type) {
    CheckStop();
    SkipEmpty();
    if (next_ < sources_.size() && leaf_ == 0 &&
        TypeOf(context_, sources_[next_].type) == TypeOf(context_, type) &&
        context_.TypeRow(sources_[next_].type).kind != TypeKind::kEnum) {
      return sources_[next_++].value;
    }
    const Type row = context_.TypeRow(type);
    if (row.kind == TypeKind::kEnum) {
      return TakeScalar(row.item);
    }
    if (row.kind == TypeKind::kNumeric) {
      return Number(row, type);
    }
    std::vector<ir::InstId> parts;
    if (row.kind == TypeKind::kArray) {
      ChargeMemory(row.extent * sizeof(ir::InstId));
      for (uint32_t i = 0; i < row.extent; ++i) {
        parts.push_back(Make(context_.unit.types.ElementOf(type)));
      }
    } else {
      for (uint32_t i = 0; i < context_.unit.types.StructOf(type).count; ++i) {
        parts.push_back(Make(context_.unit.types.MemberOf(type, i).type));
      }
    }
    // A struct of nothing: its value is that of memory nobody wrote.
    if (parts.empty()) {
      return context_.Emit(ir::LoadInst{TypeOf(context_, type),
                                        context_.Emit(ir::TempInst{TypeOf(context_, type)})});
    }
    return context_.Emit(ir::ConstructInst{TypeOf(context_, type), context_.builder.Ids(parts)});
  }

 private:
  // What is given, lowered once, and its type as HLSL has it.
  struct Source {
    ir::InstId value;
    TypeId type;
  };

  // Empty structs have no leaves to give.
  void SkipEmpty() {
    while (next_ < sources_.size() && context_.unit.types.LeavesOf(sources_[next_].type) == 0) {
      ++next_;
    }
  }

  // Rows of a matrix are vectors of the IR (spec/hlsl 6.3).
  ir::InstId Number(const Type& row, TypeId type) {
    if (ValueForm(row) != Form::kMatrix) {
      return Vector(row.item, CountOf(row));
    }
    std::vector<ir::InstId> rows;
    for (uint32_t i = 0; i < row.rows; ++i) {
      rows.push_back(Vector(row.item, row.columns));
    }
    return context_.Emit(ir::ConstructInst{TypeOf(context_, type), context_.builder.Ids(rows)});
  }

  // A vector that begins here and fits is one part of the instruction, so it is not taken
  // apart.
  ir::InstId Vector(Item item, uint32_t count) {
    if (count == 1) {
      return TakeScalar(item);
    }
    std::vector<ir::InstId> parts;
    for (uint32_t filled = 0; filled < count;) {
      SkipEmpty();
      KILN_CHECK(next_ < sources_.size(), "leaves are counted before");
      const Type source = context_.TypeRow(sources_[next_].type);
      const bool vector = source.kind == TypeKind::kNumeric && ValueForm(source) == Form::kVector &&
                          leaf_ == 0 && filled + CountOf(source) <= count;
      if (vector) {
        parts.push_back(
            ConvertItems(context_, sources_[next_++].value, source.item, item, CountOf(source)));
        filled += CountOf(source);
      } else {
        parts.push_back(TakeScalar(item));
        ++filled;
      }
    }
    return parts.size() == 1
               ? parts[0]
               : context_.Emit(ir::ConstructInst{context_.Vector(FactsOf(item).scalar, count),
                                                 context_.builder.Ids(parts)});
  }

  // The next leaf of all sources, whatever it lies in.
  ir::InstId TakeScalar(Item item) {
    SkipEmpty();
    KILN_CHECK(next_ < sources_.size(), "leaves are counted before");
    const Source source = sources_[next_];
    Item given = Item::kInt;
    const ir::InstId value = Leaf(source, leaf_, given);
    if (++leaf_ == context_.unit.types.LeavesOf(source.type)) {
      leaf_ = 0;
      ++next_;
    }
    return ConvertItems(context_, value, given, item, 1);
  }

  // Scalar number `leaf` of a value.
  // From the whole down to the leaf, by how many leaves each part has.
  ir::InstId Leaf(Source source, uint64_t leaf, Item& item) {
    while (true) {
      const Type row = context_.TypeRow(source.type);
      if (row.kind == TypeKind::kEnum) {
        item = row.item;
        return source.value;
      }
      if (row.kind == TypeKind::kNumeric) {
        item = row.item;
        return Component(row, source.value, static_cast<uint32_t>(leaf));
      }
      uint32_t index = 0;
      TypeId part;
      if (row.kind == TypeKind::kArray) {
        part = context_.unit.types.ElementOf(source.type);
        const uint64_t each = context_.unit.types.LeavesOf(part);
        index = static_cast<uint32_t>(leaf / each);
        leaf %= each;
      } else {
        part = context_.unit.types.MemberOf(source.type, 0).type;
        while (leaf >= context_.unit.types.LeavesOf(part)) {
          leaf -= context_.unit.types.LeavesOf(part);
          part = context_.unit.types.MemberOf(source.type, ++index).type;
        }
      }
      source = {ExtractPart(context_, source.value, TypeOf(context_, part), index), part};
    }
  }

  // Leaf number k of a matrix is in row k / columns.
  ir::InstId Component(const Type& row, ir::InstId value, uint32_t leaf) {
    const ir::TypeId scalar = context_.Vector(ScalarOf(row), 1);
    switch (ValueForm(row)) {
      case Form::kScalar:
        return value;
      case Form::kVector:
        return ExtractPart(context_, value, scalar, leaf);
      case Form::kMatrix:
        break;
    }
    const ir::InstId line = ExtractPart(
        context_, value, context_.Vector(ScalarOf(row), row.columns), leaf / row.columns);
    return ExtractPart(context_, line, scalar, leaf % row.columns);
  }

  LowerContext& context_;
  std::vector<Source> sources_;
  size_t next_ = 0;
  uint64_t leaf_ = 0;
};

}  // namespace

// All leaves of all sources are taken: the check has counted them.
ir::InstId BuildValue(LowerContext& context, const Expr& expr) {
  return Builder(context, expr).Make(expr.type);
}

}  // namespace kiln::hlsl
