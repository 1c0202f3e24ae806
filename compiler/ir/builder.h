// SPDX-License-Identifier: MIT
// The only writer of generic modules: rows in, one frozen image out. Front ends add declarations in
// source order and a function's instructions in the order in which they run; the builder interns
// text, types, constants, expressions and lists, and cuts functions into regions.
//
//   const DeclId f = b.BeginFunction({.kind = DeclKind::kFunction, .name = b.Text("main"),
//                                     .type = b.Void()}, {});
//   const LocalId x = b.AddParameter({.name = b.Text("x"), .type = b.Vector(Scalar::kF32, 1)}, {});
//   const InstId v = b.Add(NameRefInst{b.Deferred(), b.Text("x"), b.Ids({x})}, {});
//   b.Add(ReturnInst{b.Void(), v}, {});
//   b.EndFunction();
//
// A block is filled between BeginBlock and EndBlock, before the instruction that owns it is added
// to the block around it. Spans may be left invalid. Broken order is a bug of the front end and
// fails a check.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/string_pool.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/module.h"
#include "compiler/ir/region_cutter.h"

namespace kiln::ir {

struct ModuleFiles;

class Builder {
 public:
  explicit Builder(const ModuleHeader& header, CutPolicy policy = CutPolicy::kCut);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // The text of the source: the image remembers where its lines begin, for debuggers
  // (line_starts.h).
  void SetSource(std::string_view text);
  // The same for several files, of which `texts` are the contents, by row (module_files.h).
  void SetSources(const ModuleFiles& files, std::span<const std::string_view> texts);

  // Room for about so many instructions; saves copying while tables grow.
  void Reserve(size_t insts);

  // --- interned rows -----------------------------------------------------------------------------
  StringId Text(std::string_view text) { return strings_.Intern(text); }
  TypeId Intern(const Type& type);
  TypeId Void() { return Intern(VoidType()); }
  TypeId Deferred() { return Intern({.kind = TypeKind::kDeferred}); }
  TypeId Named(std::string_view name);
  TypeId Vector(Scalar scalar, uint8_t rows) { return Intern(VectorType(scalar, rows)); }
  TypeId Matrix(Scalar scalar, uint8_t columns, uint8_t rows) {
    return Intern(MatrixType(scalar, columns, rows));
  }
  TypeId Array(TypeId element, CexprId extent) { return Intern(ArrayType(element, extent.value)); }
  TypeId RuntimeArray(TypeId element);
  TypeId Sampler() { return Intern({.kind = TypeKind::kSampler}); }
  TypeId Image(Scalar sampled, const ImageTraits& traits);
  ConstId ScalarConst(TypeId type, uint64_t bits);
  ConstId CompositeConst(TypeId type, ListId parts);  // of ConstId
  CexprId Intern(const Cexpr& cexpr);
  CexprId Literal(ValueKind kind, uint32_t bits);  // flag, uint, sint, float
  CexprId Name(std::string_view name);
  ListId List(std::span<const uint32_t> words);
  // One that is equal to no other, because it holds ids made just now: not looked up.
  ListId NewList(std::span<const uint32_t> words);
  template <class IdT>
  ListId Ids(std::span<const IdT> ids);
  template <class IdT>
  ListId Ids(std::initializer_list<IdT> ids) {
    return Ids(std::span<const IdT>(ids.begin(), ids.size()));
  }
  template <class IdT>
  ListId Ids(const std::vector<IdT>& ids) {
    return Ids(std::span<const IdT>(ids));
  }

  // --- spans -------------------------------------------------------------------------------------
  SpanId AddSpan(Span span);
  SpanId AddRun(std::span<const Span> run);  // consecutive rows; the first. Invalid for no spans

  // --- declarations ------------------------------------------------------------------------------
  OptionId Add(const Option& option);
  // Everything but functions. Sets first_member and member_count.
  DeclId Add(Decl decl, const DeclSpans& spans, std::span<const Member> members = {},
             std::span<const MemberSpans> member_spans = {});

  // Of typed modules. Rows of one owner come in their order, owners in any.
  void Add(const Attribute& attribute) { attributes_.push_back(attribute); }
  // The same of a number that the source may not have said: nothing is added for kNoRow.
  struct AttributeOwner {
    bool is_member = false;
    uint32_t row = 0;
  };
  void AddIfSaid(AttributeOwner owner, AttributeKey key, uint32_t a, uint32_t b = 0);

  // --- functions ---------------------------------------------------------------------------------
  // Begins a function and its body block. `decl.type` is the return type.
  DeclId BeginFunction(Decl decl, const DeclSpans& spans);
  // Adds a member and a local for one parameter; in order, before any other local.
  LocalId AddParameter(Local parameter, const LocalSpans& spans);
  // Variables, aliases and loop exits, in source order.
  LocalId AddLocal(const Local& local, const LocalSpans& spans);
  BlockId BeginBlock();
  void EndBlock();
  // Whether it is nested at most kMaxNesting deep: for readers of rows, which have no limit of a
  // language that is met before. Requires: what it uses is there.
  bool MayNest(const Cexpr& cexpr) const { return NestingOf(cexpr) <= kMaxNesting; }
  bool MayNest(const Inst& inst) const { return NestingOf(inst) <= kMaxNesting; }
  // Appends to the innermost open block. The blocks it owns have ended. An alias gives its block to
  // its local.
  InstId AddInst(const Inst& inst, const InstSpans& spans);
  template <class View>
  InstId Add(const View& view, const InstSpans& spans) requires requires {
    View::kKind;
  }
  { return AddInst(view.To(), spans); }
  // `bits` in each of `count` items, as a constant vector or scalar of that type.
  InstId AddRepeated(Scalar scalar, uint32_t count, uint64_t bits, const InstSpans& spans);
  // Ends the body, decides which `when` become regions and adds their rows (docs/IR.md).
  void EndFunction();

  // Freezes everything into an image. The builder is empty afterwards and must not be used.
  Module Finish(const Hash128& fingerprint);

 private:
  void AddLineStarts(std::string_view text, uint32_t first);

  struct OpenBlock {
    BlockId block;
    uint32_t first = 0;  // of its instructions in open_insts_
    uint32_t first_inst = 0;
  };

  uint32_t NestingOf(const Cexpr& cexpr) const;
  uint32_t NestingOf(const Inst& inst) const;
  DeclId AddRow(Decl decl, const DeclSpans& spans);
  LocalId AddLocalRow(const Local& local, const LocalSpans& spans);
  uint32_t LowestOperandOf(const Inst& inst) const;
  std::span<const uint32_t> ListAt(ListId id) const;
  CutTables TablesToCut();

  ModuleHeader header_;
  CutPolicy policy_;

  std::vector<Type> types_;
  std::vector<Const> consts_;
  std::vector<Cexpr> cexprs_;
  std::vector<Option> options_;
  std::vector<Decl> decls_;
  std::vector<Member> members_;
  std::vector<Local> locals_;
  std::vector<Region> regions_;
  std::vector<Inst> insts_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> block_insts_;
  std::vector<uint32_t> extra_;
  std::vector<Attribute> attributes_;
  std::vector<Span> spans_;
  std::vector<DeclSpans> decl_spans_;
  std::vector<MemberSpans> member_spans_;
  std::vector<LocalSpans> local_spans_;
  std::vector<RegionSpans> region_spans_;
  std::vector<InstSpans> inst_spans_;
  std::vector<uint32_t> line_starts_;
  Bytes files_;

  StringPool<StringId> strings_;
  InternIndex type_index_;
  InternIndex const_index_;
  InternIndex cexpr_index_;
  InternIndex list_index_;

  std::vector<uint16_t> cexpr_nesting_;  // by cexpr, and so on
  std::vector<uint16_t> type_nesting_;
  std::vector<uint16_t> inst_nesting_;
  std::vector<uint16_t> block_nesting_;
  std::vector<bool> block_ends_path_;
  std::vector<bool> block_uses_outer_;    // a value of a block around it; of typed modules
  std::vector<uint32_t> lowest_operand_;  // by inst, its blocks included; of typed modules

  // The function that is being built.
  DeclId function_;
  uint32_t first_local_ = 0;
  std::vector<OpenBlock> open_blocks_;
  std::vector<uint32_t> open_insts_;  // of the open blocks, outermost first
};

template <class IdT>
ListId Builder::Ids(std::span<const IdT> ids) {
  std::vector<uint32_t> words;
  words.reserve(ids.size());
  for (const IdT id : ids) {
    words.push_back(id.value);
  }
  return List(words);
}

}  // namespace kiln::ir
