// SPDX-License-Identifier: MIT
// Options, compile-time expressions by row, then declarations in source order. A cut region prints
// in the place of the instruction that stands for it, so the text reads like the source. Names of
// locals count anew in each function: its second `x` is `x#2`.
#include "compiler/ir/text/print_generic.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/enum_names.h"
#include "compiler/ir/text/attribute_text.h"
#include "compiler/ir/text/print_block.h"
#include "compiler/ir/text/spelling.h"

namespace kiln::ir {
namespace {

// Locals by name within one function; everything else by its text or row.
class OpenNames final : public OperandNames {
 public:
  explicit OpenNames(const ModuleView& module) : module_(module) {}

  // Names of locals begin anew, so that a change in one function does not rename those of another.
  void EnterFunction() { locals_ = {}; }

  std::string Type(TypeId id) override {
    const ir::Type& type = module_.types[id.value];
    // The name is quoted, because nothing here knows whether it is the name of a leaf type.
    if (type.kind == TypeKind::kNamed) {
      return Quote(module_.Text(StringId{type.element}));
    }
    if (type.kind == TypeKind::kDeclared) {
      return Decl(DeclId{type.element});
    }
    if (type.kind == TypeKind::kRuntimeArray) {
      return Type(TypeId{type.element}) + "...";
    }
    if (type.kind != TypeKind::kArray) {
      return LeafText(type);
    }
    // Arrays nest from the outside in, and this is also the order in which extents are written, so
    // the walk only appends.
    std::string extents;
    TypeId item = id;
    for (; module_.types[item.value].kind == TypeKind::kArray;
         item = TypeId{module_.types[item.value].element}) {
      extents += fmt::format("[{}]", Cexpr(CexprId{module_.types[item.value].extent}));
    }
    return Type(item) + extents;
  }
  TypeId TypeOfConst(ConstId id) override { return module_.consts[id.value].type; }
  std::string Const(ConstId id) override {
    return Type(module_.consts[id.value].type) + " " + ConstValue(id);
  }
  std::string Text(StringId id) override { return Quote(module_.Text(id)); }
  // Names of typed modules tell declarations apart; in others nothing refers to one.
  std::string Decl(DeclId id) override {
    // Declarations with one name are usual in untyped modules: conditions decide between them.
    const std::string_view name = module_.Text(module_.decls[id.value].name);
    return "@" + (module_.header.typed != 0 ? decls_.Name(id.value, name) : NameText(name));
  }
  std::string Member(DeclId, MemberId id) override {
    return NameText(module_.Text(module_.members[id.value].name));
  }
  std::string Local(LocalId id) override {
    const StringId name = module_.locals[id.value].name;
    // An exit has no name in the source and gets one here, by which jumps refer to it.
    return "$" + locals_.Name(id.value, name.valid() ? module_.Text(name) : "exit");
  }
  std::string Cexpr(CexprId id) override { return fmt::format("?{}", id.value); }
  std::string Region(RegionId id) override { return Cexpr(module_.regions[id.value].condition); }
  BlockId BlockOf(RegionId id) override { return module_.regions[id.value].block; }

 private:
  // The type of a part does not follow from that of the whole, so parts are written with types.
  std::string ConstValue(ConstId id) {
    const ir::Const& row = module_.consts[id.value];
    if (row.composite == 0) {
      return ScalarText(module_.types[row.type.value].scalar, row.bits());
    }
    std::string text = "{";
    // Parts are constants of the same module, and none holds itself.
    for (const uint32_t part : module_.List(ListId{row.a})) {
      text += (text.size() == 1 ? "" : ", ") + Const(ConstId{part});
    }
    return text + "}";
  }

  const ModuleView& module_;
  NameTable locals_;
  NameTable decls_;
};

// Prints declarations and what belongs to them; instructions are BlockPrinter's. The parser of
// generic IR reads exactly this text, so every field of a row that is not at its default has to
// be written.
class OpenPrinter {
 public:
  explicit OpenPrinter(const ModuleView& module)
      : module_(module),
        names_(module),
        blocks_({.insts = module.insts,
                 .blocks = module.blocks,
                 .block_insts = module.block_insts,
                 .extra = module.extra},
                names_, out_) {}

  std::string Print() {
    PrintHeader();
    for (const Option& option : module_.options) {
      PrintOption(option);
    }
    // Row 0 is `true` in every module, and no condition is what the text writes for it.
    for (uint32_t i = 1; i < module_.cexprs.size(); ++i) {
      Add("cexpr ?{} = {}{}", i, NameOf(module_.cexprs[i].op),
          module_.cexprs[i].zero == kWrapping ? " wrapping" : "");
      PrintCexpr(module_.cexprs[i]);
      Add("\n");
    }
    for (const Decl& decl : module_.decls) {
      PrintDecl(decl);
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  // The condition `true` is not written: nearly everything has it.
  void AddCondition(CexprId condition) {
    if (condition != kTrue) {
      Add(" where {}", names_.Cexpr(condition));
    }
  }
  template <class Spell>
  void AddList(ListId list, std::string_view open, std::string_view close, Spell spell);

  void PrintHeader();
  void PrintAttributes(std::span<const Attribute> attributes);
  void PrintOption(const Option& option);
  void PrintCexpr(const Cexpr& cexpr);
  void PrintDecl(const Decl& decl);
  void PrintFlags(const Decl& decl);
  bool PrintOfEntry(const Decl& decl);
  void PrintMembers(const Decl& decl);
  void PrintFunction(DeclId id, const Decl& decl);
  void PrintLocal(LocalId id);

  const ModuleView& module_;
  OpenNames names_;
  std::string out_;
  BlockPrinter blocks_;
};

// How one word is spelled is the caller's affair.
template <class Spell>
void OpenPrinter::AddList(ListId list, std::string_view open, std::string_view close, Spell spell) {
  Add("{}", open);
  bool first = true;
  for (const uint32_t word : module_.List(list)) {
    Add("{}{}", first ? "" : ", ", spell(word));
    first = false;
  }
  Add("{}", close);
}

// Rules are written unless they are what the form of the module makes one expect.
void OpenPrinter::PrintHeader() {
  const ModuleHeader& header = module_.header;
  Add("module {} {}{}", NameOf(header.language), header.version, header.typed != 0 ? " typed" : "");
  if (header.rules != (header.typed != 0 ? 0 : kAllRules)) {
    Add(" rules [");
    bool first = true;
    for (uint32_t bit = 0; bit < kModuleRules; ++bit) {
      if (header.Has(static_cast<ModuleRule>(bit))) {
        Add("{}{}", first ? "" : ", ", NameOf(static_cast<ModuleRule>(bit)));
        first = false;
      }
    }
    Add("]");
  }
  Add("\n");
}

// Attributes stand behind what they belong to, in the order of their rows.
void OpenPrinter::PrintAttributes(std::span<const Attribute> attributes) {
  for (const Attribute& attribute : attributes) {
    Add(" {}",
        AttributeText(attribute, [this](uint32_t text) { return names_.Text(StringId{text}); }));
  }
}

void OpenPrinter::PrintOption(const Option& option) {
  Add("option {}{} {} : {} =", option.specialize != 0 ? "specialize " : "", NameOf(option.scope),
      NameText(module_.Text(option.name)), NameOf(option.kind));
  if (option.kind == OptionKind::kEnum) {
    AddList(option.values, " [", "]",
            [this](uint32_t text) { return names_.Text(StringId{text}); });
    // The first value is the default if nothing is said, so most options stay short.
    if (option.default_value != 0) {
      Add(" default {}", option.default_value);
    }
  } else {
    Add(" {}", ValueText(static_cast<ValueKind>(option.kind), option.default_value));
  }
  // The row has the number plus one, so that 0 is none.
  if (option.id_plus_one != 0) {
    Add(" id {}", option.id_plus_one - 1);
  }
  Add("\n");
}

// Operands are written as rows (`?3`) and never in full: the text is as long as the table and
// not as the trees in it, in which one row may occur many times.
void OpenPrinter::PrintCexpr(const Cexpr& cexpr) {
  const auto operand = [](uint32_t row) { return fmt::format("?{}", row); };
  const auto kind = static_cast<ValueKind>(cexpr.kind);
  switch (ShapeOf(cexpr.op)) {
    case CexprShape::kLiteral:
      return Add(
          " {} {}", NameOf(kind),
          kind == ValueKind::kString ? names_.Text(StringId{cexpr.a}) : ValueText(kind, cexpr.a));
    case CexprShape::kName:
      return Add(" {}", names_.Text(StringId{cexpr.a}));
    case CexprShape::kUnary:
      if (cexpr.op == CexprOp::kConvert) {
        Add(" {}", NameOf(kind));
      }
      return Add(" ?{}", cexpr.a);
    case CexprShape::kBinary:
      return Add(" ?{}, ?{}", cexpr.a, cexpr.b);
    case CexprShape::kSelect:
      Add(" ?{}", cexpr.a);
      return AddList(ListId{cexpr.b}, " [", "]", operand);
    case CexprShape::kComposite:
      AddList(ListId{cexpr.b}, " [", "] : ", operand);
      return Add("{}", names_.Type(TypeId{cexpr.a}));
    case CexprShape::kInvalid:
      return Add(" {} {} {}", NameOf(static_cast<InvalidCexpr>(cexpr.kind)),
                 names_.Text(StringId{cexpr.a}), cexpr.b);
  }
}

// What flags mean depends on the kind of the declaration.
void OpenPrinter::PrintFlags(const Decl& decl) {
  if (decl.kind == DeclKind::kContainer) {
    Add(" {}", NameOf(decl.container()));
  } else if (decl.kind == DeclKind::kBuffer) {
    Add(" {}", NameOf(decl.buffer()));
  } else if (decl.kind == DeclKind::kImage) {
    Add(" {}", NameOf(decl.access()));
  }
  if (decl.kind == DeclKind::kBuffer || decl.kind == DeclKind::kImage ||
      decl.kind == DeclKind::kSampler) {
    Add(" {}", NameOf(decl.set()));
  }
}

// "entry @main vertex", "setting @main \"cull_mode\" = ?7"
bool OpenPrinter::PrintOfEntry(const Decl& decl) {
  if (decl.kind == DeclKind::kEntry) {
    Add(" {} {}", names_.Decl(DeclId{decl.body}), NameOf(static_cast<Stage>(decl.flags)));
    AddCondition(decl.condition);
    Add("\n");
    return true;
  }
  if (module_.header.typed != 0 && decl.kind == DeclKind::kSetting) {
    Add(" {}{}", decl.aux != kNoRow ? names_.Decl(DeclId{decl.aux}) + " " : "",
        names_.Text(decl.name));
    if (decl.flags != 0) {
      Add(" block {}", decl.flags - 1);
    }
    Add(" = ?{}", decl.body);
    AddCondition(decl.condition);
    Add("\n");
    return true;
  }
  return false;
}

void OpenPrinter::PrintDecl(const Decl& decl) {
  Add("{}", NameOf(decl.kind));
  if (PrintOfEntry(decl)) {
    return;
  }
  PrintFlags(decl);
  // Declarations are rows of one array, so the id of a row is its place there.
  const DeclId id{static_cast<uint32_t>(&decl - module_.decls.data())};
  if (decl.kind == DeclKind::kFunction) {
    return PrintFunction(id, decl);
  }
  Add(" {}", names_.Decl(id));
  if (decl.type.valid()) {
    Add(" : {}", names_.Type(decl.type));
  }
  // The same word means the initialiser of a private variable and the block of any other
  // declaration; the parser tells them by the kind as well.
  if (decl.aux != kNoRow && decl.kind == DeclKind::kPrivate) {
    Add(" initialise {}", names_.Decl(DeclId{decl.aux}));
  } else if (decl.aux != kNoRow) {
    Add(" block {}", decl.aux);
  }
  if (decl.body != kNoRow) {
    Add(" = ?{}", decl.body);
  }
  PrintAttributes(module_.AttributesOf(id));
  AddCondition(decl.condition);
  if (decl.member_count != 0) {
    PrintMembers(decl);
  }
  Add("\n");
}

void OpenPrinter::PrintMembers(const Decl& decl) {
  Add(" {{\n");
  // Attributes are found by the number of the member, which counts along.
  MemberId id{decl.first_member};
  for (const Member& member : module_.MembersOf(decl)) {
    Add("  {}{}", member.kind == MemberKind::kAlias ? "alias " : "",
        NameText(module_.Text(member.name)));
    if (member.type.valid()) {
      Add(" : {}", names_.Type(member.type));
    }
    if (member.pack != PackClass::kDefault) {
      Add(" pack({}{})", NameOf(member.pack), member.pack_bits);
    }
    if (!module_.List(member.tags).empty()) {
      AddList(member.tags, " tags(", ")",
              [this](uint32_t text) { return NameText(module_.Text(StringId{text})); });
    }
    // The same word of a row is a mark of relaxed fields elsewhere; only an alias has a path in it.
    if (member.kind == MemberKind::kAlias && ListId{member.value}.valid()) {
      AddList(ListId{member.value}, " = [", "]",
              [this](uint32_t text) { return names_.Text(StringId{text}); });
    }
    PrintAttributes(module_.AttributesOf(id));
    ++id.value;
    AddCondition(member.condition);
    Add("\n");
  }
  Add("}}");
}

// Parameters stand in the line of their function, other locals have lines of their own.
void OpenPrinter::PrintLocal(LocalId id) {
  const Local& local = module_.locals[id.value];
  if (local.kind == LocalKind::kParameter) {
    Add("{} ", NameOf(local.access));
  } else {
    Add("  {} ", NameOf(local.kind));
  }
  Add("{}", names_.Local(id));
  if (local.type.valid()) {
    Add(" : {}", names_.Type(local.type));
  }
  Add("{}", local.relaxed != 0 ? " relaxed" : "");
  AddCondition(local.condition);
  if (!module_.List(local.shadowed).empty()) {
    AddList(local.shadowed, " shadows [", "]",
            [this](uint32_t shadowed) { return names_.Local(LocalId{shadowed}); });
  }
}

// A function is a run of regions, beginning with its body; the next region without a parent begins
// another function. The locals are collected over all of them and sorted, which gives the order of
// the source again, however the function was cut.
void OpenPrinter::PrintFunction(DeclId id, const Decl& decl) {
  names_.EnterFunction();
  Add("{} {}(", (decl.flags & 1u) != 0 ? " relaxed" : "", names_.Decl(id));
  std::vector<uint32_t> locals;
  for (uint32_t i = decl.body; i < module_.regions.size(); ++i) {
    const Region& region = module_.regions[i];
    if (i != decl.body && !region.parent.valid()) {
      break;
    }
    // A region lists the locals that belong to it, parameters included.
    const std::span<const uint32_t> listed = module_.List(region.locals);
    locals.insert(locals.end(), listed.begin(), listed.end());
  }
  std::ranges::sort(locals);
  for (uint32_t i = 0; i < decl.member_count; ++i) {
    // Parameters are printed in the order of the declaration, which callers follow.
    const MemberId member{decl.first_member + i};
    Add("{}", i == 0 ? "" : ", ");
    PrintLocal(LocalId{module_.members[member.value].value});
    PrintAttributes(module_.AttributesOf(member));
  }
  Add(") -> {}", names_.Type(decl.type));
  PrintAttributes(module_.AttributesOf(id));
  AddCondition(decl.condition);
  Add(" {{\n");
  for (const uint32_t local : locals) {
    if (module_.locals[local].kind != LocalKind::kParameter) {
      PrintLocal(LocalId{local});
      Add("\n");
    }
  }
  // Values are numbered anew in each function, so that a change in one leaves the text of the
  // others alone.
  blocks_.Restart();
  blocks_.Print(module_.regions[decl.body].block, 2);
  Add("}}\n");
}

}  // namespace

std::string Print(const ModuleView& module) { return OpenPrinter(module).Print(); }

}  // namespace kiln::ir
