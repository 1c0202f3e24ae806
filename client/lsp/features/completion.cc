// SPDX-License-Identifier: MIT
// textDocument/completion: what can stand at the cursor, by where it is (CursorAt).
#include "client/lsp/features/completion.h"

#include <array>

#include <fmt/format.h>

#include "client/lsp/analysis/cursor.h"
#include "client/lsp/analysis/option_space.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/features/builtin_text.h"
#include "client/lsp/features/scope.h"
#include "client/lsp/manifest/keys.h"
#include "client/lsp/modules/module_completion.h"

namespace kiln::lsp {
namespace {

// CompletionItemKind of the protocol.
enum class ItemKind : int {
  kFunction = 3,
  kField = 5,
  kVariable = 6,
  kModule = 9,
  kProperty = 10,
  kValue = 12,
  kKeyword = 14,
  kEnumMember = 20,
  kConstant = 21,
  kStruct = 22,
  kType = 25,
};

struct ItemText {
  std::string label;
  std::string detail;
  std::string documentation;
  std::string snippet;  // empty: the label
};

class Items {
 public:
  Items(const Session& session, const Range& word) : session_(session), word_(word) {}

  // `rank` orders what the client finds equally good: 0 before 9. One item of the protocol. Clients
  // filter by label and sort by `sortText`.
  void Add(ItemKind kind, const ItemText& text, int rank) {
    const bool snippet = !text.snippet.empty() && session_.abilities.snippets;
    Json item{
        {"label", text.label},
        {"kind", static_cast<int>(kind)},
        // The rank is one digit, so comparing texts orders by rank first. The edit replaces what is
        // typed of the word, which clients would otherwise each delimit in their own way.
        {"sortText", fmt::format("{}{}", rank, text.label)},
        {"textEdit", {{"range", JsonOf(word_)}, {"newText", snippet ? text.snippet : text.label}}}};
    if (snippet) {
      item["insertTextFormat"] = 2;
    }
    if (!text.detail.empty()) {
      item["detail"] = text.detail;
    }
    if (!text.documentation.empty()) {
      item["documentation"] = {{"kind", "markdown"}, {"value", text.documentation}};
    }
    items_.push_back(std::move(item));
  }
  void AddWords(std::initializer_list<std::string_view> words, int rank) {
    for (const std::string_view word : words) {
      Add(ItemKind::kKeyword, {.label = std::string(word)}, rank);
    }
  }
  // The list has all names of the place, so the editor filters it by itself while the word grows.
  Json Take() && { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

 private:
  const Session& session_;
  const Range word_;
  Json items_ = Json::array();
};

// The names come from the tables of the compiler, with the version of RPL that has them; nothing of
// the language is listed twice. Version: the first version of RPL that has the type.
constexpr auto kTypes = std::to_array<std::pair<std::string_view, int>>({
#define KILN_TYPE(enumerator, text, version, make) {text, version},
#include "compiler/front/rpl/tokens.def"
});
constexpr auto kPackFormats = std::to_array<std::pair<std::string_view, std::string_view>>({
#define KILN_PACK_FORMAT(name, types, values) {name, values},
#include "compiler/front/rpl/formats.def"
});

class Completion {
 public:
  Completion(Session& session, const FileView& file, uint32_t offset, const Cursor& cursor,
             Items& items)
      : session_(session), file_(file), offset_(offset), cursor_(cursor), items_(items) {}

  // No default: a new place must say here what can stand in it.
  void Run() {
    switch (cursor_.place) {
      case CursorPlace::kNothing:
        return;
      case CursorPlace::kDeclaration:
        return Declarations();
      case CursorPlace::kOptionKind:
        return items_.AddWords({"flag", "uint", "sint", "float", "enum"}, 0);
      case CursorPlace::kResource:
        return Resources();
      case CursorPlace::kSettingName:
        return Settings();
      case CursorPlace::kSettingValue:
        return SettingValueItems();
      case CursorPlace::kField:
        items_.AddWords({"conditional", "meta", "pack", "alias", "in", "out"}, 1);
        return Types(0);
      case CursorPlace::kPackFormat:
        for (const auto& [format, values] : kPackFormats) {
          items_.Add(ItemKind::kValue,
                     {.label = std::string(format), .detail = std::string(values)}, 0);
        }
        return;
      case CursorPlace::kMember:
        return Members();
      case CursorPlace::kEnumerator:
        return Enumerators();
      case CursorPlace::kCondition:
        return Globals(/*code=*/false);
      // Anything that an expression can begin with can begin a statement. Keywords rank behind
      // names, since a statement most often begins with one.
      case CursorPlace::kStatement:
        items_.AddWords(
            {"if", "for", "while", "return", "break", "continue", "conditional", "alias", "else"},
            3);
        Types(4);
        return Expression();
      case CursorPlace::kExpression:
        Types(4);
        return Expression();
    }
  }

 private:
  uint32_t version() const { return file_.source().ast().version; }

  void Declarations() {
    items_.AddWords({"global", "instance", "constant", "setting", "struct", "push_constant",
                     "set_pass", "set_material", "set_object", "set_shared",
                     "vertex_attribute_container", "instanced_attribute_container",
                     "state_container", "color_output_container", "conditional", "void"},
                    0);
    Types(1);
  }

  // Images and samplers are types, buffers are words; both can stand behind the name of a set.
  void Resources() {
    items_.AddWords({"uniform_buffer", "read_only_storage_buffer"}, 0);
    if (version() > 1) {
      items_.AddWords({"read_write_storage_buffer", "storage_image_2d", "storage_image_3d",
                       "storage_image_2d_array"},
                      0);
    }
    for (const auto& [type, since] : kTypes) {
      const bool is_resource = type == "sampler" || type.starts_with("image_");
      if (is_resource && static_cast<uint32_t>(since) <= version()) {
        items_.Add(ItemKind::kType, {.label = std::string(type)}, 1);
      }
    }
  }

  // Structs are types as well, whatever module of the program declares them.
  void Types(int rank) {
    for (const auto& [type, since] : kTypes) {
      if (static_cast<uint32_t>(since) <= version()) {
        items_.Add(ItemKind::kType, {.label = std::string(type)}, rank);
      }
    }
    for (const VisibleName& name : GlobalNames(file_)) {
      if (name.kind == VisibleName::Kind::kStruct) {
        items_.Add(ItemKind::kStruct, {.label = name.name, .detail = name.detail}, rank);
      }
    }
  }

  void Settings() {
    for (const ir::SettingFacts& facts : ir::AllSettings()) {
      const std::string name(facts.name);
      const std::vector<std::string> values = SettingValues(facts);
      // Settings of one colour output name their output. The snippet leads through both holes.
      const bool output = facts.scope == ir::SettingScope::kOutput;
      items_.Add(ItemKind::kProperty,
                 {.label = name,
                  .detail = values.empty() ? "" : values.front(),
                  .documentation = DescribeSetting(facts),
                  .snippet = fmt::format("{}{} = ${{1}};", name, output ? " block ${2:0}" : "")},
                 0);
    }
  }

  void SettingValueItems() {
    const ir::SettingFacts* facts = ir::FindSetting(cursor_.name);
    if (facts == nullptr) {
      return Globals(/*code=*/false);
    }
    for (std::string value : SettingValues(*facts)) {
      // Inside of quotes only texts fit, without the quotes that are there already.
      if (cursor_.quoted) {
        if (!value.starts_with('"')) {
          continue;
        }
        value = value.substr(1, value.size() - 2);
      }
      items_.Add(ItemKind::kEnumMember, {.label = value}, 0);
    }
    if (!cursor_.quoted) {
      Globals(/*code=*/false);
    }
  }

  void Members() {
    // The text in front of the '.' is not in the tree, since mending blanked the statement. So its
    // chain of names is looked up by words and places.
    const std::shared_ptr<const Names> names = session_.analysis.NamesOf(file_.program);
    const ValueShape shape = ShapeOfChain(file_, names->owners(), offset_, cursor_.chain);
    for (const MemberName& member : MembersOf(file_, shape)) {
      items_.Add(member.field ? ItemKind::kField : ItemKind::kValue,
                 {.label = member.name, .detail = member.detail}, member.field ? 0 : 1);
    }
  }

  // In front of the quotes an option that is no enumeration is compared with a number or flag,
  // which any expression may be.
  void Enumerators() {
    const resolve::Program& program = file_.program->program();
    const ir::OptionId option = program.FindOption(cursor_.name);
    if (!option.valid() || program.Get(option).kind != ir::OptionKind::kEnum) {
      if (!cursor_.quoted) {
        Expression();
      }
      return;
    }
    for (const resolve::OptionSetting& value :
         ValuesOf(program, option, file_.program->spec.manifest)) {
      items_.Add(ItemKind::kEnumMember,
                 {.label = cursor_.quoted ? value.text : fmt::format("\"{}\"", value.text),
                  .detail = cursor_.name},
                 0);
    }
  }

  // Names of the program: what conditions know, or all that code does.
  void Globals(bool code) {
    for (const VisibleName& name : GlobalNames(file_)) {
      using enum VisibleName::Kind;
      if (name.kind == kOption || name.kind == kConstant) {
        items_.Add(ItemKind::kConstant, {.label = name.name, .detail = name.detail}, code ? 2 : 0);
      } else if (code && name.kind == kFunction) {
        items_.Add(ItemKind::kFunction,
                   {.label = name.name,
                    .detail = name.detail,
                    .documentation = {},
                    .snippet = name.name + " (${1})"},
                   1);
      } else if (code && name.kind == kBlock) {
        items_.Add(ItemKind::kModule, {.label = name.name, .detail = name.detail}, 1);
      }
    }
  }

  void Expression() {
    for (const VisibleName& name : LocalNames(file_, offset_)) {
      items_.Add(ItemKind::kVariable, {.label = name.name, .detail = name.detail}, 0);
    }
    Globals(/*code=*/true);
    // The descriptions depend on the version of the language alone, so they are made once for each
    // version and session, and not for each key that is pressed.
    std::vector<BuiltinText>& builtins = session_.builtins[version()];
    if (builtins.empty()) {
      builtins = AllBuiltins(version());
    }
    for (const BuiltinText& text : builtins) {
      items_.Add(ItemKind::kFunction,
                 {.label = text.name,
                  .detail = text.signature,
                  .documentation = text.example.empty() ? "" : "`" + text.example + "`",
                  .snippet = text.name + " (${1})"},
                 5);
    }
  }

  Session& session_;
  const FileView& file_;
  const uint32_t offset_;
  const Cursor& cursor_;
  Items& items_;
};

// A manifest needs no parser here: the table that the line is in and the word before the cursor
// decide, so it works while the text is no TOML.
Json CompleteManifest(const Session& session, const Spot& spot) {
  const std::string& text = spot.file.document->text();
  uint32_t begin = spot.offset;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                       text[begin - 1] == '_')) {
    --begin;
  }
  Items items(session, spot.file.RangeOf(session, {.begin = begin, .end = spot.offset}));
  // Keys of the table that the cursor is in; in a header names of tables, which are the rows
  // without a table of their own.
  if (IsAtKey(text, spot.offset)) {
    const std::string table = TableAt(text, spot.offset);
    for (const ManifestKeyRow& row : ManifestKeys()) {
      if (row.table == table) {
        items.Add(ItemKind::kProperty,
                  {.label = std::string(row.key),
                   .detail = {},
                   .documentation = std::string(row.text),
                   .snippet = std::string(row.key) + " = ${1}"},
                  0);
      }
    }
  } else if (begin > 0 && text[begin - 1] == '[') {
    for (const ManifestKeyRow& row : ManifestKeys()) {
      if (row.table.empty()) {
        items.Add(
            ItemKind::kModule,
            {.label = std::string(row.key), .detail = {}, .documentation = std::string(row.text)},
            0);
      }
    }
  }
  return std::move(items).Take();
}

}  // namespace

// The order of the questions is that of cost: the manifest needs no program, and a program is
// linked at most once for a text.
Outcome Complete(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const Spot& spot = std::get<Spot>(read);
  if (LanguageOf(spot.file.path) == DocumentLanguage::kManifest) {
    return CompleteManifest(session, spot);
  }
  if (IsTyped(spot.file.path)) {
    return CompleteInModule(session, spot);
  }
  // No answer at all for a file of no program that links; an empty list would close the client's
  // own word list.
  const std::optional<FileView> file = session.analysis.ViewOf(spot.file.path);
  if (!file.has_value()) {
    return Json(nullptr);
  }
  const Cursor cursor = CursorAt(file->source(), spot.offset);
  Items items(session, spot.file.RangeOf(session, cursor.word));
  Completion(session, *file, spot.offset, cursor, items).Run();
  return std::move(items).Take();
}

}  // namespace kiln::lsp
