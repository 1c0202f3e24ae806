// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/unused.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/resolve/checks/mentions.h"
#include "compiler/resolve/names/kind_text.h"

namespace kiln::resolve {
namespace {

// A few of them are shown, and more only cost time. The factor leaves enough for sorting and
// merging.
constexpr size_t kMostFound = 10 * kMaxDiagnostics;  // then nothing more is looked for

// Finds what the modules of RPL declare and nothing uses (RPL7101 to RPL7107).
class UnusedFinder {
 public:
  UnusedFinder(const Program& program, std::span<const EntryPoint> entries)
      : program_(program), mentions_(program) {
    for (const EntryPoint& entry : entries) {
      if (const NameId name = program.FindName(entry.function); name.valid()) {
        entries_.push_back(name);
      }
    }
  }

  std::vector<Diagnostic> Run() {
    FindReached();
    for (uint32_t m = 0; m < program_.modules().size() && !IsFull(); ++m) {
      if (program_.module(m).header.typed != 0) {
        continue;  // what a typed module mentions is no matter of names
      }
      // A module without possible entry points is a library, and what it does not use itself may be
      // for others.
      if (has_entries_[m]) {
        CheckOptions(m);
      }
      CheckSettings(m);
      CheckDecls(m);
    }
    SortAndMerge(found_);
    return std::move(found_);
  }

 private:
  bool IsFull() const { return found_.size() >= kMostFound; }
  // An underscore at the beginning says that a name is unused on purpose.
  static bool IsSilent(std::string_view name) { return name.starts_with('_'); }

  // Every warning comes with the note that tells how to keep the name.
  Diagnostic& Report(Code code, const Location& where, std::string_view name) {
    return found_.emplace_back(Make(code, where).With("name", name).Note(NoteKind::kKeepUnused));
  }

  // --- functions ---------------------------------------------------------------------------------
  // Of no arguments and no result: what a manifest may name.
  bool MayBeEntry(uint32_t m, const ir::Decl& decl) const {
    return decl.kind == ir::DeclKind::kFunction && decl.member_count == 0 &&
           program_.module(m).types[decl.type.value].kind == ir::TypeKind::kVoid;
  }

  // From the roots along calls, by name.
  void FindReached() {
    called_.assign(program_.name_count(), false);
    // Entry points that were chosen, and all functions that might be.
    std::vector<NameId> roots = std::move(entries_);
    has_entries_.assign(program_.modules().size(), false);
    for (uint32_t m = 0; m < program_.modules().size(); ++m) {
      for (const ir::Decl& decl : program_.module(m).decls) {
        if (MayBeEntry(m, decl)) {
          roots.push_back(program_.Name(m, decl.name));
          has_entries_[m] = true;
        }
      }
    }
    Spread(std::move(roots));
  }

  // Marks what these functions lead to.
  // Names are followed and not declarations, so alternatives under conditions all count as called.
  void Spread(std::vector<NameId> work) {
    while (!work.empty()) {
      CheckStop();
      const NameId name = work.back();
      work.pop_back();
      if (called_[name.value]) {
        continue;
      }
      called_[name.value] = true;
      for (const ir::DeclId function : program_.Functions(name)) {
        const std::vector<NameId>& calls = mentions_.Of(function).calls;
        work.insert(work.end(), calls.begin(), calls.end());
      }
    }
  }

  // In a function that nobody calls, unused locals are not said as well.
  void CheckFunction(uint32_t m, ir::DeclId id) {
    const ir::ModuleView& view = program_.module(m);
    const ir::Decl& decl = program_.Get(id);
    const NameId name = program_.NameOf(id);
    if (!called_[name.value]) {
      if (has_entries_[m] && !IsSilent(program_.Text(name))) {
        Report(Code::kRpl7103, program_.NameLocation(id), program_.Text(name));
      }
      return;
    }
    const bool alternatives = program_.Functions(name).size() > 1;  // which share a signature
    for (const ir::Member& parameter : view.MembersOf(decl)) {
      if (!alternatives) {
        CheckLocal(m, ir::LocalId{parameter.value}, program_.Text(name));
      }
    }
    const InstRange range = program_.InstsOf(id);
    for (uint32_t row = range.begin; row < range.end && !IsFull(); ++row) {
      CheckStop();
      const ir::Inst& inst = view.insts[row];
      if (inst.kind == ir::InstKind::kVariable) {
        CheckLocal(m, inst.As<ir::VariableInst>().local, {});
      } else if (inst.kind == ir::InstKind::kAlias) {
        CheckLocal(m, inst.As<ir::AliasInst>().local, {});
      }
    }
  }

  // `function` is given for arguments.
  void CheckLocal(uint32_t m, ir::LocalId row, std::string_view function) {
    const ir::ModuleView& view = program_.module(m);
    const ir::Local& local = view.locals[row.value];
    const std::string_view name = view.Text(local.name);
    if (mentions_.Local(program_.Wide(m, row)) || IsSilent(name)) {
      return;
    }
    const ir::SpanId span =
        view.local_spans.empty() ? ir::SpanId{} : view.local_spans[row.value].name;
    const bool argument = local.kind == ir::LocalKind::kParameter;
    const Location where = program_.At(m, span);
    Diagnostic& made = Report(argument ? Code::kRpl7102 : Code::kRpl7101, where, name);
    made.arguments.emplace_back(argument ? "function" : "kind",
                                argument ? function : LocalKindText(local.kind));
    // The fix renames the declaration alone; nothing mentions the name.
    made.fix =
        Fix{.confidence = Confidence::kGuess, .where = where, .text = "_" + std::string(name)};
  }

  // --- options and settings ----------------------------------------------------------------------
  void CheckOptions(uint32_t m) {
    const ir::ModuleView& view = program_.module(m);
    for (uint32_t row = 0; row < view.options.size() && !IsFull(); ++row) {
      CheckStop();
      const ir::OptionId id{program_.bases(m).option + row};
      const NameId name = program_.NameOf(id);
      if (IsSilent(program_.Text(name))) {
        continue;
      }
      // Mentioned nowhere, or mentioned where nothing ever looks: two warnings.
      if (!mentions_.Value(name)) {
        Report(Code::kRpl7104, program_.NameLocation(id), program_.Text(name));
      } else if (!IsRead(name)) {
        Report(Code::kRpl7105, program_.NameLocation(id), program_.Text(name));
      }
    }
  }

  // By what every variant looks at, or by a function that may be called.
  // An option that is mentioned only in functions which nobody calls has no effect.
  bool IsRead(NameId option) {
    if (read_.empty()) {
      read_.assign(program_.name_count(), false);
      for (uint32_t row = 0; row < program_.decl_count(); ++row) {
        CheckStop();
        const ir::DeclId id{row};
        if (called_[program_.NameOf(id).value] || !has_entries_[program_.ModuleOf(id)]) {
          for (const NameId value : mentions_.Of(id).values) {
            read_[value.value] = true;
          }
        }
      }
    }
    return mentions_.ValueOfInterface(option) || read_[option.value];
  }

  // The value before never counts if the later one is active whenever it is.
  void CheckSettings(uint32_t m) {
    const ir::ModuleView& view = program_.module(m);
    FlatMap<uint64_t, uint32_t> last;  // by name and block: row
    for (uint32_t row = 0; row < view.decls.size() && !IsFull(); ++row) {
      CheckStop();
      const ir::Decl& decl = view.decls[row];
      if (decl.kind != ir::DeclKind::kSetting) {
        continue;
      }
      const NameId name = program_.Name(m, decl.name);
      // Of settings of one name and block the last active one counts.
      const auto [before, is_new] = last.Insert(uint64_t{name.value} << 32 | decl.aux, row);
      if (is_new) {
        continue;
      }
      const ir::DeclId earlier{program_.bases(m).decl + *before};
      if (decl.condition == ir::kTrue || decl.condition == program_.Get(earlier).condition) {
        const ir::DeclId id{program_.bases(m).decl + row};
        found_.push_back(Make(Code::kRpl7107, program_.NameLocation(id))
                             .With("name", program_.Text(name))
                             .Label(LabelKind::kEarlierHere, program_.NameLocation(earlier)));
      }
      *before = row;
    }
  }

  // --- blocks ------------------------------------------------------------------------------------
  // Functions for their locals, blocks for their fields.
  void CheckDecls(uint32_t m) {
    const ir::ModuleView& view = program_.module(m);
    for (uint32_t row = 0; row < view.decls.size() && !IsFull(); ++row) {
      CheckStop();
      const ir::DeclId id{program_.bases(m).decl + row};
      if (view.decls[row].kind == ir::DeclKind::kFunction) {
        CheckFunction(m, id);
      } else if (has_entries_[m] && IsOwnBlock(view.decls[row])) {
        CheckFields(m, id);
        CheckStructsOf(m, view.decls[row]);
      }
    }
  }

  // Nobody else's: pass and shared sets are filled for many programs.
  static bool IsOwnBlock(const ir::Decl& decl) {
    return decl.kind == ir::DeclKind::kPushConstant ||
           (decl.kind == ir::DeclKind::kBuffer &&
            (decl.set() == ir::ResourceSet::kMaterial || decl.set() == ir::ResourceSet::kObject));
  }

  // Fields are known by name alone, so a field counts as used if any struct has a field of this
  // name that is used.
  void CheckFields(uint32_t m, ir::DeclId id) {
    const ir::ModuleView& view = program_.module(m);
    const ir::Decl& decl = program_.Get(id);
    const uint32_t first = program_.bases(m).member + decl.first_member;
    const std::span<const ir::Member> members = view.MembersOf(decl);
    for (uint32_t i = 0; i < members.size() && !IsFull(); ++i) {
      const NameId name = program_.Name(m, members[i].name);
      const bool field = members[i].kind == ir::MemberKind::kField;
      // A field with a tag is filled by the engine, whatever the shader reads of it.
      if (!field || members[i].tags.valid() || mentions_.Member(name) ||
          IsSilent(program_.Text(name))) {
        continue;
      }
      Report(Code::kRpl7106, program_.NameLocation(ir::MemberId{first + i}), program_.Text(name))
          .arguments.insert(found_.back().arguments.end(),
                            {{"kind", DeclKindText(decl)}, {"owner", view.Text(decl.name)}});
    }
  }

  // The structs that a block holds, each once; those that code makes are filled by position.
  void CheckStructsOf(uint32_t m, const ir::Decl& block) {
    std::vector<std::pair<uint32_t, ir::TypeId>> work;
    const auto push_members = [&](uint32_t module, const ir::Decl& decl) {
      for (const ir::Member& member : program_.module(module).MembersOf(decl)) {
        if (member.kind == ir::MemberKind::kField) {
          work.emplace_back(module, member.type);
        }
      }
    };
    push_members(m, block);
    while (!work.empty()) {
      CheckStop();
      const auto [module, type] = work.back();
      work.pop_back();
      const ir::ModuleView& view = program_.module(module);
      const ir::Type* row = &view.types[type.value];
      while (row->kind == ir::TypeKind::kArray || row->kind == ir::TypeKind::kRuntimeArray) {
        row = &view.types[row->element];
      }
      if (row->kind != ir::TypeKind::kNamed) {
        continue;
      }
      const NameId name = program_.Name(module, ir::StringId{row->element});
      // By name, as a type names a struct; all alternatives are checked.
      for (const ir::DeclId id : program_.Structs(name)) {
        if (checked_.Insert(id.value, true).second) {
          const uint32_t owner = program_.ModuleOf(id);
          // Structs of other modules are for others as well.
          if (owner == m && !mentions_.Constructed(name)) {
            CheckFields(owner, id);
          }
          push_members(owner, program_.Get(id));
        }
      }
    }
  }

  const Program& program_;
  const Mentions mentions_;
  std::vector<NameId> entries_;
  std::vector<bool> called_;         // by NameId: functions that what may be an entry leads to
  std::vector<bool> has_entries_;    // by module
  std::vector<bool> read_;           // by NameId: values that such functions mention
  FlatMap<uint32_t, bool> checked_;  // structs, by DeclId
  std::vector<Diagnostic> found_;
};

}  // namespace

// Independent of options: nothing here is evaluated.
std::vector<Diagnostic> FindUnused(const Program& program, std::span<const EntryPoint> entries) {
  return UnusedFinder(program, entries).Run();
}

}  // namespace kiln::resolve
