// SPDX-License-Identifier: MIT
// The space of a program: axes with checked values and conditions that were compiled together.
// Everything else asks the space for its points, by number (List), by a counter, or one by one.
#include "server/project/space.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::project {
namespace {

// A number of points that wraps would end the walk of List early, and look like a small space.
uint64_t SaturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

// Every value of a flag or enum, in declaration order.
std::vector<resolve::OptionSetting> AllValues(const resolve::Program& program, ir::OptionId id) {
  const ir::Option& option = program.Get(id);
  const ir::ModuleView& module = program.module(program.ModuleOf(id));
  std::vector<resolve::OptionSetting> values;
  resolve::OptionSetting setting;
  setting.name = module.Text(option.name);
  setting.kind = option.kind;
  if (option.kind == ir::OptionKind::kFlag) {
    for (const uint32_t bits : {0u, 1u}) {
      setting.bits = bits;
      values.push_back(setting);
    }
  }
  if (option.kind == ir::OptionKind::kEnum) {
    for (const uint32_t text : module.List(option.values)) {
      setting.text = module.Text(ir::StringId{text});
      values.push_back(setting);
    }
  }
  return values;
}

ir::OptionId Find(const resolve::Program& program, const std::string& name) {
  const resolve::NameId id = program.FindName(name);
  return id.valid() ? program.Option(id) : ir::OptionId{};
}

}  // namespace

// What the page is charged with, which has as many points as the sender asked for.
uint64_t BytesOf(const std::vector<resolve::OptionSetting>& point) {
  uint64_t bytes = sizeof(point);
  for (const resolve::OptionSetting& setting : point) {
    bytes += sizeof(setting) + setting.name.size() + setting.text.size();
  }
  return bytes;
}

// Conditions are compiled as modules of their own, numbered as they stand in the request; `places`
// says where each is in the client's manifest. The manifest has a condition in one line, so columns
// move by bytes and lines do not.
PlacedDiagnostic PlaceIn(const SpaceRequest& request, const Diagnostic& diagnostic) {
  PlacedDiagnostic placed = Place(diagnostic, std::span<const ModuleText>());
  const auto place = [&](const Location& where, PlacedSpan& out) {
    if (where.known() && where.module < request.places.size() &&
        request.places[where.module].known()) {
      out = request.places[where.module];
      out.bytes = where.bytes;
      out.end_line = out.line;  // of a text in one line
      out.end_column = out.column + where.bytes.end;
      out.column += where.bytes.begin;
    }
  };
  place(diagnostic.primary, placed.primary);
  for (size_t i = 0; i < diagnostic.labels.size(); ++i) {
    place(diagnostic.labels[i].where, placed.labels[i].where);
  }
  if (diagnostic.fix.has_value() && diagnostic.fix->form == Fix::Form::kReplace) {
    PlacedFix fix{
        .where = {}, .replacement = diagnostic.fix->text, .confidence = diagnostic.fix->confidence};
    place(diagnostic.fix->where, fix.where);
    placed.fix = fix.where.known() ? std::optional(std::move(fix)) : std::nullopt;
  }
  return placed;
}

// Checks and compiles what the request says, with all mistakes in one list. Memory of values is
// charged, and the list of mistakes bounded, because axes may have 4,096 values each
// (spec/daemon 10).
Diagnosed<Space> Space::Make(const driver::LinkedProgram& program, const SpaceRequest& request) {
  Diagnosed<Space> result;
  Space space;
  space.program_ = &program;
  const auto check = [&](std::span<const resolve::OptionSetting> settings) {
    Diagnosed<resolve::OptionValues> checked = resolve::CheckOptions(program.program, settings);
    result.diagnostics.insert(result.diagnostics.end(), checked.diagnostics.begin(),
                              checked.diagnostics.end());
    return std::move(checked.value).value_or(resolve::OptionValues{});
  };
  space.fixed_ = check(request.fixed);
  std::vector<Axis> axes = request.axes;
  // By name, so that the order of points, and with it every rank and page, does not depend on how a
  // manifest lists its axes.
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.name < b.name; });
  space.combinations_ = request.only_explicit ? 0 : 1;
  for (const Axis& axis : axes) {
    if (result.diagnostics.size() >= kMaxDiagnostics) {
      return result;  // nobody is shown more
    }
    const ir::OptionId option = Find(program.program, axis.name);
    if (!option.valid()) {
      result.diagnostics.push_back(resolve::UnknownOption(program.program, axis.name));
      continue;
    }
    std::vector<Value> values;
    for (const resolve::OptionSetting& setting :
         axis.all ? AllValues(program.program, option) : axis.values) {
      CheckStop();
      if (result.diagnostics.size() >= kMaxDiagnostics) {
        return result;
      }
      ChargeMemory(sizeof(Value) + setting.name.size() + setting.text.size());
      values.push_back(
          {.setting = setting,
           .option = option,
           .bits = resolve::CheckOption(program.program, setting, result.diagnostics).value_or(0)});
    }
    space.combinations_ = SaturatingProduct(space.combinations_, values.size());
    space.axes_.push_back(std::move(values));
  }
  // All conditions are compiled as one program, the exclusions first; exclude_count_ tells them
  // apart.
  std::vector<std::string> conditions = request.exclude;
  conditions.insert(conditions.end(), request.require.begin(), request.require.end());
  space.exclude_count_ = request.exclude.size();
  Diagnosed<std::unique_ptr<driver::Expressions>> compiled =
      driver::Expressions::Compile(program, conditions);
  result.diagnostics.insert(result.diagnostics.end(), compiled.diagnostics.begin(),
                            compiled.diagnostics.end());
  space.explicit_ = request.variants;
  if (!HasErrors(result.diagnostics)) {
    space.conditions_ = std::move(*compiled.value);
    result.value = std::move(space);
  }
  return result;
}

// Points by their number in mixed radix, each tested. For spaces that cannot be counted: those with
// a value twice on an axis, or a condition over something that is no option. Costs an evaluation
// for each combination, so callers bound what they ask for.
Diagnosed<Space::Page> Space::List(uint64_t from, uint64_t limit) {
  Diagnosed<Page> result;
  Page page;
  resolve::OptionValues values = fixed_;
  for (page.next = from; page.next < combinations_ && page.points.size() < limit; ++page.next) {
    CheckStop();
    std::vector<resolve::OptionSetting> point(axes_.size());
    uint64_t rest = page.next;
    for (size_t axis = axes_.size(); axis-- > 0;) {  // the last axis varies fastest
      const Value& value = axes_[axis][rest % axes_[axis].size()];
      rest /= axes_[axis].size();
      values.bits[value.option.value] = value.bits;
      point[axis] = value.setting;
    }
    Diagnosed<std::vector<bool>> truths = conditions_->Evaluate(values);
    if (!truths.ok()) {
      result.diagnostics = std::move(truths.diagnostics);
      return result;
    }
    bool allowed = true;
    for (size_t i = 0; i < truths.value->size(); ++i) {
      // Exclusions must be false and requirements true.
      allowed = allowed && (*truths.value)[i] == (i >= exclude_count_);
    }
    if (allowed) {
      ChargeMemory(BytesOf(point));
      page.points.push_back(std::move(point));
    }
  }
  result.value = std::move(page);
  return result;
}

// Nothing where counting would be wrong: an axis without values or with one twice, and conditions
// that are no residuals of axes.
std::optional<Counter> Space::MakeCounter() const {
  const resolve::Program& program = program_->program;
  std::vector<bool> varies(program.option_count(), false);
  std::vector<CountedAxis> axes;
  for (const std::vector<Value>& values : axes_) {
    if (values.empty()) {
      return std::nullopt;
    }
    CountedAxis& axis = axes.emplace_back(CountedAxis{.option = values[0].option, .values = {}});
    varies[axis.option.value] = true;
    std::set<uint32_t> distinct;
    for (const Value& value : values) {
      axis.values.push_back(value.bits);
      distinct.insert(value.bits);
    }
    if (distinct.size() != values.size()) {
      return std::nullopt;  // a value that is listed twice is two points
    }
  }
  // From here on conditions are over axes only, in the form that the counter can simplify value by
  // value.
  driver::Residuals residuals;
  std::vector<driver::Residuals::Number> exclusions;
  for (uint32_t i = 0; i < conditions_->size(); ++i) {
    CheckStop();
    std::optional<driver::Residuals::Number> condition = conditions_->Residual(i, residuals);
    const std::vector<uint32_t> mentioned =
        condition.has_value() ? residuals.OptionsOf(*condition) : std::vector<uint32_t>();
    for (const uint32_t option : mentioned) {
      // An option that no axis varies has one value everywhere, so it is put in here, and the
      // counter meets axes only.
      if (condition.has_value() && !varies[option]) {
        condition = residuals.With(*condition, program, ir::OptionId{option}, fixed_.bits[option]);
      }
    }
    if (!condition.has_value()) {
      return std::nullopt;
    }
    // A requirement is the exclusion of its opposite.
    exclusions.push_back(i < exclude_count_ ? *condition : residuals.Not(*condition));
  }
  return Counter(program, std::move(axes), std::move(residuals), std::move(exclusions));
}

// An axis is live if anything mentions its option: a cheap upper bound of what results depend on,
// since the mention may itself be dead. It decides which points are worth listing, never what is
// built.
std::vector<bool> Space::LiveAxes() const {
  const resolve::Program& program = program_->program;
  // What this program does not mention may be mentioned by another list of macros.
  if (program_->has_macros) {
    return std::vector<bool>(axes_.size(), true);
  }
  // By name and not by option: a name may lead to an option or to something else, and an
  // overestimate is allowed.
  std::vector<bool> mentioned(program.name_count(), false);
  for (uint32_t i = 0; i < program.cexpr_count(); ++i) {
    CheckStop();
    const ir::Cexpr& row = program.Row(ir::CexprId{i});
    if (row.op == ir::CexprOp::kName) {
      mentioned[row.a] = true;
    }
  }
  for (uint32_t m = 0; m < program.modules().size(); ++m) {
    for (const ir::Inst& inst : program.module(m).insts) {
      CheckStop();
      if (inst.kind == ir::InstKind::kNameRef) {
        mentioned[program.Name(m, inst.As<ir::NameRefInst>().name).value] = true;
      }
    }
  }
  std::vector<bool> live;
  for (const std::vector<Value>& values : axes_) {
    live.push_back(values.empty() || mentioned[program.NameOf(values[0].option).value]);
  }
  return live;
}

// The way back from the bits that a counter works with to the settings that a build takes.
std::vector<resolve::OptionSetting> Space::SettingsOf(const std::vector<uint32_t>& values) const {
  std::vector<resolve::OptionSetting> settings;
  settings.reserve(axes_.size());
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    CheckStop();
    const auto value = std::ranges::find(axes_[axis], values[axis], &Value::bits);
    KILN_CHECK(value != axes_[axis].end(), "value {} of axis {}", values[axis], axis);
    settings.push_back(value->setting);
  }
  return settings;
}

std::vector<size_t> Space::AxisSizes() const {
  std::vector<size_t> sizes;
  for (const std::vector<Value>& values : axes_) {
    sizes.push_back(values.size());
  }
  return sizes;
}

std::vector<std::string> Space::AxisNames() const {
  std::vector<std::string> names;
  for (const std::vector<Value>& values : axes_) {
    names.push_back(values.empty() ? std::string() : values[0].setting.name);
  }
  return names;
}

}  // namespace kiln::project
