// SPDX-License-Identifier: MIT
// The direct path over one variant after the other: every body is specialised and lowered for every
// variant, and no answer of an option is used again. What stays is memory and what the program
// alone decides: interned types, constants and texts, their words, and declarations and answers
// that no option reaches (Answers calls them fixed). See spec/architecture 10.6
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compiler/driver/request.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/units.h"

namespace kiln::driver {

// Specialises every unit when it is asked for. One thread.
class DirectUnits final : public resolve::UnitSource {
 public:
  explicit DirectUnits(const resolve::Program& program)
      : program_(program), decls_(program.decl_count()), regions_(program.region_count()) {}
  const Diagnosed<ir::SpecialisedDecl>& Decl(ir::DeclId decl,
                                             resolve::VariantEvaluator& answers) override;
  const Diagnosed<ir::SpecialisedRegion>& Region(ir::RegionId region,
                                                 resolve::VariantEvaluator& answers) override;

  // Begins another variant: what is asked for is specialised anew, in the memory of the last one.
  void Forget();
  // Declarations that were specialised anew in the place of others, until they are cleared.
  std::vector<const ir::SpecialisedDecl*>& replaced() { return replaced_; }

 private:
  template <class T>
  struct DirectUnit {
    Diagnosed<T>* unit = nullptr;
    uint32_t variant = 0;
  };
  struct OfStages {
    DirectUnit<ir::SpecialisedRegion> by_stage[3];
  };

  const resolve::Program& program_;
  uint32_t variant_ = 1;
  std::vector<DirectUnit<ir::SpecialisedDecl>> decls_;  // by DeclId
  std::vector<OfStages> regions_;                       // by RegionId
  // The same of versions of functions, by RegionId, version and stage.
  std::map<std::array<uint32_t, 3>, DirectUnit<ir::SpecialisedRegion>> versions_;
  std::deque<Diagnosed<ir::SpecialisedDecl>> specialised_decls_;
  std::deque<Diagnosed<ir::SpecialisedRegion>> specialised_regions_;
  std::vector<const ir::SpecialisedDecl*> replaced_;
};

class DirectBuilder {
 public:
  // `linked` must outlive it. `entries` may be empty: metadata only.
  DirectBuilder(const LinkedProgram& linked, std::span<const resolve::EntryPoint> entries,
                const target::Target& target);
  ~DirectBuilder();
  DirectBuilder(const DirectBuilder&) = delete;
  DirectBuilder& operator=(const DirectBuilder&) = delete;

  // Diagnostics have byte positions.
  BuildResult Build(const resolve::OptionValues& values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::driver
