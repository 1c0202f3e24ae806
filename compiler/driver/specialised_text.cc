// SPDX-License-Identifier: MIT
#include "compiler/driver/specialised_text.h"

#include <utility>

#include "compiler/driver/direct_builder.h"
#include "compiler/ir/text/print_specialised.h"

namespace kiln::driver {

Diagnosed<std::string> SpecialisedText(const LinkedProgram& linked,
                                       std::span<const resolve::OptionSetting> settings,
                                       std::span<const resolve::EntryPoint> entries) {
  Diagnosed<std::string> text;
  Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(linked.program, settings);
  if (!values.ok()) {
    text.diagnostics = std::move(values.diagnostics);
    return text;
  }
  // The direct path with nothing behind specialising: what is shown does not depend on any cache.
  ir::Pool pool;
  DirectUnits units(linked.program);
  resolve::VariantEvaluator answers(linked.program, *values.value, pool, &units);
  Diagnosed<ir::SpecialisedProgram> specialised =
      resolve::SpecialiseVariant(linked.program, entries, answers, units);
  text.diagnostics = std::move(specialised.diagnostics);
  if (specialised.ok()) {
    text.value = ir::Print(*specialised.value);
  }
  return text;
}

}  // namespace kiln::driver
