// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/dump.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/check.h"

namespace kiln::spirv {
namespace {

// The table has the names without the prefix `Op`.
struct OpName {
  spv::Op op;
  std::string_view name;
};
constexpr OpName kOpNames[] = {
#define KILN_OP(name) {spv::Op::Op##name, #name},
#include "compiler/emit/spirv/ops.def"
};

// The instructions that lowering writes are a short list (ops.def). A search through it is fast
// enough for a dump, and an instruction that is missing there prints as its number.
std::string OpText(uint32_t opcode) {
  const auto* found = std::ranges::find(kOpNames, static_cast<spv::Op>(opcode), &OpName::op);
  return found != std::end(kOpNames) ? std::string(found->name) : fmt::format("Op{}", opcode);
}

// Whether this word of an instruction begins a text, which then reaches to its end.
// The words of a text are not operands and have no ids.
bool HasText(uint32_t opcode, uint32_t position) {
  const auto op = static_cast<spv::Op>(opcode);
  const bool second =
      op == spv::Op::OpName || op == spv::Op::OpString || op == spv::Op::OpExtInstImport;
  return (second && position == 2) || (op == spv::Op::OpMemberName && position == 3);
}

std::string_view PartName(Part part) {
  switch (part) {
    case Part::kDebug:
      return "debug";
    case Part::kAnnotations:
      return "annotations";
    case Part::kDeclarations:
      return "declarations";
    case Part::kVariables:
      return "variables";
    case Part::kCode:
      return "code";
  }
  KILN_UNREACHABLE();
}

// What a relocation of the layout fills in when a variant is linked.
std::string_view SlotName(LayoutRelocationKind kind) {
  switch (kind) {
    case LayoutRelocationKind::kSet:
      return "set";
    case LayoutRelocationKind::kBinding:
      return "binding";
    case LayoutRelocationKind::kLocation:
      return "location";
  }
  KILN_UNREACHABLE();
}

// What symbols are called; without a variant, by their rows.
class Names {
 public:
  Names(const CodeObjectTable& table, const ir::SpecialisedProgram* variant)
      : table_(table), variant_(variant) {}

  std::string Text(SymbolId id) const {
    const Symbol& symbol = table_.store()[id];
    switch (symbol.kind) {
      case SymbolKind::kSourceFile:
        return fmt::format("{{file {}}}", Quoted(id));
      case SymbolKind::kInstructionSet:
      case SymbolKind::kType:
      case SymbolKind::kSpecConstant:
      case SymbolKind::kConstantVariable:
        return "{" + Shape(id) + "}";
      case SymbolKind::kStageVariable:
        return fmt::format("{{stage {}}}", Quoted(id));
      case SymbolKind::kVariable:
        return fmt::format("{{{}}}", Variable(symbol));
      case SymbolKind::kFunction:
        return fmt::format("{{fn {}}}", Function(ir::DeclId{symbol.a}));
      case SymbolKind::kLocal:
        return fmt::format("{{{}{}}}", Local(ir::LocalId{symbol.a}),
                           symbol.b != 0 ? " continue" : "");
    }
    KILN_UNREACHABLE();
  }

  // Without the variant there is no name, so the number has to do.
  std::string Decl(ir::DeclId id) const {
    const ir::SpecialisedDecl* decl = FindDecl(id);
    return decl != nullptr ? "@" + std::string(table_.pool().Text(decl->name))
                           : fmt::format("@{}", id.value);
  }
  // Names of functions are found by a search through the whole variant. A dump is for people; it
  // needs no index.
  std::string Function(ir::DeclId id) const {
    for (size_t e = 0; variant_ != nullptr && e < variant_->entries.size(); ++e) {
      for (const ir::FunctionRef* function : variant_->entries[e].functions) {
        if (function->function == id) {
          return "@" + std::string(table_.pool().Text(function->signature->name));
        }
      }
    }
    return fmt::format("@{}", id.value);
  }

 private:
  const ir::SpecialisedDecl* FindDecl(ir::DeclId id) const {
    for (size_t i = 0; variant_ != nullptr && i < variant_->interface.size(); ++i) {
      if (variant_->interface[i]->decl == id) {
        return variant_->interface[i];
      }
    }
    return nullptr;
  }

  // `b` has the member for a variable of stage input or output, and kNoRow for all others.
  std::string Variable(const Symbol& symbol) const {
    std::string text = Decl(ir::DeclId{symbol.a});
    if (symbol.b != ir::kNoRow) {
      text += "." + Member(ir::DeclId{symbol.a}, ir::MemberId{symbol.b});
      text += static_cast<ir::Direction>(symbol.c) == ir::Direction::kIn ? " in" : " out";
    }
    return text;
  }
  std::string Member(ir::DeclId owner, ir::MemberId id) const {
    if (const ir::SpecialisedDecl* decl = FindDecl(owner); decl != nullptr) {
      for (const ir::SpecialisedMember& member : decl->members) {
        if (member.member == id) {
          return std::string(table_.pool().Text(member.name));
        }
      }
    }
    return fmt::format("{}", id.value);
  }

  // `OpVariable` of a function. Those of loops have no name in the source.
  std::string Local(ir::LocalId id) const {
    for (size_t e = 0; variant_ != nullptr && e < variant_->entries.size(); ++e) {
      for (const ir::FunctionRef* function : variant_->entries[e].functions) {
        for (const ir::RegionRef& region : function->regions) {
          const auto& locals = region.specialised->locals;
          const auto found = std::ranges::find(locals, id, &ir::SpecialisedLocal::local);
          if (found != locals.end()) {
            return found->name.valid() ? "$" + std::string(table_.pool().Text(found->name))
                                       : "loop";
          }
        }
      }
    }
    return fmt::format("${}", id.value);
  }

  // A type or constant in terms of what it is made of; a struct by its name, if it has one. Types
  // nest as deep as the language allows.
  std::string Shape(SymbolId id) const;
  std::string Quoted(SymbolId id) const;

  const CodeObjectTable& table_;
  const ir::SpecialisedProgram* variant_;
};

// Text in words from `first`.
// The first byte of a text is the lowest of its word, and a zero byte ends it.
std::string TextOf(std::span<const uint32_t> words, size_t first) {
  std::string text;
  for (size_t i = first; i < words.size(); ++i) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(words[i] >> shift & 0xffu);
      if (c == 0) {
        return text;
      }
      text += c;
    }
  }
  return text;
}

// Symbols know their global, but only the order knows its code object from outside of the store.
CodeObjectId ObjectOfGlobal(const CodeObjectStore& store, SymbolId id) {
  for (const CodeObjectStore::OrderedGlobal& row : store.order()) {
    if (row.symbol == id) {
      return row.object;
    }
  }
  KILN_UNREACHABLE();
}

// The text is in the debug part of what declares the symbol, behind the id; without one the row
// is shown.
std::string Names::Quoted(SymbolId id) const {
  const CodeObjectStore& store = table_.store();
  const CodeObject& object = store[ObjectOfGlobal(store, id)];
  const std::span<const uint32_t> debug = store.WordsOf(object.part(Part::kDebug));
  return debug.empty() ? fmt::format("{}", store[id].a) : TextOf(debug, 2);
}

// A struct is shown by its name, because its members would repeat whole trees of types. Everything
// else is opcode and operands; own ids, which say nothing, are left out.
std::string Names::Shape(SymbolId id) const {
  const CodeObjectStore& store = table_.store();
  const CodeObject& object = store[ObjectOfGlobal(store, id)];
  const Section& section = object.part(Part::kDeclarations);
  const std::span<const uint32_t> words = store.WordsOf(section);
  const std::span<const uint32_t> debug = store.WordsOf(object.part(Part::kDebug));
  const uint32_t opcode = words[0] & 0xffffu;
  if (static_cast<spv::Op>(opcode) == spv::Op::OpTypeStruct && !debug.empty()) {
    return "struct " + TextOf(debug.first(debug[0] >> 16), 2);
  }
  std::string text = OpText(opcode);
  if (text.starts_with("Type")) {
    text.erase(0, 4);
  }
  const std::span<const SymbolRelocation> imports = store.ImportsOf(section);
  size_t next = 0;
  // Imports ascend by position, so one index walks along with the words.
  for (uint32_t i = 1; i < words.size(); ++i) {
    if (next < imports.size() && imports[next].position == i) {
      const std::string part = Shape(imports[next++].symbol);
      text += part.find(' ') == std::string::npos ? " " + part : " (" + part + ")";
    } else if (HasText(opcode, i)) {
      return text + " \"" + TextOf(words, i) + "\"";
    } else if (!store.IsOwn(section, i)) {
      text += fmt::format(" {}", words[i]);
    }
  }
  return text;
}

// Prints code objects one after another. What is printed for a word depends on where it stands,
// so a section is printed with the lists of its relocations beside it.
class ObjectDumper {
 public:
  ObjectDumper(const CodeObjectTable& table, const ir::SpecialisedProgram* variant)
      : store_(table.store()), names_(table, variant) {}

  void Dump(CodeObjectId id, std::string_view title);
  Names& names() { return names_; }
  std::string Take() { return std::move(out_); }

 private:
  // Where printing stands in each of the lists that ascend by position: one pass over the words
  // consumes them.
  struct Cursor {
    size_t import = 0, slot = 0, point = 0;
  };
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void DumpTitle(const CodeObject& object, std::string_view title);
  void DumpSection(const CodeObject& object, const Section& section, std::string_view title,
                   bool annotations, bool code);
  std::string Operand(const CodeObject& object, const Section& section, uint32_t position,
                      bool slots, Cursor& cursor) const;

  const CodeObjectStore& store_;
  Names names_;
  std::string out_;
};

// The ids that a code object takes, the symbols it gives them to, and what it needs of a
// device.
void ObjectDumper::DumpTitle(const CodeObject& object, std::string_view title) {
  Add("{}: {} ids", title, object.own_ids);
  uint32_t number = 0;
  for (const SymbolId name : store_.Reserved(object)) {
    Add("{} +{} {}", number == 0 ? "," : "", number, names_.Text(name));
    ++number;
  }
  for (const uint32_t capability : target::CapabilitiesOf(object.needs)) {
    Add(", capability {}", capability);
  }
  Add("\n");
}

// One operand as text. The lists of imports and slots ascend by position, so each is consumed from
// the front and nothing is looked up.
std::string ObjectDumper::Operand(const CodeObject& object, const Section& section,
                                  uint32_t position, bool slots, Cursor& cursor) const {
  const auto imports = store_.ImportsOf(section);
  const auto filled = store_.Slots(object);
  const uint32_t word = store_.WordsOf(section)[position];
  if (store_.IsOwn(section, position)) {
    return fmt::format("+{}", word);
  }
  if (cursor.import < imports.size() && imports[cursor.import].position == position) {
    return names_.Text(imports[cursor.import++].symbol);
  }
  // Slots are positions in the annotations. A word of another part may have the same position, so
  // they are looked at only there.
  if (slots && cursor.slot < filled.size() && filled[cursor.slot].position == position) {
    return fmt::format("<{}>", SlotName(filled[cursor.slot++].kind));
  }
  return fmt::format("{}", word);
}

// `annotations` and `code` say whether slots and insertion points apply: both are positions in
// one part only.
void ObjectDumper::DumpSection(const CodeObject& object, const Section& section,
                               std::string_view title, bool annotations, bool code) {
  const std::span<const uint32_t> words = store_.WordsOf(section);
  const std::span<const InsertionPoint> insertion_points =
      code ? store_.InsertionPoints(object) : std::span<const InsertionPoint>{};
  if (words.empty() && insertion_points.empty()) {
    return;
  }
  Add("  {}\n", title);
  Cursor cursor;
  // An insertion point has no word. It stands before the instruction that begins where the words so
  // far end.
  const auto pass_points = [&](uint32_t position) {
    for (; cursor.point < insertion_points.size() &&
           insertion_points[cursor.point].word_end == position;
         ++cursor.point) {
      Add("    insertion_point {}\n", cursor.point + 1);
    }
  };
  // The upper half of the first word of an instruction is its length.
  for (uint32_t at = 0; at < words.size(); at += words[at] >> 16) {
    pass_points(at);
    const uint32_t opcode = words[at] & 0xffffu;
    Add("    {}", OpText(opcode));
    for (uint32_t i = 1; i < words[at] >> 16; ++i) {
      if (HasText(opcode, i)) {
        Add(" \"{}\"", TextOf(words.subspan(at, words[at] >> 16), i));
        break;
      }
      Add(" {}", Operand(object, section, at + i, annotations, cursor));
    }
    Add("\n");
  }
  // Insertion points behind the last instruction.
  pass_points(section.words.count);
}

// The parts in the order in which a module has them, then what holds only under a condition.
void ObjectDumper::Dump(CodeObjectId id, std::string_view title) {
  const CodeObject& object = store_[id];
  DumpTitle(object, title);
  for (uint32_t i = 0; i < kPartCount; ++i) {
    const Part part = static_cast<Part>(i);
    DumpSection(object, object.part(part), PartName(part), part == Part::kAnnotations,
                part == Part::kCode);
  }
  for (const Conditional& conditional : store_.Conditionals(object)) {
    DumpSection(object, conditional.words,
                fmt::format("if {} is non-uniform", names_.Text(conditional.parameter)), false,
                false);
  }
}

}  // namespace

// Without a variant: symbols of the program print as their rows.
std::string DumpCodeObject(CodeObjectId object, const CodeObjectTable& table) {
  ObjectDumper dumper(table, nullptr);
  dumper.Dump(object, "code object");
  return dumper.Take();
}

// The order is that of the interface and of the functions of the entries, never that of lowering:
// two dumps of one variant are equal, whatever was lowered before.
std::string DumpCodeObjects(const ir::SpecialisedProgram& variant, const CodeObjectTable& table) {
  ObjectDumper dumper(table, &variant);
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    const DeclVersion* version = table.Find(decl);
    KILN_CHECK(version != nullptr, "declaration {} was not lowered", decl->decl);
    for (const VariableVersion& variable : table.Variables(*version)) {
      dumper.Dump(variable.object, "variable of " + dumper.names().Decl(decl->decl));
    }
  }
  for (const ir::EntryRef& entry : variant.entries) {
    for (const ir::FunctionRef* function : entry.functions) {
      const std::string name = dumper.names().Function(function->function);
      dumper.Dump(table.Find(function->signature)->head, "head of " + name);
      for (size_t i = 0; i < function->regions.size(); ++i) {
        dumper.Dump(table.Find(function->regions[i].specialised),
                    fmt::format("region {} of {}, in {}", i, name, function->regions[i].parent));
      }
    }
  }
  return dumper.Take();
}

}  // namespace kiln::spirv
