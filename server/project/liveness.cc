// SPDX-License-Identifier: MIT
// Which options can be read at all (spec/daemon 6.5.1), found by following names through the
// modules of a program. Everything is taken as reachable that a name may mean, so the answer is too
// large and never too small.
#include "server/project/liveness.h"

#include <iterator>
#include <set>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/insts.h"

namespace kiln::project {
namespace {

using resolve::NameId;

// True the first time.
bool Mark(std::vector<bool>& seen, uint32_t row) {
  const bool first = !seen[row];
  seen[row] = true;
  return first;
}

// What rows of one module mention by name. Rows are followed with lists of work, not by recursion:
// they come from sources.
class Mentions {
 public:
  Mentions(const resolve::Program& program, uint32_t module)
      : program_(program), module_(module), view_(program.module(module)) {}

  void AddCexpr(ir::CexprId id) { cexprs_.push_back(id.value); }
  void AddType(ir::TypeId id) {
    if (id.valid()) {
      types_.push_back(id.value);
    }
  }
  // Members of a struct that no path uses count as well; liveness over-approximates
  // (spec/daemon 6.5.1).
  void AddMembers(const ir::Decl& decl) {
    for (uint32_t i = 0; i < decl.member_count; ++i) {
      const ir::Member& member = view_.members[decl.first_member + i];
      AddCexpr(member.condition);
      AddType(member.type);
    }
  }
  void AddLocal(uint32_t id) {
    const ir::Local& local = view_.locals[id];
    AddCexpr(local.condition);
    AddType(local.type);
    if (local.block != ir::kNoRow) {
      blocks_.push_back(local.block);
    }
  }
  // Locals of a region may have conditions and types of their own.
  void AddRegion(const ir::Region& region) {
    AddCexpr(region.condition);
    blocks_.push_back(region.block.value);
    if (region.locals.valid()) {
      for (const uint32_t local : view_.List(region.locals)) {
        AddLocal(local);
      }
    }
  }

  // Instructions first, then types and expressions: the former only add to the lists of the latter.
  std::set<uint32_t> Names() {
    std::vector<bool> seen_blocks(view_.blocks.size(), false);
    while (!blocks_.empty()) {
      const uint32_t block = Pop(blocks_);
      // Block numbers come from the image; what is out of range was refused when it was loaded, and
      // is passed over here all the same.
      if (block < seen_blocks.size() && Mark(seen_blocks, block)) {
        for (const uint32_t inst : view_.InstsOf(ir::BlockId{block})) {
          CheckStop();
          AddInst(view_.insts[inst]);
        }
      }
    }
    std::vector<bool> seen_types(view_.types.size(), false);
    std::vector<bool> seen_cexprs(view_.cexprs.size(), false);
    while (!types_.empty() || !cexprs_.empty()) {
      CheckStop();
      if (types_.empty()) {
        const uint32_t cexpr = Pop(cexprs_);
        if (Mark(seen_cexprs, cexpr)) {
          FollowCexpr(view_.cexprs[cexpr]);
        }
      } else if (const uint32_t type = Pop(types_); Mark(seen_types, type)) {
        FollowType(view_.types[type]);
      }
    }
    return std::move(names_);
  }

 private:
  static uint32_t Pop(std::vector<uint32_t>& work) {
    const uint32_t last = work.back();
    work.pop_back();
    return last;
  }
  void AddName(uint32_t text) { names_.insert(program_.Name(module_, ir::StringId{text}).value); }

  void AddInst(const ir::Inst& inst) {
    AddType(inst.type);
    if (inst.kind == ir::InstKind::kWhenRegion) {
      return;  // a region of its own
    }
    const ir::InstFacts& facts = ir::FactsOf(inst.kind);
    AddOperand(facts.a, inst.a);
    AddOperand(facts.b, inst.b);
  }

  void AddOperand(ir::OperandSchema schema, uint32_t operand) {
    if (schema == ir::OperandSchema::kString) {
      AddName(operand);  // of a member, too: that costs nothing but precision
    } else if (schema == ir::OperandSchema::kCexpr) {
      AddCexpr(ir::CexprId{operand});
    } else if (schema == ir::OperandSchema::kBlock) {
      blocks_.push_back(operand);
    } else if (schema == ir::OperandSchema::kBlocks) {
      for (const uint32_t block : view_.List(ir::ListId{operand})) {
        blocks_.push_back(block);
      }
    }
  }

  void FollowType(const ir::Type& type) {
    if (type.kind == ir::TypeKind::kArray) {
      types_.push_back(type.element);
      cexprs_.push_back(type.extent);
    } else if (type.kind == ir::TypeKind::kNamed) {
      AddName(type.element);
    }
  }

  // What the members of a row mean depends on its shape; a list of parts is in `b` for all that
  // have one.
  void FollowCexpr(const ir::Cexpr& row) {
    switch (ir::ShapeOf(row.op)) {
      case ir::CexprShape::kLiteral:
      case ir::CexprShape::kInvalid:
        return;
      case ir::CexprShape::kName:
        return AddName(row.a);
      case ir::CexprShape::kUnary:
        return cexprs_.push_back(row.a);
      case ir::CexprShape::kBinary:
        cexprs_.push_back(row.a);
        return cexprs_.push_back(row.b);
      case ir::CexprShape::kSelect:
        cexprs_.push_back(row.a);
        break;
      case ir::CexprShape::kComposite:
        types_.push_back(row.a);
        break;
    }
    for (const uint32_t part : view_.List(ir::ListId{row.b})) {
      cexprs_.push_back(part);
    }
  }

  const resolve::Program& program_;
  const uint32_t module_;
  const ir::ModuleView& view_;
  std::vector<uint32_t> blocks_, types_, cexprs_;
  std::set<uint32_t> names_;
};

// What can be reached from some declarations by name, whatever the options are: an overestimate,
// since no condition is evaluated. A name reaches every declaration that may bear it. Each
// declaration is visited once, and each of its mentions looked up once, so the cost is that of
// reading the program.
class ReachableDecls {
 public:
  explicit ReachableDecls(const resolve::Program& program)
      : program_(program),
        seen_names_(program.name_count(), false),
        dependents_(program.option_count(), 0),
        readers_(program.option_count()),
        reader_counts_(program.option_count()) {}

  void AddDecl(ir::DeclId decl) { decls_.push_back(decl); }
  void AddName(NameId name) {
    // All declarations of the name count, since the variant decides which of them holds.
    if (name.valid() && Mark(seen_names_, name.value)) {
      for (const auto& candidates :
           {program_.Functions(name), program_.Structs(name), program_.Globals(name)}) {
        decls_.insert(decls_.end(), candidates.begin(), candidates.end());
      }
    }
  }

  std::vector<uint64_t> Count() {
    std::vector<bool> seen(program_.decl_count(), false);
    while (!decls_.empty()) {
      const ir::DeclId decl = decls_.back();
      decls_.pop_back();
      if (Mark(seen, decl.value)) {
        Visit(decl);
      }
    }
    return std::move(dependents_);
  }

  // After Count: of all readers of an option.
  uint64_t ReaderCountOf(size_t option) const { return reader_counts_[option].count; }
  // The first of them.
  std::vector<Liveness::Reader> ReadersOf(size_t option) const {
    std::vector<Liveness::Reader> readers;
    for (const uint32_t row : readers_[option]) {
      const uint32_t module = program_.ModuleOf(ir::DeclId{row});
      const ir::ModuleView& view = program_.module(module);
      const ir::Decl& decl = program_.Get(ir::DeclId{row});
      const auto local = static_cast<size_t>(&decl - view.decls.data());
      const ir::SpanId name =
          local < view.decl_spans.size() ? view.decl_spans[local].name : ir::SpanId{};
      readers.push_back(
          {.name = std::string(ir::NameOf(decl.kind)) + " " + std::string(view.Text(decl.name)),
           .module = module,
           .where = view.SpanOf(name)});
    }
    return readers;
  }

 private:
  // A function has its head and its regions. Each is one unit that depends on options, so each
  // counts as a dependent.
  void Visit(ir::DeclId id) {
    const uint32_t module = program_.ModuleOf(id);
    const ir::Decl& decl = program_.Get(id);
    const ir::ModuleView& view = program_.module(module);
    Mentions mentions(program_, module);
    AddHead(decl, mentions);
    Consult(id, mentions.Names());
    if (decl.kind != ir::DeclKind::kFunction || decl.body == ir::kNoRow) {
      return;
    }
    // The regions of a function follow each other, the body first.
    const ir::DeclId function = view.regions[decl.body].function;
    for (uint32_t i = decl.body; i < view.regions.size() && view.regions[i].function == function;
         ++i) {
      Mentions code(program_, module);
      code.AddRegion(view.regions[i]);
      Consult(id, code.Names());
    }
  }

  // Values of constants and settings are compile-time expressions; the body of a function is not.
  static void AddHead(const ir::Decl& decl, Mentions& mentions) {
    mentions.AddCexpr(decl.condition);
    mentions.AddType(decl.type);
    mentions.AddMembers(decl);
    const bool has_value =
        decl.kind == ir::DeclKind::kConstant || decl.kind == ir::DeclKind::kSetting;
    if (has_value && decl.body != ir::kNoRow) {
      mentions.AddCexpr(ir::CexprId{decl.body});
    }
  }

  // The declaration, or a region of it, mentions these. A constant is no unit of its own: whoever
  // mentions it depends on the options that it mentions, so its mentions become those of the
  // reader.
  void Consult(ir::DeclId reader, std::set<uint32_t> names) {
    std::vector<uint32_t> work(names.begin(), names.end());
    while (!work.empty()) {  // constants stand for what they mention
      CheckStop();
      const NameId name{work.back()};
      work.pop_back();
      AddName(name);
      for (const ir::DeclId constant : program_.Constants(name)) {
        Mentions mentions(program_, program_.ModuleOf(constant));
        AddHead(program_.Get(constant), mentions);
        for (const uint32_t more : mentions.Names()) {
          if (names.insert(more).second) {
            work.push_back(more);
          }
        }
      }
    }
    for (const uint32_t name : names) {
      if (const ir::OptionId option = program_.Option(NameId{name}); option.valid()) {
        ++dependents_[option.value];
        AddReader(option, reader);
      }
    }
  }

  // Regions of one reader follow each other.
  void AddReader(ir::OptionId option, ir::DeclId reader) {
    ReaderCount& known = reader_counts_[option.value];
    if (known.last == reader) {
      return;
    }
    known = {.last = reader, .count = known.count + 1};
    std::set<uint32_t>& first = readers_[option.value];
    first.insert(reader.value);
    if (first.size() > kMaxReaders) {
      // The set is ordered by declaration, so the ones that stay are the first of the program,
      // whatever the order in which they were found.
      first.erase(std::prev(first.end()));
    }
  }

  struct ReaderCount {
    ir::DeclId last;
    uint64_t count = 0;
  };

  const resolve::Program& program_;
  std::vector<bool> seen_names_;
  std::vector<ir::DeclId> decls_;
  std::vector<uint64_t> dependents_;
  std::vector<std::set<uint32_t>> readers_;  // rows of declarations
  std::vector<ReaderCount> reader_counts_;
};

}  // namespace

// One reachability from all roots says what depends on an option at all; three more, each from some
// of the roots, say whether code, settings or the layout do. They differ in roots only, so an
// option may count for several.
std::vector<Liveness> LivenessOf(const resolve::Program& program,
                                 std::span<const resolve::EntryPoint> entries) {
  ReachableDecls all(program);
  ReachableDecls code(program);
  ReachableDecls settings(program);
  ReachableDecls layout(program);
  for (const resolve::EntryPoint& entry : entries) {
    all.AddName(program.FindName(entry.function));
    code.AddName(program.FindName(entry.function));
  }
  for (const ir::DeclId id : program.settings()) {
    all.AddDecl(id);
    settings.AddDecl(id);
  }
  // Outputs and state containers are written by code and have no place in the layout. The formats
  // of outputs are settings as well.
  for (const ir::DeclId id : program.interface()) {
    const ir::Decl& decl = program.Get(id);
    const auto container = static_cast<ir::ContainerKind>(decl.flags);
    const bool is_output =
        decl.kind == ir::DeclKind::kContainer && container == ir::ContainerKind::kColorOutput;
    const bool is_state =
        decl.kind == ir::DeclKind::kContainer && container == ir::ContainerKind::kState;
    all.AddDecl(id);
    if (is_output) {
      settings.AddDecl(id);
    }
    (is_output || is_state ? code : layout).AddDecl(id);
  }
  const std::vector<uint64_t> by_code = code.Count();
  const std::vector<uint64_t> by_settings = settings.Count();
  const std::vector<uint64_t> by_layout = layout.Count();
  std::vector<Liveness> liveness;
  for (const uint64_t dependents : all.Count()) {
    const size_t option = liveness.size();
    liveness.push_back({.code = by_code[option] != 0,
                        .settings = by_settings[option] != 0,
                        .layout = by_layout[option] != 0,
                        .dependents = dependents,
                        .readers = all.ReadersOf(option),
                        .readers_in_all = all.ReaderCountOf(option)});
  }
  return liveness;
}

}  // namespace kiln::project
