// SPDX-License-Identifier: MIT
#include "tests/resolve/variant_of.h"

#include <charconv>
#include <deque>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "compiler/front/rpl/front.h"
#include "compiler/resolve/specialise/specialise_decl.h"
#include "compiler/resolve/specialise/specialise_region.h"

namespace kiln::resolve {

// Specialises every unit anew and records its trace.
class TestUnits final : public UnitSource {
 public:
  explicit TestUnits(const Program& program) : program_(program) {}

  const Diagnosed<ir::SpecialisedDecl>& Decl(ir::DeclId decl, VariantEvaluator& answers) override {
    QueryTrace trace;
    answers.BeginTrace(&trace);
    Diagnosed<ir::SpecialisedDecl> specialised = SpecialiseDecl(program_, decl, answers);
    answers.EndTrace();
    Keep(std::string(program_.Text(program_.NameOf(decl))), trace, answers);
    return decls_.emplace_back(std::move(specialised));
  }
  const Diagnosed<ir::SpecialisedRegion>& Region(ir::RegionId region,
                                                 VariantEvaluator& answers) override {
    QueryTrace trace;
    answers.BeginTrace(&trace);
    Diagnosed<ir::SpecialisedRegion> specialised = SpecialiseRegion(program_, region, answers);
    answers.EndTrace();
    const uint32_t m = program_.ModuleOf(region);
    const ir::DeclId function{program_.bases(m).decl + program_.Get(region).function.value};
    Keep(std::string(program_.Text(program_.NameOf(function))) + " region", trace, answers);
    return regions_.emplace_back(std::move(specialised));
  }
  const std::string& queries() const { return queries_; }

 private:
  void Keep(const std::string& name, const QueryTrace& trace, VariantEvaluator& answers) {
    queries_ += "== " + name + "\n" + QueryTraceText(trace, program_, answers.pool());
  }

  const Program& program_;
  std::deque<Diagnosed<ir::SpecialisedDecl>> decls_;
  std::deque<Diagnosed<ir::SpecialisedRegion>> regions_;
  std::string queries_;
};

namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

OptionSetting SettingOf(const Program& program, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  OptionSetting setting;
  setting.name = assignment.substr(0, equals);
  const std::string value(assignment.substr(equals + 1));
  const ir::OptionId id = program.Option(program.FindName(setting.name));
  setting.kind = program.Get(id).kind;
  switch (setting.kind) {
    case ir::OptionKind::kFlag:
      setting.bits = value == "true" ? 1 : 0;
      break;
    case ir::OptionKind::kUint:
    case ir::OptionKind::kSint:
      setting.bits = static_cast<uint32_t>(std::stoll(value));
      break;
    case ir::OptionKind::kFloat:
      setting.bits = std::bit_cast<uint32_t>(std::stof(value));
      break;
    case ir::OptionKind::kEnum:
      setting.text = value;
      break;
  }
  return setting;
}

std::vector<EntryPoint> EntriesOf(std::string_view text) {
  std::vector<EntryPoint> entries;
  for (const std::string_view entry : Split(text, ',')) {
    const size_t colon = entry.find(':');
    const std::string_view stage = entry.substr(0, colon);
    entries.push_back({.stage = stage == "vertex"     ? ir::Stage::kVertex
                                : stage == "fragment" ? ir::Stage::kFragment
                                                      : ir::Stage::kCompute,
                       .function = std::string(entry.substr(colon + 1))});
  }
  return entries;
}

}  // namespace

VariantOf::VariantOf(std::vector<std::string> sources, std::string_view entries,
                     std::string_view options)
    : sources_(std::move(sources)) {
  std::vector<ir::ModuleView> views;
  for (uint32_t i = 0; i < sources_.size(); ++i) {
    modules_.push_back(
        rpl::Parse(SourceFile("m" + std::to_string(i) + ".rpl", sources_[i]), {}, i));
    for (const Diagnostic& found : modules_.back().diagnostics) {
      EXPECT_NE(found.severity, Severity::kError) << Message(found);
    }
    KILN_CHECK(modules_.back().ok(), "test source does not parse");
  }
  for (const Diagnosed<ir::Module>& module : modules_) {
    views.push_back(module.value->view());
  }
  Diagnosed<Program> linked = Link(views, ir::PipelineType::kGraphicsClassic);
  KILN_CHECK(linked.ok(), "test sources do not link");
  program_ = std::move(linked.value);
  std::vector<OptionSetting> settings;
  for (const std::string_view assignment : Split(options, ',')) {
    settings.push_back(SettingOf(*program_, assignment));
  }
  Diagnosed<OptionValues> values = CheckOptions(*program_, settings);
  KILN_CHECK(values.ok(), "test options are wrong");
  values_ = std::move(*values.value);
  units_ = std::make_unique<TestUnits>(*program_);
  answers_ = std::make_unique<VariantEvaluator>(*program_, values_, pool_, units_.get());
  specialised_ = SpecialiseVariant(*program_, EntriesOf(entries), *answers_, *units_);
}

VariantOf::~VariantOf() = default;

std::string VariantOf::Messages() const { return Text(false); }
std::string VariantOf::MessagesAndLints() const { return Text(true); }

std::string VariantOf::Text(bool lints) const {
  std::string text;
  for (const Diagnostic& found : specialised_.diagnostics) {
    if (lints || found.severity != Severity::kLint) {
      text += std::string(CodeText(found.code)) + " " + Message(found) + "\n";
    }
  }
  return text;
}

std::string VariantOf::Details(Code code) const {
  const auto at = [&](const Location& where) {
    return where.known() ? "\"" + std::string(TextOf(sources_[where.module], where.bytes)) + "\""
                         : std::string("nowhere");
  };
  for (const Diagnostic& found : specialised_.diagnostics) {
    if (found.code != code) {
      continue;
    }
    std::string text = at(found.primary) + " " + Message(found) + "\n";
    for (const kiln::Label& label : found.labels) {
      text += at(label.where) + " " + LabelText(label) + "\n";
    }
    for (const kiln::Note& note : found.notes) {
      text += NoteText(note) + "\n";
    }
    return text;
  }
  return "";
}

std::string VariantOf::Queries() const { return units_->queries(); }

}  // namespace kiln::resolve
