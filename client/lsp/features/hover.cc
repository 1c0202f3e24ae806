// SPDX-License-Identifier: MIT
// textDocument/hover: what a name is, what it holds, where it lies, and in which variants.
#include "client/lsp/features/hover.h"

#include <fmt/format.h>

#include "client/lsp/analysis/aliveness.h"
#include "client/lsp/analysis/option_space.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/features/builtin_text.h"
#include "client/lsp/manifest/keys.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/driver/option_text.h"

namespace kiln::lsp {
namespace {

// Code first, then paragraphs.
struct HoverText {
  std::string code;
  std::vector<std::string> paragraphs;

  void Add(std::string paragraph) {
    if (!paragraph.empty()) {
      paragraphs.push_back(std::move(paragraph));
    }
  }
};

// Code is fenced where the client reads Markdown; in plain text it stands by itself.
Json HoverJson(const Session& session, const HoverText& text, const Range& range) {
  std::string value =
      session.abilities.markdown ? fmt::format("```rpl\n{}\n```", text.code) : text.code;
  for (const std::string& paragraph : text.paragraphs) {
    value += "\n\n" + paragraph;
  }
  return {{"contents",
           {{"kind", session.abilities.markdown ? "markdown" : "plaintext"}, {"value", value}}},
          {"range", lsp::JsonOf(range)}};
}

// Nothing that is not known is printed: a block that nothing reaches has a size, but no set.
std::string PlaceText(const BlockPlace& place) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (place.set.has_value()) {
    add(fmt::format("set {}", *place.set));
  }
  if (place.binding.has_value()) {
    add(fmt::format("binding {}", *place.binding));
  }
  if (place.size > 0) {
    add(fmt::format("{} bytes", place.size));
  }
  if (!place.rules.empty()) {
    add(place.rules);
  }
  return text;
}

std::string FieldText(const FieldPlace& field) {
  std::string text = fmt::format("type {}", field.type);
  if (field.location.has_value()) {
    text += fmt::format(", location {}", *field.location);
  }
  if (field.offset.has_value()) {
    text += fmt::format(", offset {}", *field.offset);
  }
  if (field.size > 0) {
    text += fmt::format(", size {}", field.size);
  }
  if (field.padding > 0) {
    text += fmt::format(", {} bytes of padding behind it", field.padding);
  }
  return text;
}

// The first of the declarations of a name that is there in the variant; else the first.
// Declarations of one name are alternatives, of which a variant has one at most. Where it has none,
// the first one is described, with a sentence that it is not there.
struct GlobalDecl {
  ir::DeclId id{};
  bool live = false;
};
GlobalDecl FindGlobal(const LinkedSources& program, Variant& variant, resolve::NameId name) {
  const resolve::Program& linked = program.program();
  GlobalDecl first;
  // All four tables are asked, because one name may be a function under one condition and a
  // constant under another.
  for (const std::span<const ir::DeclId> all : {linked.Functions(name), linked.Structs(name),
                                                linked.Constants(name), linked.Globals(name)}) {
    for (const ir::DeclId id : all) {
      if (variant.Holds(linked.ModuleOf(id), linked.Get(id).condition) == true) {
        return {.id = id, .live = true};
      }
      first.id = first.id.valid() ? first.id : id;
    }
  }
  return first;
}

void DescribeOption(const FileView& file, Variant& variant, ir::OptionId option, HoverText& text) {
  const resolve::Program& program = file.program->program();
  const Location at = program.NameLocation(option);
  const Source& source = file.program->source(at.module);
  if (const rpl::Decl* decl = DeclNamedAt(source, at.bytes.begin)) {
    text.code = OneLine(source, decl->span);
    text.Add(CommentAbove(source, decl->span.begin));
  }
  const resolve::OptionSetting now =
      SettingAt(program, option, variant.values().bits[option.value]);
  text.Add(fmt::format("In the variant you look at: {}.", driver::ValueText(now)));
}

// The head of the declaration as code, the comment above it, then what the variant adds: value,
// place and fields.
void DescribeDecl(const FileView& file, Variant& variant, const GlobalDecl& found,
                  HoverText& text) {
  const resolve::Program& program = file.program->program();
  const Source& source = file.program->source(program.ModuleOf(found.id));
  const Location at = program.NameLocation(found.id);
  if (const rpl::Decl* decl = DeclNamedAt(source, at.bytes.begin)) {
    text.code = HeadText(source, *decl);
    text.Add(CommentAbove(source, decl->span.begin));
  }
  if (program.Get(found.id).kind == ir::DeclKind::kConstant) {
    if (const std::optional<std::string> value = variant.ConstantText(found.id)) {
      text.Add(fmt::format("In the variant you look at: {}.", *value));
    }
  }
  // Sizes and offsets are those of the variant that one looks at, and absent if the variant has an
  // error.
  if (const std::optional<BlockPlace> place = variant.PlaceOf(found.id)) {
    text.Add(PlaceText(*place));
    std::string fields;
    for (const FieldPlace& field : place->fields) {
      if (field.offset.has_value()) {
        const resolve::NameId name =
            program.Name(program.ModuleOf(field.member), program.Get(field.member).name);
        // Two spaces before a line end are a line break of Markdown.
        fields += fmt::format("{}{}: {}", fields.empty() ? "" : "  \n", program.Text(name),
                              FieldText(field));
      }
    }
    text.Add(fields);
  }
  if (!found.live) {
    text.Add("Not there in the variant you look at.");
  }
}

void DescribeMember(const FileView& file, Variant& variant, const Occurrence& at, HoverText& text) {
  const resolve::Program& program = file.program->program();
  const Source& source = file.program->source(program.ModuleOf(at.member));
  const Location name = program.NameLocation(at.member);
  if (const rpl::Field* field = FieldNamedAt(source, name.bytes.begin)) {
    text.code = fmt::format("{}  // of {}", OneLine(source, field->span),
                            program.Text(program.NameOf(at.decl)));
    text.Add(CommentAbove(source, field->span.begin));
  }
  if (const std::optional<BlockPlace> place = variant.PlaceOf(at.decl)) {
    for (const FieldPlace& field : place->fields) {
      if (field.member == at.member) {
        text.Add(FieldText(field));
      }
    }
  }
}

void DescribeLocal(const FileView& file, Variant& variant, const Occurrence& at, HoverText& text) {
  // A local is told by the place of its declaration: an argument by its field, a variable by the
  // statement that begins with its name's token.
  const ir::ModuleView& view = file.program->program().module(file.module);
  const Span name = view.SpanOf(view.local_spans[at.local.value].name);
  const Source& source = file.source();
  if (const rpl::Field* argument = FieldNamedAt(source, name.begin)) {
    text.code = OneLine(source, argument->span);
  } else {
    for (const rpl::Stmt& stmt : source.ast().stmts) {
      if (stmt.token != rpl::kNone && SpanOfToken(source, stmt.token).begin == name.begin) {
        text.code = OneLine(source, stmt.span);
      }
    }
  }
  if (const std::optional<std::string> type = variant.TypeAt(file.module, at.bytes)) {
    text.Add(fmt::format("type {}", *type));
  }
}

// A function of a family is described with its types, all others by their own rule.
void DescribeBuiltinName(std::string_view name, HoverText& text) {
  const std::optional<BuiltinText> found = DescribeBuiltin(name);
  if (!found.has_value()) {
    return;
  }
  text.code = found->signature;
  text.Add(found->stage.empty() ? "Inbuilt function."
                                : fmt::format("Inbuilt function of the {} stage.", found->stage));
  text.Add(found->version > 1 ? "Needs `rpl 2;`." : "");
  text.Add(found->example.empty() ? "" : fmt::format("`{}`", found->example));
}

void DescribeSettingName(std::string_view name, HoverText& text) {
  if (const ir::SettingFacts* facts = ir::FindSetting(name)) {
    text.code = fmt::format("setting {}", name);
    text.Add(DescribeSetting(*facts));
    text.Add(facts->scope == ir::SettingScope::kOutput    ? "Of one colour output: needs `block N`."
             : facts->scope == ir::SettingScope::kCompute ? "Of compute pipelines."
                                                          : "");
  }
}

// What is under the cursor, by the kind of its name. An empty code: nothing can be said.
HoverText Describe(const FileView& file, Variant& variant, const Names& names,
                   const Occurrence& at) {
  HoverText text;
  const resolve::Program& program = file.program->program();
  const std::string& key = names.Key(at.key);
  // The first letter of a key is its kind (see Names), so no table is asked twice.
  const std::string_view name = std::string_view(key).substr(2);
  if (key.starts_with("b:")) {
    DescribeBuiltinName(name, text);
  } else if (key.starts_with("s:")) {
    DescribeSettingName(name, text);
  } else if (key.starts_with("m:")) {
    DescribeMember(file, variant, at, text);
  } else if (key.starts_with("l:")) {
    DescribeLocal(file, variant, at, text);
  } else {
    const resolve::NameId id = program.FindName(name);
    if (id.valid() && program.Option(id).valid()) {
      DescribeOption(file, variant, program.Option(id), text);
    } else if (id.valid()) {
      const GlobalDecl found = FindGlobal(*file.program, variant, id);
      if (found.id.valid()) {
        DescribeDecl(file, variant, found, text);
      }
    }
  }
  return text;
}

}  // namespace

// Everything is told of one variant, the one that one looks at; the counts at the end are of all.
Outcome Hover(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const Spot& spot = std::get<Spot>(read);
  if (LanguageOf(spot.file.path) == DocumentLanguage::kManifest) {
    const std::optional<ManifestKeyAt> key = KeyAt(spot.file.document->text(), spot.offset);
    return key.has_value() && key->row != nullptr
               ? HoverJson(session,
                           {.code = fmt::format("{}", key->row->key),
                            .paragraphs = {std::string(key->row->text)}},
                           spot.file.RangeOf(session, key->bytes))
               : Json(nullptr);
  }
  if (IsTyped(spot.file.path)) {
    return HoverInModule(session, spot);
  }
  const std::optional<FileView> file = session.analysis.ViewOf(spot.file.path);
  if (!file.has_value()) {
    return Json(nullptr);
  }
  const std::shared_ptr<Variant> variant = session.analysis.VariantOf(file->program);
  const std::shared_ptr<const Names> names = session.analysis.NamesOf(file->program);
  const Occurrence* at = names->At(file->module, spot.offset);
  // Asked for even if no name is under the cursor: a hover over any token of a conditional part
  // says when that part is there.
  const std::optional<Aliveness> alive = AlivenessAt(*file, *variant, spot.offset);
  HoverText text;
  Range range = spot.file.RangeOf(session, {.begin = spot.offset, .end = spot.offset});
  if (at != nullptr) {
    text = Describe(*file, *variant, *names, *at);
    range = spot.file.RangeOf(session, at->bytes);
  }
  // Without a name the hover is about the innermost text that has a condition.
  if (text.code.empty() && alive.has_value()) {
    text.code = fmt::format("conditional ({})", alive->condition);
  }
  if (text.code.empty()) {
    return Json(nullptr);
  }
  if (alive.has_value()) {
    // Without counts (see Count in aliveness.cc) the condition alone is told.
    text.Add(alive->total.empty() ? fmt::format("There when {}.", alive->condition)
                                  : fmt::format("There in {} of {} variants, when {}.",
                                                alive->alive, alive->total, alive->condition));
    text.Add(alive->in_interest ? "" : "Off in the variant you look at.");
  }
  return HoverJson(session, text, range);
}

}  // namespace kiln::lsp
