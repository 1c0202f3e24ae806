// SPDX-License-Identifier: MIT
// textDocument/rename and prepareRename: a name in all modules of all programs that link.
//
// What a rename may break is not guessed: it is done on copies of the texts, which are parsed and
// linked again, and every name of every program must stand for what it stood for. If one does not,
// or a program has an error that it did not have, the rename is refused.
#include "client/lsp/features/rename.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/analysis/space_check.h"
#include "client/lsp/features/mentions.h"
#include "client/lsp/manifest/rename.h"
#include "compiler/driver/stages.h"
#include "compiler/front/rpl/words.h"

namespace kiln::lsp {
namespace {

bool IsIdentifier(std::string_view text) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= 256 && word(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return word(c) || (c >= '0' && c <= '9'); });
}

// Why nothing can have this name; empty if something can.
std::string WhyNoName(std::string_view text) {
  if (!IsIdentifier(text)) {
    return fmt::format("'{}' is no name: letters, digits and '_', a digit not first", text);
  }
  if (text == "true" || text == "false" || text == "void") {
    return fmt::format("'{}' is reserved", text);
  }
  const rpl::Word word = rpl::LookUpWord(text);
  if (word.function.has_value() || word.type != rpl::InbuiltType::kNone) {
    return fmt::format("'{}' is inbuilt", text);
  }
  return {};
}

// Inbuilt functions and settings are the language's.
bool CanBeRenamed(const std::string& key) {
  return key.starts_with("g:") || key.starts_with("m:") || key.starts_with("l:");
}

// Requires: mentions in order and without overlaps, as FindMentions leaves them.
std::string Replaced(const std::string& text, const std::vector<Mention>& mentions,
                     const std::string& name) {
  std::string result;
  uint32_t at = 0;
  for (const Mention& mention : mentions) {
    result += text.substr(at, mention.bytes.begin - at) + name;
    at = mention.bytes.end;
  }
  return result + text.substr(at);
}

// The programs with the new texts.
class RenamedPrograms {
 public:
  RenamedPrograms(const Mentions& mentions, const std::string& name) {
    for (const auto& [path, places] : mentions.by_path) {
      const Source& before = *mentions.sources.at(path);
      sources_[path] = std::make_shared<const Source>(
          std::make_shared<const SourceFile>(path, Replaced(before.file().text, places, name)));
    }
  }

  // What the manifest says then; entry points are called by the new name.
  void TakeManifest(const std::string& path, const project::Manifest& manifest,
                    const std::string& name, const std::string& new_name) {
    manifests_[path] = &manifest;
    name_ = name;
    new_name_ = new_name;
  }

  // Nothing if it does not link.
  std::shared_ptr<const LinkedSources> Link(const LinkedSources& before) const {
    auto after = std::make_shared<LinkedSources>();
    after->spec = before.spec;
    TakeSpec(after->spec);
    // Missing sources keep a program from being good, and a rename cannot change that.
    after->good = before.good;
    std::vector<std::shared_ptr<const ir::Module>> modules;
    std::vector<std::string> paths;
    // Sources without a mention are taken over as they are; only changed ones are parsed again.
    for (const std::shared_ptr<const Source>& source : before.sources) {
      const auto changed = sources_.find(source->file().path);
      after->sources.push_back(changed == sources_.end() ? source : changed->second);
      after->good = after->good && after->sources.back()->good();
      modules.push_back(after->sources.back()->module());
      paths.push_back(source->file().path);
    }
    Diagnosed<driver::LinkedProgram> linked =
        driver::LinkModules(std::move(modules), std::move(paths), before.spec.pipeline);
    after->linked = std::move(linked.value);
    return after->linked.has_value() ? after : nullptr;
  }

 private:
  void TakeSpec(ProgramSpec& spec) const {
    const auto manifest = manifests_.find(spec.manifest_path);
    if (manifest == manifests_.end()) {
      return;
    }
    const auto program =
        std::ranges::find(manifest->second->programs, spec.name, &project::ManifestProgram::name);
    // Axes and conditions of the manifest say the new name, too. Otherwise the space of the renamed
    // program would refuse its own option, and the rename would look as if it broke something.
    if (program != manifest->second->programs.end()) {
      spec.manifest = *program;
    }
    for (resolve::EntryPoint& entry : spec.entries) {
      entry.function = entry.function == name_ ? new_name_ : entry.function;
    }
  }

  std::map<std::string, std::shared_ptr<const Source>> sources_;
  std::map<std::string, const project::Manifest*> manifests_;  // by path
  std::string name_, new_name_;
};

// Whether names of `after` stand for the same as those of `before`: the same number of places, and
// keys that go together one to one. Places are in order in both, because edits keep the order.
bool MeanTheSame(const Names& before, const Names& after) {
  if (before.occurrences().size() != after.occurrences().size()) {
    return false;
  }
  std::map<uint32_t, uint32_t> forward;
  std::map<uint32_t, uint32_t> backward;
  for (size_t i = 0; i < before.occurrences().size(); ++i) {
    const Occurrence& a = before.occurrences()[i];
    const Occurrence& b = after.occurrences()[i];
    if (a.module != b.module || a.role != b.role ||
        forward.emplace(a.key, b.key).first->second != b.key ||
        backward.emplace(b.key, a.key).first->second != a.key) {
      return false;
    }
  }
  return true;
}

size_t ErrorsOf(const std::shared_ptr<const LinkedSources>& program,
                const std::vector<resolve::OptionSetting>& interest) {
  // A program that is wrong already has no errors to compare: nothing is built of a mended text.
  if (!program->good) {
    return 0;
  }
  SpaceCheck check(program, interest);
  check.CheckInterest();
  return static_cast<size_t>(
      std::ranges::count_if(check.Messages(), [](const VariantMessage& message) {
        return message.diagnostic.severity == Severity::kError;
      }));
}

// Manifests that say the name, as an option or an entry point.
std::set<std::string> ManifestsWith(const Mentions& mentions, const std::string& name) {
  std::set<std::string> paths;
  for (const std::shared_ptr<const LinkedSources>& program : mentions.programs) {
    const project::ManifestProgram& manifest = program->spec.manifest;
    if (program->spec.manifest_path.empty()) {
      continue;
    }
    const auto mentions_it = [&](const project::ManifestExpression& expression) {
      // Expressions are looked through by tokens, so that "fog" does not count as a mention in
      // "fog_color" or in a quoted text.
      const rpl::LexResult tokens = rpl::Lex(expression.text, 0);
      return std::ranges::any_of(tokens.tokens, [&](const rpl::Token& token) {
        return token.kind == rpl::TokenKind::kIdentifier &&
               TextOf(expression.text, token.span()) == name;
      });
    };
    const bool in_variants = std::ranges::any_of(
        manifest.variants, [&](const auto& variant) { return variant.options.contains(name); });
    const bool is_entry = std::ranges::any_of(
        manifest.entry_points, [&](const auto& entry) { return entry.second == name; });
    if (manifest.options.contains(name) || manifest.axes.contains(name) || in_variants ||
        is_entry || std::ranges::any_of(manifest.exclude, mentions_it) ||
        std::ranges::any_of(manifest.require, mentions_it)) {
      paths.insert(program->spec.manifest_path);
    }
  }
  return paths;
}

// Edits of manifests by path; an error if one of them cannot be edited.
using ManifestRenames = std::map<std::string, ManifestRename>;
std::variant<ManifestRenames, RpcError> RenameInManifests(Session& session, const NameHere& name,
                                                          const Mentions& mentions,
                                                          const std::string& new_name) {
  ManifestRenames renames;
  // A manifest names options and functions; it cannot name a field or a local.
  if (!name.key.starts_with("g:")) {
    return renames;
  }
  std::set<std::string> files;
  for (const auto& [path, places] : mentions.by_path) {
    files.insert(path);
  }
  for (const std::string& path : ManifestsWith(mentions, name.text)) {
    const std::shared_ptr<const SourceFile> file = session.documents().FileAt(path);
    // If one of the manifests cannot be edited alone, nothing is renamed: half a rename leaves a
    // project that does not build.
    std::optional<ManifestRename> rename =
        file == nullptr ? std::nullopt : RenameInManifest(*file, files, name.text, new_name);
    if (!rename.has_value()) {
      return Failed(
          fmt::format("kiln.toml names '{}' in a way that cannot be edited alone", name.text));
    }
    renames.emplace(path, std::move(*rename));
  }
  return renames;
}

// Why the rename would change what some program means; empty if it does not.
std::string WhyRefused(Analysis& analysis, const NameHere& name, const Mentions& mentions,
                       const ManifestRenames& manifests, const std::string& new_name) {
  RenamedPrograms renamed(mentions, new_name);
  for (const auto& [path, rename] : manifests) {
    renamed.TakeManifest(path, rename.after, name.text, new_name);
  }
  for (const std::shared_ptr<const LinkedSources>& before : mentions.programs) {
    const std::shared_ptr<const LinkedSources> after = renamed.Link(*before);
    if (after == nullptr) {
      return fmt::format("program '{}' would not link: '{}' is taken", before->spec.name, new_name);
    }
    if (before->good && !after->good) {
      return fmt::format("'{}' cannot be the name of this", new_name);
    }
    // The names of the renamed program are collected and compared without being kept: it exists for
    // this question only.
    if (!MeanTheSame(*analysis.NamesOf(before), Names(after))) {
      return fmt::format("in program '{}' other uses of '{}' would mean something else",
                         before->spec.name, new_name);
    }
    const std::vector<resolve::OptionSetting> interest = analysis.InterestOf(*before);
    // Last, as it costs two variants: an error that names alone do not show, such as two
    // declarations that are ambiguous now. Only the variant that one looks at is built, the whole
    // space would take too long for a request.
    if (ErrorsOf(before, interest) < ErrorsOf(after, analysis.InterestOf(*after))) {
      return fmt::format("program '{}' would have an error: '{}' clashes with another name",
                         before->spec.name, new_name);
    }
  }
  return {};
}

}  // namespace

// null means that nothing can be renamed here; an editor then opens no box.
Outcome PrepareRename(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const Spot& spot = std::get<Spot>(read);
  const std::optional<NameHere> name = NameAt(session.analysis, spot.file.path, spot.offset);
  if (!name.has_value() || !CanBeRenamed(name->key)) {
    return Json(nullptr);
  }
  return Json{{"range", JsonOf(spot.file.RangeOf(session, name->at.bytes))},
              {"placeholder", name->text}};
}

// Everything is tried out before the answer, on copies of the sources. A rename that would make an
// error or change a meaning is refused as a whole.
Outcome Rename(Session& session, const Json& params) {
  std::variant<Spot, RpcError> read = SpotOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const Spot& spot = std::get<Spot>(read);
  const std::optional<std::string> new_name = TextAt(params, "newName");
  if (!new_name.has_value()) {
    return InvalidParams("rename needs a newName");
  }
  const std::optional<NameHere> name = NameAt(session.analysis, spot.file.path, spot.offset);
  if (!name.has_value() || !CanBeRenamed(name->key)) {
    return Failed("there is no name here that could be another");
  }
  if (std::string why = WhyNoName(*new_name); !why.empty()) {
    return Failed(std::move(why));
  }
  Json changes = Json::object();
  if (*new_name == name->text) {
    return Json{{"changes", std::move(changes)}};
  }
  const Mentions mentions = FindMentions(session.analysis, spot.file.path, name->key);
  // In a text with errors some mentions are blank, and they would keep the old name.
  for (const auto& [path, source] : mentions.sources) {
    if (!source->good()) {
      return Failed(fmt::format("'{}' has errors; mend it first", path));
    }
  }
  const std::variant<ManifestRenames, RpcError> manifests =
      RenameInManifests(session, *name, mentions, *new_name);
  if (const auto* error = std::get_if<RpcError>(&manifests)) {
    return *error;
  }
  const ManifestRenames& renames = std::get<ManifestRenames>(manifests);
  if (std::string why = WhyRefused(session.analysis, *name, mentions, renames, *new_name);
      !why.empty()) {
    return Failed(std::move(why));
  }
  // From here on nothing fails: all edits of manifests and sources go to the client as one change.
  for (const auto& [path, rename] : renames) {
    const std::shared_ptr<const SourceFile> file = session.documents().FileAt(path);
    const LineTable lines(file->text);
    Json& edits = changes[session.documents().UriOfPath(path)] = Json::array();
    for (const Span place : rename.places) {
      const Range range{.start = lines.At(file->text, place.begin, session.encoding),
                        .end = lines.At(file->text, place.end, session.encoding)};
      edits.push_back({{"range", JsonOf(range)}, {"newText", *new_name}});
    }
  }
  for (const auto& [path, places] : mentions.by_path) {
    Json& edits = changes[session.documents().UriOfPath(path)] = Json::array();
    for (const Mention& one : places) {
      edits.push_back({{"range", JsonOf(RangeIn(session, *mentions.sources.at(path), one.bytes))},
                       {"newText", *new_name}});
    }
  }
  return Json{{"changes", std::move(changes)}};
}

}  // namespace kiln::lsp
