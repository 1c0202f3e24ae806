// SPDX-License-Identifier: MIT
// Calls form no cycle, so one pass with callees first finds what goes up to callers, and one the
// other way what goes down to callees.
#include "compiler/emit/wgsl/variant_facts.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/decl_names.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

constexpr uint32_t kHandedOn =
    BitOf(ir::StageVariable::kWorkgroupId) | BitOf(ir::StageVariable::kWorkgroupCount);

// The values are bits: to filter and to compare is to do both.
SamplerUse operator|(SamplerUse a, SamplerUse b) {
  return static_cast<SamplerUse>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

// What one entry point reaches, in an order with callees first. By that order two plain loops
// replace a search: facts of callees are final before those of a caller are made, and the other way
// round.
class EntryWalk {
 public:
  EntryWalk(const ir::EntryRef& entry, ObjectTable& table) : table_(table) {
    live_.ref = &entry;
    for (uint32_t i = 0; i < entry.functions.size(); ++i) {
      numbers_.Insert(entry.functions[i]->function.value, i);
    }
  }

  LiveEntry Run() {
    Order();
    for (LiveFunction& function : live_.functions) {
      GoUp(function);
    }
    for (size_t i = live_.functions.size(); i-- > 0;) {
      GoDown(live_.functions[i]);
    }
    return std::move(live_);
  }

 private:
  struct Step {
    uint32_t function = 0;  // of the entry
    size_t next = 0;        // call to look at
  };

  // Functions with callees first, in order of their calls; without recursion.
  void Order() {
    const std::vector<const ir::FunctionRef*>& all = live_.ref->functions;
    position_.assign(all.size(), kUnseen);
    // The entry point is function 0 of its list.
    std::vector<Step> open{{0, 0}};
    position_[0] = kOpen;
    while (!open.empty()) {
      CheckStop();
      Step& step = open.back();
      const FunctionFacts& facts = table_.FactsOf(*all[step.function]);
      if (step.next < facts.calls.size()) {
        const uint32_t callee = *numbers_.Find(facts.calls[step.next++].callee.value);
        if (position_[callee] == kUnseen) {
          // A function that is open is being walked; calls form no cycle, so it is not met again.
          position_[callee] = kOpen;
          open.push_back({callee, 0});
        }
        continue;
      }
      position_[step.function] = static_cast<uint32_t>(live_.functions.size());
      live_.functions.push_back({.ref = all[step.function], .facts = &facts});
      open.pop_back();
    }
  }

  LiveFunction& Callee(ir::DeclId function) {
    return live_.functions[position_[*numbers_.Find(function.value)]];
  }

  // What a function takes over from those it calls: the inputs that must be handed on, whether it
  // may discard, and what is done with samplers that it hands on.
  void GoUp(LiveFunction& function) {
    // One row for each parameter; those that are no samplers keep "none".
    function.samplers.resize(function.ref->signature->members.size());
    function.handed_on = function.facts->stage_variables & kHandedOn;
    function.discards = function.facts->discards;
    for (const RegionFacts::Call& call : function.facts->calls) {
      const LiveFunction& callee = Callee(call.callee);
      function.handed_on |= callee.handed_on;
      function.discards = function.discards || callee.discards;
      // A callee that discards inside of a loop must be asked after, so the module needs the flag.
      live_.asks_for_discard = live_.asks_for_discard || (call.in_loop && callee.discards);
      const uint32_t number = position_[*numbers_.Find(call.callee.value)];
      // Each callee once, in the order of the first call.
      if (std::ranges::find(function.callees, number) == function.callees.end()) {
        function.callees.push_back(number);
      }
    }
    for (const FunctionFacts::SamplerUse& use : function.facts->samplers) {
      if (!use.decl.valid()) {
        SamplerUse& known = function.samplers[use.parameter];
        known = known | (use.compares ? SamplerUse::kCompares : SamplerUse::kFilters);
      }
    }
    for (const FunctionFacts::SamplerFlow& flow : function.facts->flows) {
      if (!flow.decl.valid()) {
        SamplerUse& known = function.samplers[flow.parameter];
        known = known | Callee(flow.callee).samplers[flow.argument];
      }
    }
  }

  // What callees take over from their callers: a function is in uniform flow only if every call of
  // it is. The walk goes from the entry point down, so the callers of a function are done when it
  // is looked at.
  void GoDown(LiveFunction& function) {
    for (const RegionFacts::Call& call : function.facts->calls) {
      Flow& flow = Callee(call.callee).flow;
      flow = std::max({flow, call.flow, function.flow});
    }
    // The first one in this order is told; one place is enough to turn the question off.
    for (const FunctionFacts::Collective& collective : function.facts->collectives) {
      if (!live_.unproven.has_value() && !ir::IsBarrier(collective.builtin) &&
          std::max(collective.flow, function.flow) != Flow::kUniform) {
        live_.unproven = collective;
      }
    }
  }

  static constexpr uint32_t kUnseen = 0xffffffffu;
  static constexpr uint32_t kOpen = 0xfffffffeu;

  ObjectTable& table_;
  LiveEntry live_;
  FlatMap<uint32_t, uint32_t> numbers_;  // by DeclId: place in the entry's list
  std::vector<uint32_t> position_;       // by place in that list: in the order of live_
};

// Leaves of a declaration, ascending, over all entry points: memory is shared between stages, and
// one atomic use decides for all.
void AddAtomics(const LiveEntry& entry, FlatMap<uint32_t, AtomicLeaves>& leaves) {
  for (const LiveFunction& function : entry.functions) {
    for (const RegionFacts::AtomicUse& use : function.facts->atomics) {
      AtomicLeaves& known = *leaves.Insert(use.decl.value, {}).first;
      const auto place = std::ranges::lower_bound(known, use.leaf);
      if (place == known.end() || *place != use.leaf) {
        known.insert(place, use.leaf);
      }
    }
  }
}

// The first place that compares is kept for the message.
void AddSampler(ir::DeclId decl, SamplerUse use, const Location& where,
                FlatMap<uint32_t, SamplerFact>& samplers) {
  SamplerFact& known = *samplers.Insert(decl.value, {.decl = decl}).first;
  known.use = known.use | use;
  if ((use == SamplerUse::kCompares || use == SamplerUse::kBoth) && !known.compares.known()) {
    known.compares = where;
  }
}

void AddSamplers(const LiveEntry& entry, FlatMap<uint32_t, SamplerFact>& samplers) {
  for (const LiveFunction& function : entry.functions) {
    for (const FunctionFacts::SamplerUse& use : function.facts->samplers) {
      if (use.decl.valid()) {
        AddSampler(use.decl, use.compares ? SamplerUse::kCompares : SamplerUse::kFilters, use.where,
                   samplers);
      }
    }
    // A sampler that is handed on is used as the parameter is.
    for (const FunctionFacts::SamplerFlow& flow : function.facts->flows) {
      if (flow.decl.valid()) {
        AddSampler(flow.decl, entry.Of(flow.callee).samplers[flow.argument], {}, samplers);
      }
    }
  }
}

}  // namespace

// Linear over the functions of an entry point, as names are asked for call by call.
const LiveFunction& LiveEntry::Of(ir::DeclId function) const {
  const auto found = std::ranges::find_if(
      functions, [&](const LiveFunction& live) { return live.ref->function == function; });
  KILN_CHECK(found != functions.end(), "function {} is not reached", function.value);
  return *found;
}

SamplerUse VariantFacts::UseOf(ir::DeclId sampler) const {
  const auto found = std::ranges::find(samplers, sampler, &SamplerFact::decl);
  return found == samplers.end() ? SamplerUse::kNone : found->use;
}

// The maps are only looked up. What comes out follows the order of the interface.
VariantFacts FactsOf(const ir::SpecialisedProgram& variant, ObjectTable& table) {
  VariantFacts facts;
  FlatMap<uint32_t, AtomicLeaves> leaves;
  FlatMap<uint32_t, SamplerFact> samplers;
  for (const ir::EntryRef& entry : variant.entries) {
    facts.entries.push_back(EntryWalk(entry, table).Run());
    AddAtomics(facts.entries.back(), leaves);
    AddSamplers(facts.entries.back(), samplers);
  }
  // In the order of the interface, which no map decides.
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (const AtomicLeaves* found = leaves.Find(decl->decl.value)) {
      facts.atomics.push_back({.decl = decl->decl, .leaves = *found});
    }
    if (const SamplerFact* found = samplers.Find(decl->decl.value)) {
      facts.samplers.push_back(*found);
    }
  }
  return facts;
}

}  // namespace kiln::wgsl
