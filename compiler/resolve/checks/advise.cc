// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/advise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "compiler/base/text/closest_name.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/spellings.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/settings.h"
#include "compiler/ir/text/spelling.h"
#include "compiler/resolve/names/visible_names.h"

namespace kiln::resolve {
namespace {

// Types of version 1 and what version 2 adds to them: a file of version 1 is told what it would
// need.
constexpr auto kTypeNames = std::to_array<std::string_view>(
    {"f1", "f2", "f3", "f4", "u1", "u2", "u3", "u4", "s1", "s2", "s3", "s4", "f3x3", "f4x4"});
constexpr auto kTypeNames2 =
    std::to_array<std::string_view>({"b1", "b2", "b3", "b4", "h1", "h2", "h3", "h4"});

// The functions that sources may name; those behind them are of typed modules alone.
constexpr std::span kBuiltins =
    std::span(ir::kBuiltinFacts).first(static_cast<size_t>(ir::Builtin::kNMin));

// What only typed modules have is no advice for a source.
std::optional<ir::Builtin> BuiltinNamed(std::string_view name) {
  const std::optional<ir::Builtin> found = ir::FindBuiltin(name);
  return found.has_value() && ir::IsOfTypedModules(*found) ? std::nullopt : found;
}

bool IsIn(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Only whole names of types: `ParseLeaf` would take more than sources may write.
std::optional<ir::Type> TypeNamed(std::string_view text) {
  const bool known = IsIn(kTypeNames, text) || IsIn(kTypeNames2, text);
  return known ? ir::ParseLeaf(text) : std::nullopt;
}

// "floor" and "f3" of "floor_f3"; the whole name and nothing of others.
struct FamilyName {
  std::string_view family;
  std::string_view suffix;
};
// Names of functions have underscores of their own (`inverse_sqrt`), so the last part counts as a
// type only if it is one.
FamilyName SplitFamily(std::string_view name) {
  const size_t cut = name.rfind('_');
  const bool suffixed =
      cut != std::string_view::npos && TypeNamed(name.substr(cut + 1)).has_value();
  return suffixed ? FamilyName{name.substr(0, cut), name.substr(cut + 1)} : FamilyName{name, {}};
}

// The largest type of "f3, f3, f1" that the family exists for; empty if there is none.
// Most families take one type for all arguments or a scalar beside it, so the largest one is what
// the author meant.
std::string_view SuffixFor(ir::BuiltinTypes types, std::string_view arguments) {
  std::string_view best;
  while (!arguments.empty()) {
    const size_t comma = arguments.find(", ");
    const std::string_view text = arguments.substr(0, comma);
    arguments.remove_prefix(comma == std::string_view::npos ? arguments.size() : comma + 2);
    const std::optional<ir::Type> type = TypeNamed(text);
    if (type.has_value() && ir::ExistsFor(types, *type) &&
        (best.empty() || TypeNamed(best)->rows < type->rows)) {
      best = text;
    }
  }
  return best;
}

class Adviser {
 public:
  explicit Adviser(const Program& program) : program_(program) {}

  // Advice is looked for after everything was found, and only for what is shown: searching for the
  // nearest name costs more than most checks.
  void Run(Diagnostic& found) {
    if (!found.primary.known()) {
      return AdviseRequest(found);
    }
    switch (found.code) {
      case Code::kRpl6001:
        return AdviseName(found);
      case Code::kRpl5001:
        return AdviseFunction(found);
      case Code::kRpl3003:
        return AdviseConstant(found);
      case Code::kRpl3026:
        return AdviseEnumValue(found);
      case Code::kRpl4010:
      case Code::kRpl6056:
        return AdviseType(found);
      case Code::kRpl6007:
        return AdviseField(found);
      case Code::kRpl4031:
        return AdviseAliasStart(found);
      case Code::kRpl6010:
        return AdviseLetters(found);
      case Code::kRpl6011:
        return AdviseRange(found);
      case Code::kRpl7001:
        return AdviseSetting(found);
      case Code::kRpl5007:
        return AdviseStage(found);
      case Code::kRpl6044:
        return AdviseNoEffect(found);
      default:
        return;
    }
  }

 private:
  // A message without a place is about a name that the request has. There is no text to look at or
  // to replace, and neither words of other languages nor built-in functions are entry points.
  void AdviseRequest(Diagnostic& found) {
    if (found.code == Code::kRpl5001) {
      Search search(*this, Of(found, "name"));
      OfferFunctions(search);
      Suggest(found, search.best());
    } else if (found.code == Code::kRpl5007) {
      AdviseStage(found);
    }
  }

  static std::string_view Of(const Diagnostic& found, std::string_view argument) {
    const Argument* value = found.Find(argument);
    return value == nullptr ? std::string_view() : std::string_view(value->value);
  }
  static void Say(Diagnostic& found, std::string_view advice) {
    std::move(found).Note(NoteKind::kAdvice, {{"advice", advice}});
  }
  uint32_t VersionOf(const Diagnostic& found) const {
    return program_.module(found.primary.module).header.version;
  }

  // --- the nearest name --------------------------------------------------------------------------
  // All searches of one run share a limit of compared characters. A file of thousands of wrong
  // names would otherwise be compared with thousands of right ones.
  // The destructor adds what was compared, so that nested searches count once.
  class Search {
   public:
    Search(Adviser& adviser, std::string_view word) : adviser_(adviser), closest_(word) {}
    ~Search() { adviser_.compared_ += closest_.compared(); }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    void Offer(std::string_view name) {
      CheckStop();
      // Beyond the limit names are no longer offered; what was the best by then stays.
      if (adviser_.compared_ + closest_.compared() < kMostCompared) {
        closest_.Offer(name);
      }
    }
    std::string_view best() const { return closest_.best(); }

   private:
    Adviser& adviser_;
    ClosestName closest_;
  };

  // The whole primary span is the wrong word.
  static void Suggest(Diagnostic& found, std::string_view meant) {
    if (meant.empty()) {
      return;
    }
    std::move(found).Note(NoteKind::kSimilarName, {{"name", meant}});
    if (found.primary.known()) {
      found.fix =
          Fix{.confidence = Confidence::kGuess, .where = found.primary, .text = std::string(meant)};
    }
  }
  // The same, sure of it: a word of another language.
  static void Replace(Diagnostic& found, std::string_view text) {
    std::move(found).Replace(found.primary, text);
  }

  // Names of declarations in program order.
  template <class Kinds>
  void OfferDecls(Search& search, Kinds wanted) const {
    for (uint32_t m = 0; m < program_.modules().size(); ++m) {
      const ir::ModuleView& view = program_.module(m);
      for (const ir::Decl& decl : view.decls) {
        if (wanted(decl)) {
          search.Offer(view.Text(decl.name));
        }
      }
    }
  }
  void OfferFunctions(Search& search) const {
    OfferDecls(search, [](const ir::Decl& decl) { return decl.kind == ir::DeclKind::kFunction; });
  }
  void OfferOptions(Search& search) const {
    for (const ir::OptionId id : program_.options_by_name()) {
      search.Offer(program_.Text(program_.NameOf(id)));
    }
  }

  // --- values ------------------------------------------------------------------------------------
  void AdviseName(Diagnostic& found) {
    const std::string_view name = Of(found, "name");
    // Words of other languages come first: their replacement is known, and the nearest name would
    // be a guess.
    if (const Spelling* row = FindSpelling(SpellingPlace::kName, name)) {
      if (!row->replacement.empty()) {
        Replace(found, row->replacement);
      }
      return kiln::Advise(*row, VersionOf(found), found);
    }
    // A function without its parentheses.
    if (const std::optional<ir::Builtin> builtin = BuiltinNamed(name);
        builtin.has_value() && ir::FactsOf(*builtin).types == ir::BuiltinTypes::kNone) {
      return Replace(found, std::string(name) + " ()");
    }
    if (FindSpelling(SpellingPlace::kType, name) != nullptr || TypeNamed(name).has_value()) {
      return Say(found, "it is no value: types stand before names and before '{'");
    }
    const VisibleNames locals = LocalsAt(found);
    const ir::ModuleView& view = program_.module(found.primary.module);
    Search search(*this, name);
    // The innermost names are offered first, because the first of equally near names wins.
    for (size_t i = locals.visible.size(); i > 0; --i) {
      search.Offer(view.Text(view.locals[locals.visible[i - 1].value].name));
    }
    OfferDecls(search, [](const ir::Decl& decl) {
      return decl.kind != ir::DeclKind::kSetting && decl.kind != ir::DeclKind::kStruct &&
             decl.kind != ir::DeclKind::kFunction;
    });
    OfferOptions(search);
    // The name exists but not here; whoever wrote it before its declaration is told so rather than
    // offered another name.
    for (const ir::LocalId other : locals.others) {
      if (view.Text(view.locals[other.value].name) == name) {
        const ir::SpanId span =
            view.local_spans.empty() ? ir::SpanId{} : view.local_spans[other.value].name;
        std::move(found).Label(LabelKind::kDeclaredHere, program_.At(found.primary.module, span),
                               {{"name", name}});
        return Say(found, "a name is there from its declaration to the end of its scope");
      }
    }
    Suggest(found, search.best());
  }

  VisibleNames LocalsAt(const Diagnostic& found) const {
    const uint32_t inst =
        FindInst(program_, found.primary.module, found.primary.span_number, ir::InstKind::kNameRef);
    return inst == ir::kNoRow ? VisibleNames{} : NamesAt(program_, found.primary.module, inst);
  }

  // In a compile-time expression: an option, a constant, or a string without its quotes.
  void AdviseConstant(Diagnostic& found) {
    const std::string_view name = Of(found, "name");
    // A word that is a value of some option or setting was most likely meant as text.
    if (IsEnumValue(name) || IsSettingValue(name)) {
      return Replace(found, "\"" + std::string(name) + "\"");
    }
    Search search(*this, name);
    OfferOptions(search);
    OfferDecls(search, [](const ir::Decl& decl) { return decl.kind == ir::DeclKind::kConstant; });
    Suggest(found, search.best());
  }

  bool IsEnumValue(std::string_view text) const {
    return std::ranges::any_of(program_.options_by_name(), [&](ir::OptionId id) {
      const std::vector<std::string_view> values = ValuesOf(id);
      return IsIn(values, text);
    });
  }
  static bool IsSettingValue(std::string_view text) {
    return std::ranges::any_of(ir::AllSettings(),
                               [&](const ir::SettingFacts& row) { return IsIn(row.values, text); });
  }
  std::vector<std::string_view> ValuesOf(ir::OptionId id) const {
    const ir::ModuleView& view = program_.module(program_.ModuleOf(id));
    std::vector<std::string_view> values;
    for (const uint32_t value : view.List(program_.Get(id).values)) {
      values.push_back(view.Text(ir::StringId{value}));
    }
    return values;
  }

  void AdviseEnumValue(Diagnostic& found) {
    const ir::OptionId option = program_.FindOption(Of(found, "name"));
    if (!option.valid()) {
      return;
    }
    const std::string_view value = Of(found, "value");
    std::string known;
    Search search(*this, value);
    for (const std::string_view text : ValuesOf(option)) {
      // All values are listed besides the guess, as there are few of them.
      known += (known.empty() ? "'" : ", '") + std::string(text) + "'";
      search.Offer(text);
    }
    std::move(found).Note(NoteKind::kKnownValues, {{"values", known}});
    Suggest(found, search.best());
    // The place is that of the text with its quotes, so they belong into the replacement as well.
    if (found.fix.has_value()) {
      found.fix->text = "\"" + found.fix->text + "\"";
    }
  }

  // --- functions ---------------------------------------------------------------------------------
  void AdviseFunction(Diagnostic& found) {
    const std::string_view name = Of(found, "name");
    const std::string_view types = Of(found, "types");
    if (const Spelling* row = FindSpelling(SpellingPlace::kCall, name)) {
      AdviseCall(*row, types, found);
      return kiln::Advise(*row, VersionOf(found), found);
    }
    const Spelling* type = FindSpelling(SpellingPlace::kType, name);
    const NameId id = program_.FindName(name);
    if (type != nullptr || TypeNamed(name).has_value() ||
        (id.valid() && !program_.Structs(id).empty())) {
      return AdviseConstructor(type == nullptr ? name : type->replacement, type, found);
    }
    const FamilyName parts = SplitFamily(name);
    if (const std::optional<ir::Builtin> builtin = BuiltinNamed(parts.family)) {
      return AdviseFamily(*builtin, parts, types, found);
    }
    SuggestFunction(name, parts, types, found);
  }

  // A replacement for a whole family ends in `_T`, and the type comes from the arguments.
  void AdviseCall(const Spelling& row, std::string_view types, Diagnostic& found) const {
    if (!row.is_family()) {
      if (!row.replacement.empty()) {
        Replace(found, row.replacement);
      }
      return;
    }
    // The last two characters are "_T".
    const std::string_view family = row.replacement.substr(0, row.replacement.size() - 2);
    const std::string_view suffix = SuffixFor(ir::FactsOf(*BuiltinNamed(family)).types, types);
    if (suffix.empty()) {
      return Say(found, "write '" + std::string(row.replacement) + "' with the type for T");
    }
    Replace(found, std::string(family) + "_" + std::string(suffix));
  }

  // vec4 (…): another word, and braces. The call is the instruction whose callee the place is.
  void AdviseConstructor(std::string_view type, const Spelling* row, Diagnostic& found) const {
    if (row != nullptr) {
      kiln::Advise(*row, VersionOf(found), found);
    }
    if (type.empty()) {
      return;
    }
    Say(found, "constructors take braces: " + std::string(type) + " { ... }");
    // The fix has to change parentheses to braces around all arguments, and the instruction knows
    // where they end.
    const uint32_t inst = FindInst(program_, found.primary.module, found.primary.span_number,
                                   ir::InstKind::kNameCall);
    if (inst != ir::kNoRow) {
      const ir::SpanId main = program_.module(found.primary.module).inst_spans[inst].main;
      found.fix = Fix{.form = Fix::Form::kBraces,
                      .where = program_.At(found.primary.module, main),
                      .text = std::string(type)};
    }
  }

  // The family exists: its suffix is missing or wrong, or the file is of version 1.
  void AdviseFamily(ir::Builtin builtin, const FamilyName& parts, std::string_view types,
                    Diagnostic& found) const {
    const ir::BuiltinFacts& facts = ir::FactsOf(builtin);
    if (facts.types == ir::BuiltinTypes::kNone) {
      return parts.suffix.empty() ? Say(found, kNeedsVersion2) : Replace(found, parts.family);
    }
    if (!parts.suffix.empty() && ir::ExistsFor(facts.types, *TypeNamed(parts.suffix))) {
      return Say(found, kNeedsVersion2);
    }
    const std::string_view suffix = SuffixFor(facts.types, types);
    const std::string family(parts.family);
    if (!suffix.empty()) {
      return Replace(found, family + "_" + std::string(suffix));
    }
    Say(found, "write '" + family + "_T' with the type for T: " + KnownSuffixes(facts.types));
  }

  static std::string KnownSuffixes(ir::BuiltinTypes types) {
    std::string text;
    for (const std::string_view name : kTypeNames) {
      if (ir::ExistsFor(types, *TypeNamed(name))) {
        text += (text.empty() ? "" : ", ") + std::string(name);
      }
    }
    return text;
  }

  void SuggestFunction(std::string_view name, const FamilyName& parts, std::string_view types,
                       Diagnostic& found) {
    // Whole names are tried before families: a near function of the program is more likely than a
    // built-in one.
    Search whole(*this, name);
    OfferFunctions(whole);
    for (const ir::BuiltinFacts& facts : kBuiltins) {
      if (facts.types == ir::BuiltinTypes::kNone) {
        whole.Offer(facts.name);
      }
    }
    if (!whole.best().empty()) {
      return Suggest(found, whole.best());
    }
    Search families(*this, parts.family);
    for (const ir::BuiltinFacts& facts : kBuiltins) {
      if (facts.types != ir::BuiltinTypes::kNone) {
        families.Offer(facts.name);
      }
    }
    if (families.best().empty()) {
      return;
    }
    const ir::BuiltinTypes exists = ir::FactsOf(*BuiltinNamed(families.best())).types;
    const bool fits = !parts.suffix.empty() && ir::ExistsFor(exists, *TypeNamed(parts.suffix));
    const std::string_view suffix = fits ? parts.suffix : SuffixFor(exists, types);
    const std::string meant(families.best());
    Suggest(found, suffix.empty() ? meant + "_T" : meant + "_" + std::string(suffix));
    if (suffix.empty()) {
      found.fix.reset();  // T stands for a type
    }
  }

  // --- types, fields, components -----------------------------------------------------------------
  void AdviseType(Diagnostic& found) {
    const std::string_view name = Of(found, "type");
    if (const Spelling* row = FindSpelling(SpellingPlace::kType, name)) {
      if (!row->replacement.empty()) {
        Replace(found, row->replacement);
      }
      return kiln::Advise(*row, VersionOf(found), found);
    }
    if (IsIn(kTypeNames2, name)) {
      return Say(found, kNeedsVersion2);
    }
    Search search(*this, name);
    OfferDecls(search, [](const ir::Decl& decl) { return decl.kind == ir::DeclKind::kStruct; });
    for (const std::string_view type : kTypeNames) {
      search.Offer(type);
    }
    // Structs of the program were offered first and win over types that are equally near.
    Suggest(found, search.best());
  }

  void OfferFields(Search& search, std::string_view owner) const {
    const NameId id = program_.FindName(owner);
    if (!id.valid()) {
      return;
    }
    // The owner of the field is known by its name only, so all blocks and structs of this name
    // offer their fields.
    for (const std::span<const ir::DeclId> owners : {program_.Globals(id), program_.Structs(id)}) {
      for (const ir::DeclId decl : owners) {
        const ir::ModuleView& view = program_.module(program_.ModuleOf(decl));
        for (const ir::Member& member : view.MembersOf(program_.Get(decl))) {
          search.Offer(view.Text(member.name));
        }
      }
    }
  }

  void AdviseField(Diagnostic& found) {
    Search search(*this, Of(found, "name"));
    OfferFields(search, Of(found, "owner"));
    Suggest(found, search.best());
  }

  void AdviseAliasStart(Diagnostic& found) {
    Search search(*this, Of(found, "text"));
    OfferFields(search, Of(found, "owner"));
    Suggest(found, search.best());
  }

  static void AdviseLetters(Diagnostic& found) {
    std::string letters(Of(found, "text"));
    const Spelling* row = FindLetters(letters);
    if (row == nullptr) {
      return Say(found, "the letters are x, y, z and w");
    }
    for (char& letter : letters) {
      // Letters of colours and texture coordinates have a letter of xyzw at the same place.
      letter = "xyzw"[row->text.find(letter)];
    }
    Replace(found, letters);
    kiln::Advise(*row, 2, found);
  }

  static void AdviseRange(Diagnostic& found) {
    const std::optional<ir::Type> type = TypeNamed(Of(found, "type"));
    if (!type.has_value()) {
      return;
    }
    const size_t count = type->kind == ir::TypeKind::kMatrix ? type->columns : type->rows;
    std::string letters;
    for (const char letter : std::string_view("xyzw").substr(0, count)) {
      letters += (letters.empty() ? "'" : ", '") + std::string(1, letter) + "'";
    }
    std::move(found).Note(NoteKind::kAccepted, {{"accepted", letters}});
  }

  // --- settings, stages, statements --------------------------------------------------------------
  void AdviseSetting(Diagnostic& found) {
    Search search(*this, Of(found, "name"));
    // Settings of the other pipeline would be as wrong as what was written.
    const bool compute = program_.pipeline() == ir::PipelineType::kCompute;
    for (const ir::SettingFacts& row : ir::AllSettings()) {
      if ((row.scope == ir::SettingScope::kCompute) == compute) {
        search.Offer(row.name);
      }
    }
    Suggest(found, search.best());
  }

  void AdviseStage(Diagnostic& found) const {
    const bool compute = program_.pipeline() == ir::PipelineType::kCompute;
    std::move(found).Note(NoteKind::kKnownValues,
                          {{"values", compute ? "'compute'" : "'vertex', 'fragment'"}});
  }

  void AdviseNoEffect(Diagnostic& found) const {
    const std::string_view text = Of(found, "text");
    // The text is the whole expression; its beginning tells which mark of another language it is.
    const Spelling* row = FindSpelling(SpellingPlace::kMark, text.substr(0, 2));
    if (row != nullptr) {
      kiln::Advise(*row, VersionOf(found), found);
    }
  }

  static constexpr std::string_view kNeedsVersion2 = "it needs 'rpl 2;' at the start of the file";

  const Program& program_;
  size_t compared_ = 0;
};

}  // namespace

void Advise(const Program& program, std::vector<Diagnostic>& diagnostics) {
  Adviser adviser(program);
  for (Diagnostic& found : diagnostics) {
    adviser.Run(found);
  }
}

}  // namespace kiln::resolve
