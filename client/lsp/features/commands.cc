// SPDX-License-Identifier: MIT
// The command `kiln.chooseVariant`: which program and which values of options the editor shows. A
// question to the client has no state here: what was answered so far is in the arguments, which the
// client or the server sends again.
#include "client/lsp/features/commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/lsp/analysis/option_space.h"
#include "client/lsp/documents/languages.h"
#include "compiler/driver/option_text.h"

namespace kiln::lsp {
namespace {

constexpr std::string_view kChoose = "kiln.chooseVariant";
constexpr std::string_view kReset = "every option as the manifest has it";
constexpr std::string_view kProgram = "program ";
constexpr std::string_view kIs = " = ";  // between the name of an option and its value

// Nothing where the arguments name no document of a program that links.
std::optional<FileView> ViewIn(Session& session, const Json& arguments) {
  const std::optional<std::string> uri = TextAt(arguments, "uri");
  return uri.has_value() ? session.analysis.ViewOf(Documents::NameOf(*uri)) : std::nullopt;
}

// "on" of "on" or "\"on\"": values stand without quotes in arguments.
std::string Plain(const resolve::OptionSetting& setting) {
  return setting.kind == ir::OptionKind::kEnum ? setting.text : driver::ValueText(setting);
}

// The value in the variant of interest, be it chosen, of the manifest or the default.
resolve::OptionSetting Current(const FileView& file, Variant& variant, ir::OptionId option) {
  return SettingAt(file.program->program(), option, variant.values().bits[option.value]);
}

// The value is checked before it is kept. Analysis::InterestOf leaves out what does not fit, so a
// wrong choice would otherwise vanish without a word.
std::optional<RpcError> ChooseOption(Session& session, const FileView& file,
                                     const std::string& name, const std::string& value) {
  const resolve::Program& program = file.program->program();
  const ir::OptionId option = program.FindOption(name);
  if (!option.valid()) {
    return Failed(
        fmt::format("the program '{}' has no option '{}'", file.program->spec.name, name));
  }
  const resolve::OptionSetting setting = SettingOf(program, name, value);
  std::vector<Diagnostic> wrong;
  if (!resolve::CheckOption(program, setting, wrong).has_value()) {
    return Failed(wrong.empty() ? "no such value" : Message(wrong.front()));
  }
  session.analysis.Choose(file.program->spec, setting);
  return std::nullopt;
}

// "b" of "program b". "program = 3" is an option that is called so.
std::optional<std::string> ProgramIn(std::string_view title) {
  if (!title.starts_with(kProgram) || title.substr(kProgram.size() - 1).starts_with(kIs)) {
    return std::nullopt;
  }
  return std::string(title.substr(kProgram.size()));
}

// A lens carries the whole command, so that a click needs no second request to resolve it.
Json LensOf(const Range& range, std::string title, Json arguments) {
  return {{"range", JsonOf(range)},
          {"command",
           {{"title", std::move(title)},
            {"command", kChoose},
            {"arguments", Json::array({std::move(arguments)})}}}};
}

}  // namespace

Json CommandNames() { return Json::array({kChoose}); }

// A command that names a file and nothing that decides. With an option the value is missing,
// without one both are.
bool NeedsChoice(const Json& arguments) {
  const bool option = TextAt(arguments, "option").has_value();
  const bool value = TextAt(arguments, "value").has_value();
  return TextAt(arguments, "uri").has_value() && !FlagAt(arguments, "reset").value_or(false) &&
         !TextAt(arguments, "program").has_value() && !(option && value);
}

// Titles are the only thing that a client sends back, so each of them must be unique in its list.
std::optional<ChoiceList> ChoicesOf(Session& session, const Json& arguments) {
  const std::optional<FileView> file = ViewIn(session, arguments);
  if (!file.has_value()) {
    return std::nullopt;
  }
  const resolve::Program& program = file->program->program();
  const std::shared_ptr<Variant> variant = session.analysis.VariantOf(file->program);
  ChoiceList choice;
  // The option is chosen; what is left open is its value.
  if (const std::optional<std::string> name = TextAt(arguments, "option")) {
    const ir::OptionId option = program.FindOption(*name);
    if (!option.valid()) {
      return std::nullopt;
    }
    choice.question = fmt::format("Value of {}", *name);
    for (const resolve::OptionSetting& value :
         ValuesOf(program, option, file->program->spec.manifest)) {
      choice.titles.push_back(TextOf(value));
    }
    return choice;
  }
  // Nothing is chosen yet. The list has every option with its value of now, then the other programs
  // of the file, then the way back to the manifest. AddChoice reads the same titles back.
  choice.question = fmt::format("The variant of {} to look at", file->program->spec.name);
  // A client shows the titles in one list, and beyond some hundred nobody finds anything in it.
  // Options are cut first, then programs: the way back is always there.
  constexpr size_t kMaxTitles = 256;
  constexpr size_t kMaxOptions = 192;
  for (const ir::OptionId option : program.options_by_name()) {
    if (choice.titles.size() < kMaxOptions) {
      choice.titles.push_back(TextOf(Current(*file, *variant, option)));
    }
  }
  const std::string path = file->source().file().path;
  for (const ProgramSpecPtr& spec : session.analysis.workspace().ProgramsOf(path)) {
    if (spec->name != file->program->spec.name && choice.titles.size() + 1 < kMaxTitles) {
      choice.titles.push_back(fmt::format("{}{}", kProgram, spec->name));
    }
  }
  choice.titles.emplace_back(kReset);
  return choice;
}

void AddChoice(Session& session, const std::string& title, Json& arguments) {
  if (title == kReset) {
    arguments["reset"] = true;
    return;
  }
  if (const std::optional<std::string> program = ProgramIn(title)) {
    arguments["program"] = *program;
    return;
  }
  // A title is "name = value". The first of the two questions needs its name, the second one its
  // value, which is found by comparing titles, so that no value is parsed from a text.
  const std::string name = title.substr(0, title.find(kIs));
  if (!TextAt(arguments, "option").has_value()) {
    arguments["option"] = name;
    return;
  }
  const std::optional<FileView> file = ViewIn(session, arguments);
  const ir::OptionId option =
      file.has_value() ? file->program->program().FindOption(name) : ir::OptionId{};
  if (!option.valid()) {
    // ExecuteCommand then says that there is no such option, instead of asking the same question
    // for ever.
    arguments["value"] = "";
    return;
  }
  for (const resolve::OptionSetting& value :
       ValuesOf(file->program->program(), option, file->program->spec.manifest)) {
    if (TextOf(value) == title) {
      arguments["value"] = Plain(value);
    }
  }
}

// The arguments were made by this server for its own lenses, but a client may send anything.
Outcome ExecuteCommand(Session& session, const Json& params) {
  if (TextAt(params, "command") != kChoose) {
    return InvalidParams("there is no such command");
  }
  const Json* list = Find(params, "arguments");
  if (list == nullptr || !list->is_array() || list->size() != 1) {
    return InvalidParams("kiln.chooseVariant takes one object");
  }
  const Json& arguments = list->front();
  const std::optional<FileView> file = ViewIn(session, arguments);
  if (!file.has_value()) {
    return Failed("the file is part of no program that links");
  }
  const std::optional<std::string> option = TextAt(arguments, "option");
  const std::optional<std::string> value = TextAt(arguments, "value");
  const std::optional<std::string> program = TextAt(arguments, "program");
  if (FlagAt(arguments, "reset").value_or(false)) {
    session.analysis.ForgetChoice(file->program->spec);
  } else if (program.has_value()) {
    const std::string path = file->source().file().path;
    const std::vector<ProgramSpecPtr> specs = session.analysis.workspace().ProgramsOf(path);
    if (std::ranges::none_of(specs,
                             [&](const ProgramSpecPtr& spec) { return spec->name == *program; })) {
      return Failed(fmt::format("no program '{}' has this file", *program));
    }
    session.analysis.ChooseProgram(path, *program);
  } else if (option.has_value() && value.has_value()) {
    if (std::optional<RpcError> error = ChooseOption(session, *file, *option, *value)) {
      return *error;
    }
  } else {
    return Failed("nothing was chosen");
  }
  // The server asks the client to fetch lenses, hints and tokens again.
  session.variant_changed = true;
  return Json(nullptr);
}

// One lens above the file that says through which program it is looked at, and above each option
// its values: a click chooses one.
Outcome CodeLenses(Session& session, const Json& params) {
  constexpr size_t kMostValues = 8;  // more are chosen from a list
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& open = std::get<OpenFile>(read);
  const std::optional<FileView> file = session.analysis.ViewOf(open.path);
  Json lenses = Json::array();
  if (!file.has_value()) {
    return lenses;
  }
  const resolve::Program& program = file->program->program();
  const std::shared_ptr<Variant> variant = session.analysis.VariantOf(file->program);
  const size_t programs = session.analysis.workspace().ProgramsOf(open.path).size();
  lenses.push_back(
      LensOf({}, fmt::format("kiln: {} (of {} programs)", file->program->spec.name, programs),
             {{"uri", open.uri}}));
  const uint32_t base = program.bases(file->module).option;
  for (uint32_t i = 0; i < program.module(file->module).options.size(); ++i) {
    const ir::OptionId option{base + i};
    const Span name = program.NameLocation(option).bytes;
    const Range range = open.RangeOf(session, name);
    const resolve::OptionSetting now = Current(*file, *variant, option);
    const std::vector<resolve::OptionSetting> values =
        ValuesOf(program, option, file->program->spec.manifest);
    // One lens for each value where all of them fit above the option, else one that asks.
    const bool fits = values.size() <= kMostValues && values.size() > 1;
    if (!fits) {
      lenses.push_back(LensOf(range, TextOf(now), {{"uri", open.uri}, {"option", now.name}}));
      continue;
    }
    for (const resolve::OptionSetting& value : values) {
      lenses.push_back(LensOf(range, fmt::format("{} {}", value == now ? "●" : "○", Plain(value)),
                              {{"uri", open.uri}, {"option", now.name}, {"value", Plain(value)}}));
    }
  }
  return lenses;
}

}  // namespace kiln::lsp
