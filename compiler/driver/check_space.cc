// SPDX-License-Identifier: MIT
#include "compiler/driver/check_space.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/driver/variant_assembler.h"

namespace kiln::driver {
namespace {

// One message and the variants that have it.
struct SharedDiagnostic {
  Diagnostic diagnostic;
  std::vector<bool> variants;
};

// The values of variant number `point`; the last option varies fastest.
void SetValues(const resolve::Program& program, uint64_t point, const std::vector<Axis>& axes,
               resolve::OptionValues& values) {
  // Variants are counted as numbers in a mixed base, whose digits are the values of the options.
  for (size_t i = axes.size(); i > 0; --i) {
    const uint64_t count = axes[i - 1].values.size();
    const ir::Option& option = program.Get(ir::OptionId{static_cast<uint32_t>(i - 1)});
    // Numbers have no list of values, so they keep their default: their axis has one value, and the
    // division below leaves the point as it is.
    const bool varies =
        option.kind == ir::OptionKind::kFlag || option.kind == ir::OptionKind::kEnum;
    values.bits[i - 1] = varies ? static_cast<uint32_t>(point % count) : option.default_value;
    point /= count;
  }
}

// A message is looked for among all that were found, which are few, since equal messages are one
// row. Beyond the limit nothing more would be shown anyway.
void AddDiagnostic(const Diagnostic& diagnostic, uint64_t variant, uint64_t total,
                   std::vector<SharedDiagnostic>& found) {
  auto known = std::ranges::find(found, diagnostic, &SharedDiagnostic::diagnostic);
  if (known == found.end()) {
    if (found.size() >= kMaxDiagnostics) {
      return;
    }
    // One bit for each variant: a space has at most kMaxCheckedVariants of them.
    known = found.insert(known, {.diagnostic = diagnostic, .variants = std::vector<bool>(total)});
  }
  known->variants[variant] = true;
}

// The condition is the answer that an author wants: not which of a thousand variants fail, but what
// they have in common. If nothing short tells them apart, the counts are told.
Diagnostic WithNote(SharedDiagnostic found, const TriedVariants& tried) {
  const auto failing = static_cast<uint64_t>(std::ranges::count(found.variants, true));
  const uint64_t total = found.variants.size();
  if (total == 1) {
    return std::move(found.diagnostic);
  }
  if (failing == total) {
    return std::move(found.diagnostic).Note(NoteKind::kFailsAlways, {{"total", total}});
  }
  const std::string condition = ShortestCondition(tried, found.variants);
  return condition.empty()
             ? std::move(found.diagnostic)
                   .Note(NoteKind::kFailsSome, {{"failing", failing}, {"total", total}})
             : std::move(found.diagnostic)
                   .Note(NoteKind::kFailsWhen,
                         {{"condition", condition}, {"failing", failing}, {"total", total}});
}

}  // namespace

// The texts are those of RPL, because they end up in conditions that an author reads and may paste
// into a source.
std::vector<Axis> AxesOf(const resolve::Program& program) {
  std::vector<Axis> axes;
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    const ir::OptionId id{i};
    const ir::Option& option = program.Get(id);
    Axis axis{.name = std::string(program.Text(program.NameOf(id)))};
    axis.is_flag = option.kind == ir::OptionKind::kFlag;
    if (axis.is_flag) {
      axis.values = {"false", "true"};
    } else if (option.kind == ir::OptionKind::kEnum) {
      const ir::ModuleView& view = program.module(program.ModuleOf(id));
      for (const uint32_t value : view.List(option.values)) {
        axis.values.push_back(fmt::format("\"{}\"", view.Text(ir::StringId{value})));
      }
    } else {
      axis.values = {"default"};
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Every variant is built, one after the other, by one assembler: what a variant shares with those
// before it is not compiled again, so thousands of combinations cost little more than the parts in
// which they differ. A message is known by all that it says, so that one mistake in shared code is
// one row with many variants and not many rows; which variants have it is what the condition is
// made of.
Result<SpaceReport> CheckSpace(const LinkedProgram& linked,
                               std::span<const resolve::EntryPoint> entries,
                               const target::Target& target) {
  const std::vector<Axis> axes = AxesOf(linked.program);
  SpaceReport report{.variants = 1};
  for (const Axis& axis : axes) {
    report.variants *= axis.values.size();
    // Checked in the loop, so that the product cannot overflow however many options there are.
    if (report.variants > kMaxCheckedVariants) {
      return Error{
          .code = ErrorCode::kInvalidArgument,
          .context = fmt::format("the options have more than {} combinations", kMaxCheckedVariants),
          .reason = "LIMIT"};
    }
  }
  VariantAssembler assembler(linked, entries, target);
  resolve::OptionValues values{std::vector<uint32_t>(linked.program.option_count())};
  std::vector<SharedDiagnostic> found;
  for (uint64_t point = 0; point < report.variants; ++point) {
    SetValues(linked.program, point, axes, values);
    const VariantView& view =
        assembler.Build(values, ModuleSelection::kAll, ModuleDigests::kLeftOut);
    report.failing += view.ok ? 0 : 1;
    // Warnings are told as well, with the variants that have them.
    for (const Diagnostic& diagnostic : view.diagnostics) {
      AddDiagnostic(diagnostic, point, report.variants, found);
    }
  }
  // The same order of points as SetValues: the last axis varies fastest in both.
  const TriedVariants tried = EveryCombination(axes);
  for (SharedDiagnostic& one : found) {
    report.diagnostics.push_back(WithNote(std::move(one), tried));
  }
  SortAndMerge(report.diagnostics);
  return report;
}

}  // namespace kiln::driver
