// SPDX-License-Identifier: MIT
#include "tests/support/built_variant.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/driver/option_text.h"
#include "compiler/emit/spirv/module_checks.h"
#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/source/source_file.h"

namespace kiln {
namespace {

resolve::EntryPoint EntryOf(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view stage = text.substr(0, colon);
  return {.stage = stage == "vertex"     ? ir::Stage::kVertex
                   : stage == "fragment" ? ir::Stage::kFragment
                                         : ir::Stage::kCompute,
          .function = std::string(text.substr(colon + 1))};
}

}  // namespace

BuiltVariant::BuiltVariant(const VariantRequest& request)
    : target_(target::MakeTarget(target::ParseEnvironment(request.environment).value())) {
  Link(request);
  if (linked_.has_value()) {
    Build(request);
  }
  if (result_.products.has_value()) {
    Check();
  }
}

void BuiltVariant::Note(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kLint) {
      messages_ += std::string(CodeText(diagnostic.code)) + " " + Message(diagnostic) + "\n";
    }
  }
}

// Modules that are given as text, checked as if they came from elsewhere.
void BuiltVariant::LinkTexts(const VariantRequest& request, ir::PipelineType pipeline) {
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const std::string& text : request.modules) {
    Result<ir::Module> parsed = ir::ParseModule(text);
    const Result<void> verified =
        parsed.ok() ? ir::VerifyIds(parsed->view()) : Result<void>(parsed.error());
    if (!verified.ok()) {
      messages_ += ErrorText(verified.error()) + "\n";
      return;
    }
    paths.push_back(std::to_string(paths.size()) + ".ir");
    modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed)));
  }
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkModules(std::move(modules), std::move(paths), pipeline);
  Note(linked.diagnostics);
  linked_ = std::move(linked.value);
}

void BuiltVariant::Link(const VariantRequest& request) {
  std::vector<SourceFile> sources;
  for (size_t i = 0; i < request.sources.size(); ++i) {
    sources.emplace_back(std::to_string(i) + ".rpl", request.sources[i]);
  }
  const bool compute = !request.entries.empty() && request.entries[0].starts_with("compute:");
  const ir::PipelineType pipeline =
      compute ? ir::PipelineType::kCompute : ir::PipelineType::kGraphicsClassic;
  if (!request.modules.empty()) {
    return LinkTexts(request, pipeline);
  }
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(sources, request.inputs, pipeline).program;
  Note(linked.diagnostics);
  linked_ = std::move(linked.value);
}

void BuiltVariant::Build(const VariantRequest& request) {
  std::vector<resolve::OptionSetting> settings;
  for (const std::string& option : request.options) {
    settings.push_back(std::move(driver::ReadOption(linked_->program, option)).value());
  }
  const Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(linked_->program, settings);
  Note(values.diagnostics);
  if (!values.value.has_value()) {
    return;
  }
  std::vector<resolve::EntryPoint> entries;
  for (const std::string& entry : request.entries) {
    entries.push_back(EntryOf(entry));
  }
  units_ = std::make_unique<driver::DirectUnits>(linked_->program);
  resolve::VariantEvaluator answers(linked_->program, *values.value, pool_, units_.get());
  specialised_ = resolve::SpecialiseVariant(linked_->program, entries, answers, *units_);
  result_ = driver::BuildDirect(*linked_, *values.value, entries, target_);
  Note(result_.diagnostics);
}

namespace {

// Whether some block says rules that need the feature.
spirv::BlockLayouts LayoutsOf(const ir::SpecialisedProgram& specialised) {
  for (const ir::SpecialisedDecl* decl : specialised.interface) {
    for (const ir::Attribute& attribute : decl->attributes) {
      const auto rules = static_cast<ir::RuleSet>(attribute.a);
      if (attribute.key == ir::AttributeKey::kRules &&
          (rules == ir::RuleSet::kScalar || rules == ir::RuleSet::kC ||
           rules == ir::RuleSet::kD3dCbuffer)) {
        return spirv::BlockLayouts::kScalar;
      }
    }
  }
  return spirv::BlockLayouts::kStandard;
}

}  // namespace

void BuiltVariant::Check() {
  ok_ = true;
  const auto complain = [this](std::string_view what, std::string_view text) {
    messages_ += std::string(what) + ": " + std::string(text) + "\n";
    ok_ = false;
  };
  const Result<void> verified = ir::Verify(*specialised_.value);
  if (!verified.ok()) {
    complain("specialised form", ErrorText(verified.error()));
  }
  for (const driver::StageCode& code : result_.products->code) {
    const std::string wrong = spirv::Validate(code.words, target_, LayoutsOf(*specialised_.value));
    if (!wrong.empty()) {
      complain("validator", wrong);
    }
  }
  Result<artifact::PipelineMetadata> decoded = artifact::DecodeMetadata(result_.products->metadata);
  if (!decoded.ok()) {
    return complain("metadata", ErrorText(decoded.error()));
  }
  metadata_ = std::move(*decoded);
}

const std::vector<uint32_t>& BuiltVariant::words(ir::Stage stage) const {
  const auto code =
      std::ranges::find(result_.products->code, std::optional(stage), &driver::StageCode::stage);
  KILN_CHECK(code != result_.products->code.end());
  return code->words;
}

std::string BuiltVariant::Disassembly(ir::Stage stage) const {
  return spirv::Disassemble(words(stage), target_);
}

}  // namespace kiln
