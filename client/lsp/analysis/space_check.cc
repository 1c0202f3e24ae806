// SPDX-License-Identifier: MIT
// Builds the variants of a manifest's space one after another, in slices of time, and collects
// their messages with the condition under which each comes.
#include "client/lsp/analysis/space_check.h"

#include <algorithm>
#include <utility>

#include "client/lsp/analysis/option_space.h"
#include "compiler/driver/failure_condition.h"
#include "compiler/driver/option_text.h"
#include "compiler/resolve/checks/unused.h"

namespace kiln::lsp {
namespace {

// Small enough that a page of slow variants does not make an editor wait for long, large enough
// that listing points costs little beside building them.
constexpr uint64_t kPage = 16;  // points between two looks at the clock

// The environment that a compilation has where none is named: an editor asks about no target.
target::Target TargetOf() { return target::MakeTarget(target::Environment::kVulkan11); }

uint32_t NumberOf(const driver::Axis& axis, const std::string& value) {
  const auto found = std::ranges::find(axis.values, value);
  return found == axis.values.end() ? driver::kNoValue
                                    : static_cast<uint32_t>(found - axis.values.begin());
}

}  // namespace

SpaceCheck::SpaceCheck(std::shared_ptr<const LinkedSources> program,
                       std::vector<resolve::OptionSetting> interest)
    : program_(std::move(program)), interest_(std::move(interest)) {
  unused_ = resolve::FindUnused(program_->program(), program_->spec.entries);
}

SpaceCheck::~SpaceCheck() = default;

size_t SpaceCheck::bytes() const {
  return sizeof(*this) + tried_.values.capacity() * sizeof(uint32_t) +
         (assembler_ == nullptr ? 0 : static_cast<size_t>(assembler_->bytes_used()));
}

// The variant of interest is built at once and outside of the slices, because its messages are what
// one waits for.
void SpaceCheck::CheckInterest() { Build(interest_, std::nullopt); }

// Builds one variant and notes its messages under the number of the point; without one under that
// of the variant of interest.
void SpaceCheck::Build(const std::vector<resolve::OptionSetting>& settings,
                       std::optional<size_t> point) {
  std::vector<Diagnostic> wrong;
  resolve::OptionValues values;
  if (!resolve::CheckOptions(program_->program(), settings, values, wrong)) {
    return;  // the space says so of its values, and those of interest were checked
  }
  // The assembler remembers regions from variant to variant and makes most variants nearly free.
  // When it has grown too large it begins anew, which costs time and changes no message.
  if (assembler_ == nullptr || assembler_->bytes_used() > kMaxAssembler) {
    assembler_ = std::make_unique<driver::VariantAssembler>(*program_->linked,
                                                            program_->spec.entries, TargetOf());
  }
  const driver::VariantView& view =
      assembler_->Build(values, driver::ModuleSelection::kAll, driver::ModuleDigests::kLeftOut);
  for (const Diagnostic& diagnostic : view.diagnostics) {
    // The same message of many variants is one row with a bit for each. Rows are few, at most
    // kMaxDiagnostics, so they are found by comparing.
    auto known = std::ranges::find(rows_, diagnostic, &Row::diagnostic);
    if (known == rows_.end()) {
      if (rows_.size() >= kMaxDiagnostics) {
        continue;
      }
      rows_.push_back({.diagnostic = diagnostic, .of_interest = false, .variants = {}});
      known = rows_.end() - 1;
    }
    if (point.has_value()) {
      // Bits are appended as points come; Messages() fills up what is missing at the end with "does
      // not fail".
      known->variants.resize(*point + 1);
      known->variants[*point] = true;
    } else {
      known->of_interest = true;
    }
  }
}

// Opened with the first slice: a space with many axes costs time of its own. Errors of the space
// end the check.
void SpaceCheck::OpenSpace() {
  opened_ = true;
  const project::SpaceRequest request =
      SpaceRequestOf(program_->program(), program_->spec.manifest);
  fixed_ = request.fixed;
  Diagnosed<project::Space> space = project::Space::Make(*program_->linked, request);
  space_diagnostics_ = std::move(space.diagnostics);
  if (!space.ok()) {
    done_ = true;
    return;
  }
  space_ = std::move(*space.value);
  // Axes with the texts of their values, which the condition of a message is written in.
  for (const std::string& name : space_->AxisNames()) {
    const ir::OptionId option = program_->program().FindOption(name);
    driver::Axis& axis = tried_.axes.emplace_back();
    axis.name = name;
    if (!option.valid()) {
      continue;  // an axis without values: the space is empty
    }
    axis.is_flag = program_->program().Get(option).kind == ir::OptionKind::kFlag;
    for (const resolve::OptionSetting& value :
         ValuesOf(program_->program(), option, program_->spec.manifest)) {
      axis.values.push_back(driver::ValueText(value));
    }
  }
}

// The values of a point by axis, for the condition of its messages.
void SpaceCheck::NotePoint(const std::vector<resolve::OptionSetting>& point) {
  for (const driver::Axis& axis : tried_.axes) {
    const auto setting = std::ranges::find(point, axis.name, &resolve::OptionSetting::name);
    tried_.values.push_back(setting == point.end() ? driver::kNoValue
                                                   : NumberOf(axis, driver::ValueText(*setting)));
  }
  ++points_;
}

// True when nothing is left to do. A step always makes some progress, however small its budget is.
bool SpaceCheck::Step(Duration budget, Clock& clock) {
  if (!opened_) {
    OpenSpace();
  }
  // The explicit variants of the manifest come first, then the combinations in the order of their
  // rank. The clock is read after each page, so a step is late by one page at most.
  const Duration end = clock.Monotonic() + budget;
  while (!done_) {
    std::vector<std::vector<resolve::OptionSetting>> points;
    if (next_explicit_ < space_->explicit_variants().size()) {
      points.push_back(space_->explicit_variants()[next_explicit_++]);
    } else if (next_ < space_->combinations()) {
      Diagnosed<project::Space::Page> page = space_->List(next_, kPage);
      if (!page.ok()) {
        space_diagnostics_ = std::move(page.diagnostics);
        done_ = true;
        break;
      }
      next_ = page.value->next;
      points = std::move(page.value->points);
    } else {
      done_ = true;
    }
    for (std::vector<resolve::OptionSetting>& point : points) {
      NotePoint(point);
      std::vector<resolve::OptionSetting> settings = fixed_;
      settings.insert(settings.end(), point.begin(), point.end());
      Build(settings, points_ - 1);
    }
    done_ = done_ || points_ >= kMaxVariants;
    if (clock.Monotonic() >= end) {
      break;
    }
  }
  // The assembler is by far the largest part of a check, and nothing is built any more.
  if (done_) {
    assembler_.reset();
  }
  return done_;
}

// May be asked between steps: counts then speak of the points so far, and conditions are missing.
std::vector<VariantMessage> SpaceCheck::Messages() const {
  std::vector<VariantMessage> messages;
  for (const Diagnostic& diagnostic : unused_) {
    messages.push_back({.diagnostic = diagnostic, .failing = 0, .tried = 0, .condition = {}});
  }
  for (const Row& row : rows_) {
    VariantMessage message{.diagnostic = row.diagnostic, .failing = 0, .tried = 0, .condition = {}};
    std::vector<bool> variants = row.variants;
    variants.resize(points_);
    message.failing = static_cast<uint64_t>(std::ranges::count(variants, true));
    // A condition is told at the end only: one that was found among half of the variants may be
    // wrong for the other half, and an editor would show it for seconds.
    if (done_ && points_ > 1 && message.failing > 0) {
      message.tried = points_;
      message.condition =
          tried_.axes.empty() ? std::string() : driver::ShortestCondition(tried_, variants);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace kiln::lsp
