// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/function_object.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/literals.h"

namespace kiln::wgsl {
namespace {

Location Where(const ir::SpecialisedRegion& region, ir::SpanId span) {
  return {.module = region.module, .span_number = span.value};
}

// Lists keep the order of first mention, which is that of the text, and are short.
template <class Row>
void AddOnce(const Row& row, std::vector<Row>& rows) {
  if (std::ranges::find(rows, row) == rows.end()) {
    rows.push_back(row);
  }
}

// How the insertion points that lead to each region stand: inside of a loop, behind a branch.
struct RegionPlace {
  bool in_loop = false;
  Flow flow = Flow::kUniform;
};

// Regions lie behind the region that holds them, so one pass from the first to the last finds for
// each how all places that lead to it stand.
std::vector<RegionPlace> PlacesOf(const ir::FunctionRef& function,
                                  std::span<const RegionFacts* const> regions) {
  std::vector<RegionPlace> places(function.regions.size());
  for (size_t i = 1; i < places.size(); ++i) {
    const ir::RegionRef& ref = function.regions[i];
    // A region is held by one insertion point of its parent.
    const auto& insertion_points = regions[ref.parent]->insertion_points;
    const auto point =
        std::ranges::find(insertion_points, ref.region, &RegionFacts::InsertionPoint::region);
    KILN_CHECK(point != insertion_points.end(), "a region that no insertion point leads to");
    const RegionPlace& outer = places[ref.parent];
    places[i].in_loop = outer.in_loop || point->in_loop;
    places[i].flow = std::max(outer.flow, point->flow);
  }
  return places;
}

// A sampler that a region knows as a local is a parameter of the function; callers know only its
// position.
uint32_t PositionOf(const ir::FunctionRef& function, ir::LocalId parameter) {
  const std::vector<ir::SpecialisedMember>& members = function.signature->members;
  const auto found = std::ranges::find(members, parameter, &ir::SpecialisedMember::local);
  KILN_CHECK(found != members.end(), "a sampler that is no parameter");
  return static_cast<uint32_t>(found - members.begin());
}

// Puts the text of the regions together and decides the marks that the function knows: names of
// locals, whether a region is inside of a loop, and what a return without a value returns. Marks
// that only a module can decide stay, with new offsets.
class Writer {
 public:
  Writer(const ir::FunctionRef& function, std::span<const TextObject* const> objects,
         const std::vector<RegionPlace>& places, Types& types)
      : function_(function), objects_(objects), places_(places) {
    // What a return without a value gives back: in WGSL a function with a result has to give one on
    // every way out.
    if (types.pool()[function.signature->type].kind != ir::TypeKind::kVoid) {
      zero_ = " " + ZeroText(function.signature->type, types);
    }
    // Locals of one function have names in one map: a region names those of the regions around it.
    for (const TextObject* object : objects) {
      for (const LocalName& local : object->names) {
        names_.Insert(local.local.value, &local.name);
      }
    }
    for (uint32_t i = 1; i < function.regions.size(); ++i) {
      regions_.Insert(function.regions[i].region.value, i);
    }
  }

  MarkedText Run() {
    AddRegion(0, 0);
    return std::move(out_);
  }

 private:
  // Appends a stretch of text; each line that begins in it is moved to the right.
  // A region is lowered as if it stood at depth one, because it does not know where it will stand;
  // its lines are moved here. A stretch may begin in the middle of a line, behind a mark, so only
  // what follows a line end is indented.
  void Append(std::string_view text, uint32_t depth) {
    if (depth == 0) {
      out_.text += text;
      return;
    }
    while (!text.empty()) {
      if (out_.text.empty() || out_.text.back() == '\n') {
        out_.text.append(size_t{2} * depth, ' ');
      }
      const size_t end = text.find('\n');
      const size_t size = end == std::string_view::npos ? text.size() : end + 1;
      out_.text += text.substr(0, size);
      text.remove_prefix(size);
    }
  }

  // A live region becomes a block of its own, since its locals may have the names of others. A dead
  // one, and one without statements, leaves nothing.
  void AddInsertionPoint(ir::RegionId point, uint32_t depth) {
    const uint32_t* region = regions_.Find(point.value);
    if (region == nullptr || objects_[*region]->code.text.empty()) {
      return;
    }
    out_.text.append(size_t{2} * depth, ' ');
    out_.text += "{\n";
    AddRegion(*region, depth);
    out_.text.append(size_t{2} * depth, ' ');
    out_.text += "}\n";
  }

  // `depth`: how far its lines are moved; on its own a region begins at one.
  void AddRegion(uint32_t index, uint32_t depth) {
    CheckStop();
    const MarkedText& code = objects_[index]->code;
    const std::string_view text = code.text;
    uint32_t at = 0;
    uint32_t point_depth = 0;
    for (size_t i = 0; i < code.marks.size(); ++i) {
      const Relocation& mark = code.marks[i];
      // The text up to the mark, then what the mark stands for.
      Append(text.substr(at, mark.offset - at), depth);
      at = mark.offset;
      switch (mark.kind) {
        case MarkKind::kLocal:
          out_.text += **names_.Find(mark.id);
          break;
        // The depth of the insertion point that follows at once.
        case MarkKind::kIndent:
          point_depth = mark.id;
          break;
        // The depth was told by the mark before.
        case MarkKind::kInsertionPoint:
          AddInsertionPoint(ir::RegionId{mark.id}, depth + point_depth);
          break;
        case MarkKind::kZero:
          out_.text += zero_;
          break;
        case MarkKind::kIfInLoop:
          i = AddIf(code, i, places_[index].in_loop, at);
          break;
        // Inside of a loop only the question is left whether the callee discards; outside of all
        // loops the text is not needed.
        case MarkKind::kIfKillsInLoop:
          if (places_[index].in_loop) {
            Keep(MarkKind::kIfKills, mark.id);
          } else {
            i = AddIf(code, i, false, at);
          }
          break;
        case MarkKind::kFunction:
        case MarkKind::kArguments:
        case MarkKind::kTable:
        case MarkKind::kOverride:
        case MarkKind::kResult:
        case MarkKind::kIfKills:
        case MarkKind::kIfFlag:
        case MarkKind::kIfWritesImages:
          Keep(mark.kind, mark.id);
          break;
        // The end of a condition that was true and whose beginning was dropped has nothing left to
        // end. Conditions do not nest.
        case MarkKind::kEnd:
          if (!dropped_end_) {
            Keep(mark.kind, mark.id);
          }
          dropped_end_ = false;
          break;
      }
    }
    Append(text.substr(at), depth);
  }

  // A condition that is decided here: skips to its end, or drops the marks around the text.
  size_t AddIf(const MarkedText& code, size_t i, bool is_true, uint32_t& at) {
    if (is_true) {
      dropped_end_ = true;
      return i;
    }
    while (code.marks[i].kind != MarkKind::kEnd) {
      ++i;
    }
    at = code.marks[i].offset;
    return i;
  }

  void Keep(MarkKind kind, uint32_t id) {
    out_.marks.push_back(
        {.offset = static_cast<uint32_t>(out_.text.size()), .kind = kind, .id = id});
  }

  const ir::FunctionRef& function_;
  std::span<const TextObject* const> objects_;
  const std::vector<RegionPlace>& places_;
  std::string zero_;
  FlatMap<uint32_t, const std::string*> names_;  // by LocalId
  FlatMap<uint32_t, uint32_t> regions_;          // by RegionId: place in the function
  MarkedText out_;
  bool dropped_end_ = false;
};

// Needs are united in the order of the regions, so lists come out the same in every run.
void Add(const Needs& more, Needs& needs) {
  for (const VariableUse& variable : more.variables) {
    AddOnce(variable, needs.variables);
  }
  for (const ir::TypeId type : more.structs) {
    AddOnce(type, needs.structs);
  }
  for (const SpecialBits& special : more.specials) {
    AddOnce(special, needs.specials);
  }
  needs.helpers |= more.helpers;
  needs.stage_variables |= more.stage_variables;
  needs.half = needs.half || more.half;
}

}  // namespace

// A scalar of a typed module is its literal, as a constant is written.
std::string ZeroText(ir::TypeId type, Types& types) {
  const ir::Type t = types.pool()[type];
  return types.typed && t.kind == ir::TypeKind::kVector && t.rows == 1 ? Literal(t.scalar, 0)
                                                                       : types.Text(type) + "()";
}

// What the regions found, seen from the function: samplers that are parameters by their position,
// and loops and branches around a region added to what stands in it.
FunctionFacts FactsOf(const ir::FunctionRef& function,
                      std::span<const RegionFacts* const> regions) {
  FunctionFacts facts;
  const std::vector<RegionPlace> places = PlacesOf(function, regions);
  bool leaves_early = false;
  for (size_t i = 0; i < regions.size(); ++i) {
    const RegionFacts& region = *regions[i];
    const ir::SpecialisedRegion& specialised = *function.regions[i].specialised;
    // Atomics are of declarations and need no view of the function.
    for (const RegionFacts::AtomicUse& use : region.atomics) {
      AddOnce(use, facts.atomics);
    }
    for (const RegionFacts::SamplerUse& use : region.samplers) {
      const bool global = use.root.decl.valid();
      facts.samplers.push_back({.decl = use.root.decl,
                                .parameter = global ? 0 : PositionOf(function, use.root.parameter),
                                .compares = use.compares,
                                .where = Where(specialised, use.span)});
    }
    for (const RegionFacts::SamplerFlow& flow : region.flows) {
      const bool global = flow.root.decl.valid();
      facts.flows.push_back({.callee = flow.callee,
                             .argument = flow.argument,
                             .decl = flow.root.decl,
                             .parameter = global ? 0 : PositionOf(function, flow.root.parameter)});
    }
    // A call in a region is in a loop if the insertion point is. Flow is the worse of both.
    for (RegionFacts::Call call : region.calls) {
      call.in_loop = call.in_loop || places[i].in_loop;
      call.flow = std::max(call.flow, places[i].flow);
      facts.calls.push_back(call);
    }
    for (const RegionFacts::Collective& collective : region.collectives) {
      facts.collectives.push_back({.builtin = collective.builtin,
                                   .where = Where(specialised, collective.span),
                                   .flow = std::max(collective.flow, places[i].flow)});
    }
    // What a function mentions is the key under which its text is found again.
    for (const ir::Mention& mention : specialised.mentions) {
      AddOnce(mention.decl, facts.mentions);
    }
    for (const ir::StageVariable variable : specialised.stage_variables) {
      facts.stage_variables |= uint32_t{1} << static_cast<uint32_t>(variable);
    }
    facts.discards = facts.discards || region.discards;
    // The first region is looked at in the order of its text. Of nested ones it is not known what
    // comes behind their insertion point, so if one of them may leave the function nothing in it
    // counts as uniform.
    leaves_early = leaves_early || (i > 0 && region.leaves_early);
  }
  if (leaves_early) {  // where the insertion point stands in front of what, nobody has looked
    for (FunctionFacts::Collective& collective : facts.collectives) {
      collective.flow = Flow::kUnknown;
    }
    for (RegionFacts::Call& call : facts.calls) {
      call.flow = Flow::kUnknown;
    }
  }
  return facts;
}

FunctionObject MakeFunction(const ir::FunctionRef& function,
                            std::span<const TextObject* const> objects,
                            std::span<const RegionFacts* const> regions, Types& types) {
  const std::vector<RegionPlace> places = PlacesOf(function, regions);
  // Whether control reaches the end is decided by the body alone; regions in it flow on. So are
  // the names of parameters, and what of the interface is used.
  FunctionObject made{.body = Writer(function, objects, places, types).Run(),
                      .ends = objects[0]->ends,
                      .names = objects[0]->names,
                      .io = objects[0]->io};
  for (size_t i = 0; i < objects.size(); ++i) {
    Add(objects[i]->needs, made.needs);
    for (const RegionFinding& finding : objects[i]->findings) {
      Diagnostic diagnostic =
          Make(finding.code, Where(*function.regions[i].specialised, finding.span));
      // Findings of a region have spans of its module; the diagnostic names both.
      diagnostic.arguments = finding.arguments;
      made.findings.push_back(std::move(diagnostic));
    }
  }
  return made;
}

}  // namespace kiln::wgsl
