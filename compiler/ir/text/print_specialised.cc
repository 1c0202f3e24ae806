// SPDX-License-Identifier: MIT
// What is mentioned is named at its first mention (NameTable), so the same form gives the same text
// whatever rows its pool has. Structs have no declarations when specialised: one is defined in the
// text before the first thing whose type holds it, parts first.
#include "compiler/ir/text/print_specialised.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/text/attribute_text.h"
#include "compiler/ir/text/print_block.h"
#include "compiler/ir/text/spelling.h"

namespace kiln::ir {
namespace {

constexpr std::string_view kUnnamed = "_";

// Names of everything a specialised text mentions.
// All numbers begin anew in each text: nothing of the pool's rows may show.
class VariantNames final : public OperandNames {
 public:
  explicit VariantNames(const Pool& pool) : pool_(pool) {}

  // The first declaration of a name counts: several entry points may bring the same rows.
  void Declare(const SpecialisedDecl& decl) {
    decl_bases_.Insert(decl.decl.value, decl.name);
    for (const SpecialisedMember& member : decl.members) {
      CheckStop();
      member_bases_.Insert(member.member.value, member.name);
      if (member.local.valid()) {
        local_bases_.Insert(member.local.value, TextOf(member.name));
      }
    }
  }
  // Exits have no name in the source: they are where loops and switches are left.
  void Declare(const SpecialisedLocal& local) {
    local_bases_.Insert(local.local.value, IsExit(local.kind) ? "exit" : TextOf(local.name));
  }
  // Locals and regions are numbered by function.
  void EnterFunction(DeclId function) { function_ = function; }

  bool KnowsStruct(TypeId id) const { return structs_.Knows(id.value); }
  std::string Struct(TypeId id) {
    // A struct whose name reads as a leaf type (`f1`) is quoted, or the reader would take it for
    // that type.
    const std::string name = structs_.Name(id.value, TextOf(pool_.ShapeOf(id).name));
    return ParseLeaf(name) ? Quote(name) : name;
  }
  std::string Type(TypeId id) override {
    const ir::Type& type = pool_[id];
    if (type.kind == TypeKind::kStruct) {
      return Struct(id);
    }
    // The dots stand behind the sizes of the element.
    if (type.kind == TypeKind::kRuntimeArray) {
      return Type(TypeId{type.element}) + "...";
    }
    if (type.kind != TypeKind::kArray) {
      return LeafText(type);
    }
    // The extents are those of the source order: the outermost comes first.
    std::string extents;
    for (; pool_[id].kind == TypeKind::kArray; id = TypeId{pool_[id].element}) {
      extents += fmt::format("[{}]", pool_[id].extent);
    }
    return Type(id) + extents;
  }
  TypeId TypeOfConst(ConstId id) override { return pool_[id].type; }
  std::string Const(ConstId id) override { return Type(pool_[id].type) + " " + ConstValue(id); }
  std::string Text(StringId id) override { return Quote(TextOf(id)); }
  // Declarations share one table, whatever their kind.
  std::string Decl(DeclId id) override {
    const StringId* base = decl_bases_.Find(id.value);
    // Numbers behind names count mentions in the text, not rows: rows depend on the program that
    // was linked.
    return "@" + decls_.Name(id.value, base != nullptr ? TextOf(*base) : kUnnamed);
  }
  // Members are numbered within their owner.
  std::string Member(DeclId owner, MemberId id) override {
    const StringId* base = member_bases_.Find(id.value);
    return members_[owner.value].Name(id.value, base != nullptr ? TextOf(*base) : kUnnamed);
  }
  // Locals are numbered within their function.
  std::string Local(LocalId id) override {
    const std::string_view* base = local_bases_.Find(id.value);
    return "$" +
           functions_[function_.value].locals.Name(id.value, base != nullptr ? *base : kUnnamed);
  }
  std::string Cexpr(CexprId) override { return {}; }  // none in the specialised form
  std::string Region(RegionId id) override {
    FlatMap<uint32_t, uint32_t>& numbers = functions_[function_.value].regions;
    // Regions are numbered by their first mention within a function, which may be the place that
    // they fill in another region.
    const auto next = static_cast<uint32_t>(numbers.size());
    return fmt::format("r{}", *numbers.Insert(id.value, next).first);
  }
  // Blocks of specialised regions are printed where they are used, so none is looked up.
  BlockId BlockOf(RegionId) override { return {}; }

 private:
  struct FunctionNames {
    NameTable locals;
    FlatMap<uint32_t, uint32_t> regions;
  };

  std::string_view TextOf(StringId id) const { return id.valid() ? pool_.Text(id) : kUnnamed; }
  // Recursion is as deep as a type nests.
  std::string ConstValue(ConstId id) const {
    const ir::Const& row = pool_[id];
    if (row.composite == 0) {
      return ScalarText(pool_[row.type].scalar, row.bits());
    }
    std::string text;
    // The type of a part follows from that of the whole here, so parts are written without types.
    for (const ConstId part : pool_.Parts(id)) {
      text += (text.empty() ? "{" : ", ") + ConstValue(part);
    }
    return text + "}";
  }

  const Pool& pool_;
  FlatMap<uint32_t, StringId> decl_bases_;
  FlatMap<uint32_t, StringId> member_bases_;
  FlatMap<uint32_t, std::string_view> local_bases_;
  NameTable structs_;
  NameTable decls_;
  FlatMap<uint32_t, NameTable> members_;        // by owner
  FlatMap<uint32_t, FunctionNames> functions_;  // by declaration
  DeclId function_;
};

// Prints one specialised form. An instance prints one text and is then spent: names it has given
// stay given.
class VariantPrinter {
 public:
  explicit VariantPrinter(const Pool& pool) : pool_(pool), names_(pool) {}

  // Alone a region has no interface around it, and what it mentions outside of itself prints as
  // unknown.
  std::string PrintAlone(const SpecialisedRegion& region) {
    for (const SpecialisedLocal& local : region.locals) {
      names_.Declare(local);
    }
    PrintRegion(region, 0);
    return std::move(out_);
  }
  std::string PrintAlone(const SpecialisedDecl& decl) {
    names_.Declare(decl);
    PrintDecl(decl);
    return std::move(out_);
  }
  std::string PrintAll(const SpecialisedProgram& variant);

 private:
  void DefineStructs(const SpecialisedProgram& variant);
  void DefineStructsOf(TypeId id);
  void PrintDecl(const SpecialisedDecl& decl);
  void PrintSignature(const SpecialisedDecl& decl);
  void PrintMember(const SpecialisedMember& member, std::string_view name,
                   const ShapeMember* shape);
  void PrintForm(const ShapeMember& member);
  void PrintAttributes(std::span<const Attribute> attributes);
  void PrintTags(std::span<const StringId> tags);
  void PrintRegion(const SpecialisedRegion& region, uint32_t indent);
  void PrintLocal(const SpecialisedLocal& local, uint32_t indent);
  void PrintEntry(const EntryRef& entry);
  void PrintSetting(const SpecialisedSetting& setting);
  void PrintUse(const OptionUse& use);
  void PrintLive(const Bitset& live, std::string_view indent);
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const Pool& pool_;
  VariantNames names_;
  std::span<const SpecialisedDecl* const> records_;  // of structs, for tags
  std::string out_;
};

// Structs come before what uses them; the block of a buffer is defined by the buffer.
void VariantPrinter::DefineStructsOf(TypeId id) {
  const Type& type = pool_[id];
  if (type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray) {
    DefineStructsOf(TypeId{type.element});
    return;
  }
  if (type.kind != TypeKind::kStruct || names_.KnowsStruct(id)) {
    return;
  }
  // Parts first: the reader knows only what stands above.
  for (const ShapeMember& member : pool_.Members(id)) {
    DefineStructsOf(member.type);
  }
  Add("struct {} {{\n", names_.Struct(id));
  // Tags are no part of the shape, and so they are not in the pool; they come from the record,
  // which only structs of the interface have.
  // Linear, as few structs have a record.
  const auto record = std::ranges::find(records_, id, &SpecialisedDecl::type);
  const std::span<const ShapeMember> members = pool_.Members(id);
  for (size_t i = 0; i < members.size(); ++i) {
    CheckStop();
    Add("  {} : {}", NameText(pool_.Text(members[i].name)), names_.Type(members[i].type));
    PrintForm(members[i]);
    if (record != records_.end()) {
      PrintTags((*record)->members[i].tags);
    }
    Add("\n");
  }
  Add("}}\n");
}

// " offset 64 row_major stride 16"
void VariantPrinter::PrintForm(const ShapeMember& member) {
  // Only an offset that was written is part of the form; others follow from the rules.
  if (member.offset != kUnwritten) {
    Add(" offset {}", member.offset);
  }
  if (member.order == MatrixOrder::kRow) {
    Add(" row_major");
  }
  if (member.stride != 0) {
    Add(" stride {}", member.stride);
  }
}

void VariantPrinter::PrintAttributes(std::span<const Attribute> attributes) {
  for (const Attribute& attribute : attributes) {
    Add(" {}", AttributeText(attribute,
                             [this](uint32_t text) { return Quote(pool_.Text(StringId{text})); }));
  }
}

// Walks over everything that has a type, in the order in which it is printed below, and defines
// what the text will mention. The walk over all instructions costs as much as the print itself.
void VariantPrinter::DefineStructs(const SpecialisedProgram& variant) {
  std::vector<TypeId> blocks;
  // In the order of printing, or a name could get another number than the text gives it.
  for (const SpecialisedDecl* decl : variant.interface) {
    for (const SpecialisedMember& member : decl->members) {
      CheckStop();
      // Members come before their owner, since the owner's line mentions their types.
      DefineStructsOf(member.type);
    }
    // The type of a block has no definition of its own: the buffer writes its members, and reading
    // them makes the struct again. So it must not be defined here, even if code mentions the type
    // as well.
    const bool block = decl->kind == DeclKind::kBuffer || decl->kind == DeclKind::kPushConstant;
    if (block && !decl->members.empty()) {
      blocks.push_back(decl->type);
    } else if (decl->kind != DeclKind::kContainer) {
      DefineStructsOf(decl->type);
    }
  }
  const auto define = [&](TypeId type) {
    if (std::ranges::find(blocks, type) == blocks.end()) {
      DefineStructsOf(type);
    }
  };
  for (const EntryRef& entry : variant.entries) {
    // The signature is printed before the body, and its types are defined first as well.
    for (const FunctionRef* function : entry.functions) {
      define(function->signature->type);
      for (const SpecialisedMember& parameter : function->signature->members) {
        define(parameter.type);
      }
      for (const RegionRef& region : function->regions) {
        for (const SpecialisedLocal& local : region.specialised->locals) {
          define(local.type);
        }
        for (const Inst& inst : region.specialised->insts) {
          CheckStop();
          define(inst.type);
        }
      }
    }
  }
}

void VariantPrinter::PrintMember(const SpecialisedMember& member, std::string_view name,
                                 const ShapeMember* shape) {
  Add("  {} : {}", name, names_.Type(member.type));
  if (shape != nullptr) {
    PrintForm(*shape);
  }
  if (member.pack != PackClass::kDefault) {
    Add(" pack({}{})", NameOf(member.pack), member.pack_bits);
  }
  PrintTags(member.tags);
  PrintAttributes(member.attributes);
  Add("\n");
}

// " tags(a, b)", or nothing.
void VariantPrinter::PrintTags(std::span<const StringId> tags) {
  for (size_t i = 0; i < tags.size(); ++i) {
    Add("{}{}", i == 0 ? " tags(" : ", ", NameText(pool_.Text(tags[i])));
  }
  Add("{}", tags.empty() ? "" : ")");
}

// One line, or a block with a line for each member. Kinds that have members fall out of the
// switch.
void VariantPrinter::PrintDecl(const SpecialisedDecl& decl) {
  Add("{}", NameOf(decl.kind));
  switch (decl.kind) {
    case DeclKind::kFunction:
      PrintSignature(decl);
      Add("\n");
      return;
    case DeclKind::kContainer:
      Add(" {} {} {{\n", NameOf(decl.container()), names_.Decl(decl.decl));
      break;
    case DeclKind::kBuffer:
      Add(" {} {} {}", NameOf(decl.buffer()), NameOf(decl.set()), names_.Decl(decl.decl));
      if (decl.members.empty()) {
        Add(" : {}", names_.Type(decl.type));
        PrintAttributes(decl.attributes);
        Add("\n");
        return;
      }
      PrintAttributes(decl.attributes);
      Add(" {{\n");
      break;
    case DeclKind::kPushConstant:
      Add(" {}", names_.Decl(decl.decl));
      PrintAttributes(decl.attributes);
      Add(" {{\n");
      break;
    case DeclKind::kStruct:
      Add(" {} {{\n", names_.Struct(decl.type));
      break;
    case DeclKind::kSampler:
      Add(" {} {}", NameOf(decl.set()), names_.Decl(decl.decl));
      // A single sampler has no other type, so the type says something only for arrays.
      if (pool_[decl.type].kind == TypeKind::kArray) {
        Add(" : {}", names_.Type(decl.type));
      }
      PrintAttributes(decl.attributes);
      Add("\n");
      return;
    case DeclKind::kImage:
      Add(" {} {} {} : {}", NameOf(decl.access()), NameOf(decl.set()), names_.Decl(decl.decl),
          names_.Type(decl.type));
      PrintAttributes(decl.attributes);
      Add("\n");
      return;
    // Kinds that a specialised interface does not have are printed like variables, so that a text
    // of wrong rows shows them.
    case DeclKind::kConstant:
    case DeclKind::kSetting:
    case DeclKind::kEntry:
    case DeclKind::kWorkgroup:
    case DeclKind::kPrivate:
      Add(" {} : {}", names_.Decl(decl.decl), names_.Type(decl.type));
      Add("{}", decl.initial.valid() ? " = " + names_.Const(decl.initial) : "");
      PrintAttributes(decl.attributes);
      Add("\n");
      return;
  }
  const bool block = decl.kind == DeclKind::kBuffer || decl.kind == DeclKind::kPushConstant;
  for (size_t i = 0; i < decl.members.size(); ++i) {
    CheckStop();
    const SpecialisedMember& member = decl.members[i];
    // The form of a block's members is in its type, and the members here have the rest.
    PrintMember(member, names_.Member(decl.decl, member.member),
                block ? &pool_.Members(decl.type)[i] : nullptr);
  }
  Add("}}\n");
  if (block) {
    names_.Struct(decl.type);  // from here on its block has a name
  }
}

// Parameters are members of the declaration, each with the local that code knows it by.
void VariantPrinter::PrintSignature(const SpecialisedDecl& decl) {
  names_.EnterFunction(decl.decl);
  Add("{} {}(", (decl.flags & 1u) != 0 ? " relaxed" : "", names_.Decl(decl.decl));
  for (size_t i = 0; i < decl.members.size(); ++i) {
    CheckStop();
    const SpecialisedMember& parameter = decl.members[i];
    Add("{}{} {} : {}", i == 0 ? "" : ", ", NameOf(parameter.access), names_.Local(parameter.local),
        names_.Type(parameter.type));
    PrintAttributes(parameter.attributes);
  }
  Add(") -> {}", names_.Type(decl.type));
  PrintAttributes(decl.attributes);
}

// A local of a kind that is an exit has no type.
void VariantPrinter::PrintLocal(const SpecialisedLocal& local, uint32_t indent) {
  Add("{:{}}{}", "", indent, NameOf(local.kind));
  if (local.kind == LocalKind::kParameter) {
    Add(" {}", NameOf(local.access));
  }
  Add(" {}", names_.Local(local.local));
  if (!IsExit(local.kind)) {
    Add(" : {}", names_.Type(local.type));
  }
  Add("\n");
}

// Each region has a printer of its own, thus its values count from 1. No value of one region is
// known in another.
void VariantPrinter::PrintRegion(const SpecialisedRegion& region, uint32_t indent) {
  names_.EnterFunction(region.function);
  Add("{:{}}region {} {{\n", "", indent, names_.Region(region.id));
  for (const SpecialisedLocal& local : region.locals) {
    PrintLocal(local, indent + 2);
  }
  const BlockRows rows{.insts = region.insts,
                       .blocks = region.blocks,
                       .block_insts = region.block_insts,
                       .extra = region.extra};
  BlockPrinter(rows, names_, out_).Print(region.body, indent + 2);
  Add("{:{}}}}\n", "", indent);
}

// The block tells apart settings of one name, such as those of each colour output.
void VariantPrinter::PrintSetting(const SpecialisedSetting& setting) {
  Add("setting {}", Quote(setting.name));
  if (setting.block != kNoBlock) {
    Add(" block {}", setting.block);
  }
  const auto kind = static_cast<ValueKind>(setting.kind);
  Add(" = {} {}\n", NameOf(kind),
      kind == ValueKind::kString ? Quote(setting.text) : ValueText(kind, setting.bits));
}

// How an option was used by a variant: its value, and what it had an influence on.
void VariantPrinter::PrintUse(const OptionUse& use) {
  Add("option {} {} : {} = ", NameOf(use.scope), NameText(pool_.Text(use.name)), NameOf(use.kind));
  if (use.kind == OptionKind::kEnum) {
    Add("{} {}", use.value, Quote(pool_.Text(use.text)));
  } else {
    Add("{}", ValueText(static_cast<ValueKind>(use.kind), use.value));
  }
  for (uint32_t bit = 0; bit < CountOf<Influence>(); ++bit) {
    if ((use.influence >> bit & 1) != 0) {
      Add(" {}", kNames<Influence>[bit]);
    }
  }
  Add("\n");
}

// The count goes with the list, since a reader has to make a set of the same size.
void VariantPrinter::PrintLive(const Bitset& live, std::string_view indent) {
  const size_t options = live.size();  // 0: not known, which is not the same as none
  if (options == 0) {
    return;
  }
  Add("{}live {} [", indent, live.size());
  bool first = true;
  live.ForEach([&](size_t option) {
    Add("{}{}", first ? "" : ", ", option);
    first = false;
  });
  Add("]\n");
}

// An entry point, its interface, and the functions it reaches in the order of first mention.
void VariantPrinter::PrintEntry(const EntryRef& entry) {
  Add("entry {} {} {} {{\n", NameOf(entry.stage), names_.Decl(entry.function), Quote(entry.name));
  PrintLive(entry.live_options, "  ");
  for (const InterfaceRow& row : entry.io) {
    Add("  io {} {} : {}", NameOf(row.direction), Quote(pool_.Text(row.name)),
        names_.Type(row.type));
    PrintAttributes(row.attributes);
    Add("\n");
  }
  for (const FunctionRef* function : entry.functions) {
    Add("  function");
    PrintSignature(*function->signature);
    // The stage is said only where the function differs by stage.
    if (function->stage_sensitive) {
      Add(" in {}", NameOf(function->stage));
    }
    Add(" {{\n");
    for (const RegionRef& region : function->regions) {
      PrintRegion(*region.specialised, 4);
    }
    Add("  }}\n");
  }
  Add("}}\n");
}

// All names are declared before the first line is printed, since a mention may come long before the
// declaration; without this, it would get the name of something unknown.
std::string VariantPrinter::PrintAll(const SpecialisedProgram& variant) {
  records_ = variant.structs;
  for (const SpecialisedDecl* decl : variant.interface) {
    names_.Declare(*decl);
  }
  for (const EntryRef& entry : variant.entries) {
    // Functions that two entry points share are declared twice; the second time changes nothing.
    for (const FunctionRef* function : entry.functions) {
      names_.Declare(*function->signature);
      for (const RegionRef& region : function->regions) {
        for (const SpecialisedLocal& local : region.specialised->locals) {
          names_.Declare(local);
        }
      }
    }
  }
  Add("variant {}\n", NameOf(variant.pipeline));
  DefineStructs(variant);
  for (const SpecialisedDecl* decl : variant.interface) {
    PrintDecl(*decl);
  }
  for (const SpecialisedSetting& setting : variant.settings) {
    PrintSetting(setting);
  }
  for (const OptionUse& use : variant.option_uses) {
    PrintUse(use);
  }
  PrintLive(variant.live_options, "");
  for (const EntryRef& entry : variant.entries) {
    PrintEntry(entry);
  }
  return std::move(out_);
}

}  // namespace

// Without a variant nothing outside has a name, so a text of this kind is for tests and
// messages only.
std::string Print(const SpecialisedRegion& region, const Pool& pool) {
  return VariantPrinter(pool).PrintAlone(region);
}
std::string Print(const SpecialisedDecl& decl, const Pool& pool) {
  return VariantPrinter(pool).PrintAlone(decl);
}
std::string Print(const SpecialisedProgram& variant) {
  return VariantPrinter(*variant.pool).PrintAll(variant);
}

}  // namespace kiln::ir
