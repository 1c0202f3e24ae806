// SPDX-License-Identifier: MIT
// The plan as JSON, schema 1. The first part is what people look for (order, barriers, batches,
// memory, metrics, by name), the second what another program needs to check the plan (passes,
// versions, chains, points by index, elementary stages).
#include "runtime/graph/print/print_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/graph/plan/cells.h"
#include "runtime/graph/print/plan_text.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> out;
  // The text of an empty mask, as StagesText writes it.
  if (text == "NONE") {
    return out;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('|', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Elementary names, whatever they combine to.
Json StageList(Stages stages) {
  Json list = Json::array();
  // Lowest bit first; `rest & (~rest + 1)` is that bit alone.
  for (Stages rest = stages; rest != 0; rest &= rest - 1) {
    list.push_back(StagesText(rest & (~rest + 1)));
  }
  return list;
}
Json AccessList(Accesses accesses) { return Split(AccessesText(accesses)); }

struct Printer {
  const Plan& plan;
  const Graph& graph;
  const Declarations& rows;

  // By name: in the part for people nothing refers to an index.
  std::string PassAt(int32_t position) const {
    return std::string(rows.PassName(plan.PassAt(static_cast<uint32_t>(position))));
  }
  Json Order() const;
  Json Culled() const;
  Json Barriers() const;
  Json Batches() const;
  Json Use(uint32_t use) const;
  Json Memory() const;
  Json Metrics() const;
  Json Options() const;
  uint32_t AcquiringPass(uint32_t use) const;
  Json Passes() const;
  Json AccessJson(uint32_t index) const;
  Json Versions() const;
  Json Chains() const;
  Json CellsOf(const AccessRow& access, const PlanChain& chain) const;
  Json Points() const;
  Json Initial() const;
  Json Slots() const;
  Json Rows() const;
};

Json Printer::Order() const {
  Json out = Json::array();
  // With the host passes in front, as they are run.
  for (const PlanPass& pass : plan.order) {
    out.push_back(rows.PassName(pass.pass));
  }
  return out;
}

Json Printer::Culled() const {
  Json out = Json::array();
  for (const uint32_t pass : plan.culled) {
    out.push_back(rows.PassName(pass));
  }
  return out;
}

Json Printer::Barriers() const {
  Json out = Json::array();
  for (const BarrierPoint& point : plan.points) {
    Json list = Json::array();
    for (uint32_t i = 0; i < point.entries; ++i) {
      const BarrierEntry& entry = plan.EntryAt(point, i);
      const AccessRow& access = rows.accesses[entry.access];
      // Rows of the plan and rows of the declaration have the same numbers.
      const PlanChain& chain = plan.chains[entry.chain];
      const bool texture = rows.chains[entry.chain].texture();
      Json item = {{"resource", rows.VersionName(access.version)},
                   {"chain", rows.ChainName(entry.chain)},
                   {"from_stages", StagesText(entry.src_stages)},
                   {"from_accesses", AccessesText(entry.src_accesses)},
                   {"to_stages", StagesText(entry.dst_stages)},
                   {"to_accesses", AccessesText(entry.dst_accesses)},
                   {"reason", ReasonName(entry.reason)},
                   {"protects", PassAt(entry.hi)}};
      // Buffers have no layout; null tells them apart from a texture that keeps its own.
      item["from_layout"] = texture ? Json(LayoutName(entry.old_layout)) : Json();
      item["to_layout"] = texture ? Json(LayoutName(entry.new_layout)) : Json();
      // A range is told only if the texture has several: else it would be all of it, in every row.
      if (chain.cells > 1) {
        const Box& box = plan.cells[entry.cell];
        item["range"] = {{"mip", box.mip},
                         {"mips", box.mips},
                         {"layer", box.layer},
                         {"layers", box.layers},
                         {"aspects", box.aspects}};
      }
      // The list is there even if it is empty, so that a reader need not ask for the key.
      Json aliases = Json::array();
      for (uint32_t a = entry.alias_begin; a < entry.alias_end; ++a) {
        aliases.push_back(rows.ChainName(plan.alias_sources[a]));
      }
      item["takes_bytes_of"] = std::move(aliases);
      list.push_back(std::move(item));
    }
    out.push_back({{"before", PassAt(static_cast<int32_t>(point.before))},
                   {"position", point.before},
                   {"barriers", std::move(list)}});
  }
  return out;
}

Json Printer::Use(uint32_t use) const {
  const SemaphoreRow& row = rows.semaphore_uses[use];
  // Semaphores without a name go by their number, which is unique in the frame.
  const std::string_view name = rows.SemaphoreName(row.semaphore);
  return {{"semaphore", name.empty() ? std::to_string(row.semaphore) : std::string(name)},
          {"ordinal", row.semaphore},
          {"value", row.value},
          {"stage", StagesText(row.stages)},
          {"stages", StageList(row.stages)}};
}

Json Printer::Batches() const {
  Json out = Json::array();
  for (const Batch& batch : plan.batches) {
    Json passes = Json::array();
    for (uint32_t position = batch.first; position <= batch.last; ++position) {
      passes.push_back(PassAt(static_cast<int32_t>(position)));
    }
    Json waits = Json::array();
    for (uint32_t i = 0; i < batch.waits; ++i) {
      waits.push_back(Use(plan.waits[batch.first_wait + i]));
    }
    Json signals = Json::array();
    for (uint32_t i = 0; i < batch.signals; ++i) {
      signals.push_back(Use(plan.signals[batch.first_signal + i]));
    }
    out.push_back({{"first", batch.first},
                   {"last", batch.last},
                   {"passes", std::move(passes)},
                   {"waits", std::move(waits)},
                   {"signals", std::move(signals)}});
  }
  return out;
}

Json Printer::Memory() const {
  const PlanMetrics& m = plan.metrics;
  // Classes lie one after another, so that an offset means one byte.
  std::vector<uint64_t> bases(plan.next.classes.size() + 1, 0);
  for (const PlanChain& chain : plan.chains) {
    if (chain.place == Place::kPacked) {
      // A class is as large as the highest byte that is used in it.
      uint64_t& top = bases[chain.memory_class + 1];
      top = std::max(top, chain.address + chain.size);
    }
  }
  // Prefix sums: class i begins where class i - 1 ends.
  for (size_t i = 1; i < bases.size(); ++i) {
    bases[i] += bases[i - 1];
  }
  Json placements = Json::array();
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.place == Place::kPacked) {
      // The passes are told by name for people and by position for programs.
      placements.push_back({{"resource", rows.ChainName(i)},
                            {"offset", bases[chain.memory_class] + chain.address},
                            {"size", chain.size},
                            {"first", PassAt(chain.first)},
                            {"last", PassAt(chain.last)},
                            {"first_position", chain.first},
                            {"last_position", chain.last},
                            {"class", chain.memory_class},
                            {"block", chain.block},
                            {"block_offset", chain.offset}});
    }
  }
  return {{"placements", std::move(placements)},  {"peak_live_bytes", m.all.peak_live},
          {"peak_epoch_bytes", m.all.peak_epoch}, {"allocated_bytes", m.all.allocated},
          {"committed_bytes", m.all.committed},   {"bytes_no_reuse", m.all.no_reuse},
          {"temporal_bytes", m.temporal_bytes},   {"upload_bytes", m.upload_bytes},
          {"readback_bytes", m.readback_bytes},   {"dedicated_bytes", m.dedicated_bytes},
          {"efficiency", m.efficiency()},         {"packer", m.packer}};
}

Json FiguresJson(const MemoryFigures& figures) {
  return {{"no_reuse", figures.no_reuse},
          {"peak_live", figures.peak_live},
          {"peak_epoch", figures.peak_epoch},
          {"allocated", figures.allocated},
          {"committed", figures.committed}};
}

Json Printer::Metrics() const {
  const PlanMetrics& m = plan.metrics;
  return {{"barrier_commands", m.commands},
          {"bound_for_order", m.needed},
          {"bound_over_orders", m.chain},
          {"alias_added", m.alias_added()},
          {"entries", m.entries},
          {"layout_changes", m.layout_changes},
          {"merged_reads", m.merged_reads},
          {"culled", m.culled},
          {"batches", plan.batches.size()},
          {"positions_before_wait", m.before_wait},
          {"def_distance", m.def_distance},
          {"images", FiguresJson(m.images)},
          {"buffers", FiguresJson(m.buffers)}};
}

Json Printer::Options() const {
  // No default, so that a new order gets its word here.
  const auto order = [&]() -> const char* {
    switch (plan.options.order) {
      case Order::kPriority:
        return "priority";
      case Order::kDeclared:
        return "declared";
      case Order::kRandom:
        return "random";
      case Order::kLevels:
        return "levels";
    }
    return "";
  };
  return {{"order", order()},
          {"seed", plan.options.seed},
          {"cull", plan.options.cull},
          {"alias", plan.options.alias},
          {"unify_reads", plan.options.unify_reads},
          {"barriers", plan.options.barriers == BarrierPlaces::kFewest ? "fewest" : "at_use"},
          {"declared_order_valid", plan.metrics.declared_order_valid}};
}

// Numbers of cells within the chain, as the file lists the cells of a chain with it.
Json Printer::CellsOf(const AccessRow& access, const PlanChain& chain) const {
  Json cells = Json::array();
  for (uint32_t cell = 0; cell < chain.cells; ++cell) {
    if (Covers(access, plan.cells[chain.first_cell + cell])) {
      cells.push_back(cell);
    }
  }
  return cells;
}

Json Printer::AccessJson(uint32_t index) const {
  const AccessRow& access = rows.accesses[index];
  const PlanChain& chain = plan.chains[rows.versions[access.version].chain];
  Json pairs = Json::array();
  // A checker wants single pairs: which stage does which access. Pairs that cannot be are left out,
  // as the masks are products.
  for (Stages stages = access.stages; stages != 0; stages &= stages - 1) {
    const Stages stage = stages & (~stages + 1);
    for (Accesses rest = access.accesses; rest != 0; rest &= rest - 1) {
      const Accesses bit = rest & (~rest + 1);
      if (IsPossible(stage, bit)) {
        pairs.push_back(Json::array({StagesText(stage), AccessesText(bit)}));
      }
    }
  }
  const char* op = access.op == Op::kRead     ? "read"
                   : access.op == Op::kCreate ? "create"
                   : access.discard != 0      ? "discard"
                                              : "write";
  // `name` beside the index makes the rows readable; checkers use the index.
  Json out = {{"version", access.version},
              {"name", rows.VersionName(access.version)},
              {"op", op},
              {"cells", CellsOf(access, chain)},
              {"pairs", std::move(pairs)}};
  // Null where an access makes no new version.
  out["result"] = access.result == kNone ? Json() : Json(access.result);
  out["layout"] = rows.ChainOf(access).texture() ? Json(LayoutName(plan.layouts[index])) : Json();
  return out;
}

// The first pass that uses the import whose acquire it is.
uint32_t Printer::AcquiringPass(uint32_t use) const {
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    if (rows.chains[i].acquire == use && plan.chains[i].first >= 0) {
      return plan.PassAt(static_cast<uint32_t>(plan.chains[i].first));
    }
  }
  return kNone;
}

// Every pass that runs, with all that it does; culled passes appear in `culled` only.
Json Printer::Passes() const {
  Json out = Json::array();
  for (const PlanPass& pass : plan.order) {
    const int32_t position = plan.positions[pass.pass];
    Json accesses = Json::array();
    for (uint32_t i = plan.pass_begin[pass.pass]; i < plan.pass_begin[pass.pass + 1]; ++i) {
      accesses.push_back(AccessJson(plan.pass_accesses[i]));
    }
    Json item = {{"name", rows.PassName(pass.pass)},
                 {"type", PassKindName(rows.passes[pass.pass].kind)},
                 {"declared", pass.pass},
                 {"queue", "graphics"},
                 {"alive", WhyText(pass, graph)},
                 {"accesses", std::move(accesses)}};
    item["waits"] = Json::array();
    item["signals"] = Json::array();
    // Quadratic in passes and semaphores; both are few, and this is printed on request only.
    for (uint32_t use = 0; use < rows.semaphore_uses.size(); ++use) {
      const SemaphoreRow& row = rows.semaphore_uses[use];
      const bool acquires = row.pass == kNone && AcquiringPass(use) == pass.pass;
      if (row.pass == pass.pass || acquires) {
        item[row.wait ? "waits" : "signals"].push_back(Use(use));
      }
    }
    // Host passes have no place among those of the device.
    item["position"] = position < 0 ? Json() : Json(position);
    item["batch"] = position < 0 ? Json() : Json(pass.batch);
    out.push_back(std::move(item));
  }
  return out;
}

Json Printer::Versions() const {
  Json out = Json::array();
  for (uint32_t i = 0; i < rows.versions.size(); ++i) {
    const VersionRow& row = rows.versions[i];
    Json item = {{"name", rows.VersionName(i)},
                 {"chain", row.chain},
                 {"temporal", row.temporal != 0},
                 {"output", row.output != 0}};
    // Null for what comes from outside of the frame.
    item["def"] = row.def == kNone ? Json() : Json(row.def);
    item["kill"] = row.kill == kNone ? Json() : Json(row.kill);
    out.push_back(std::move(item));
  }
  return out;
}

const char* PlaceName(Place place) {
  switch (place) {
    case Place::kNowhere:
      return "unused";
    case Place::kPacked:
      return "transient";
    case Place::kDedicated:
      return "dedicated";
    case Place::kRing:
      return "ring";
    case Place::kTemporal:
      return "temporal";
    case Place::kHistory:
      return "history";
    case Place::kImported:
      return "imported";
  }
  return "";
}

Json Printer::Chains() const {
  Json out = Json::array();
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    const PlanChain& chain = plan.chains[i];
    Json cells = Json::array();
    // A cell is written as five numbers in the order of the structure: there may be thousands of
    // them.
    for (uint32_t cell = chain.first_cell; cell < chain.first_cell + chain.cells; ++cell) {
      const Box& box = plan.cells[cell];
      cells.push_back({box.mip, box.mips, box.layer, box.layers, box.aspects});
    }
    Json item = {{"name", rows.ChainName(i)},
                 {"kind", rows.chains[i].texture() ? "texture" : "buffer"},
                 {"object", PlaceName(chain.place)},
                 {"size", chain.size},
                 {"alignment", chain.alignment},
                 {"first", chain.first},
                 {"last", chain.last},
                 {"cells", std::move(cells)}};
    // Only what shares memory has an address that says anything.
    if (chain.place == Place::kPacked) {
      item["class"] = chain.memory_class;
      item["block"] = chain.block;
      item["block_size"] = plan.next.classes[chain.memory_class].blocks[chain.block];
      item["offset"] = chain.offset;
      item["address"] = chain.address;
      item["epochs"] = {chain.epoch_first, chain.epoch_last};
    }
    item["slot"] = chain.slot == kNone ? Json() : Json(chain.slot);
    item["reset"] = chain.reset;
    out.push_back(std::move(item));
  }
  return out;
}

// Everything but the cell, what it waits for and whose bytes it takes.
bool SameButCell(const BarrierEntry& a, const BarrierEntry& b) {
  return a.chain == b.chain && a.src_stages == b.src_stages && a.src_accesses == b.src_accesses &&
         a.dst_stages == b.dst_stages && a.dst_accesses == b.dst_accesses &&
         a.old_layout == b.old_layout && a.new_layout == b.new_layout && a.reason == b.reason &&
         a.lo == b.lo && a.hi == b.hi;
}

// One row for each entry or run of like entries. `interval` is where the barrier could have stood,
// and `protects` the position whose access needs it.
Json Printer::Points() const {
  Json out = Json::array();
  for (const BarrierPoint& point : plan.points) {
    Json entries = Json::array();
    for (uint32_t i = 0; i < point.entries; ++i) {
      const BarrierEntry& entry = plan.EntryAt(point, i);
      const PlanChain& chain = plan.chains[entry.chain];
      Json item = {
          {"chain", entry.chain},
          {"cells", {entry.cell - chain.first_cell}},
          {"src", Json::array({StageList(entry.src_stages), AccessList(entry.src_accesses)})},
          {"dst", Json::array({StageList(entry.dst_stages), AccessList(entry.dst_accesses)})},
          {"reason", ReasonName(entry.reason)},
          {"sources", SourcePositions(plan, rows, entry)},
          {"protects", entry.hi},
          {"interval", {entry.lo, entry.hi}}};
      // Entries that differ only in the cell are one row with several cells. A texture of many
      // levels would otherwise fill pages.
      while (i + 1 < point.entries && SameButCell(entry, plan.EntryAt(point, i + 1))) {
        ++i;
        item["cells"].push_back(plan.EntryAt(point, i).cell - chain.first_cell);
      }
      const bool texture = rows.chains[entry.chain].texture();
      item["old"] = texture ? Json(LayoutName(entry.old_layout)) : Json();
      item["new"] = texture ? Json(LayoutName(entry.new_layout)) : Json();
      entries.push_back(std::move(item));
    }
    out.push_back({{"before", point.before}, {"entries", std::move(entries)}});
  }
  return out;
}

Json Printer::Initial() const {
  Json out = Json::array();
  // The states that the frame begins with; a checker starts from them.
  for (const InitialState& initial : plan.initial) {
    const CellState& state = initial.state;
    const PlanChain& chain = plan.chains[initial.chain];
    // An import that is acquired is marked with all bits, which means: visible to everything.
    const bool acquired = state.seen_accesses == ~Accesses{0};
    Json item = {{"chain", initial.chain},
                 {"cell", initial.cell - chain.first_cell},
                 {"pending", state.pending},
                 {"readers", StageList(state.readers)}};
    // A pending write matters until it was made visible; afterwards only what has seen it.
    const Stages stages = state.pending ? state.writer_stages : state.seen_stages;
    const Accesses accesses = state.pending ? state.writer_accesses : state.seen_accesses;
    item["layout"] = rows.chains[initial.chain].texture() ? Json(LayoutName(state.layout)) : Json();
    item["stages"] = StageList(stages);
    item["accesses"] = acquired ? Json::array() : AccessList(accesses);
    out.push_back(std::move(item));
  }
  return out;
}

Json Printer::Slots() const {
  Json out = Json::array();
  for (const TemporalSlot& slot : plan.next.slots) {
    // Null for a slot that nobody filled.
    out.push_back(slot.from == kNone ? Json() : Json(slot.from));
  }
  return out;
}

// What programs check, by index.
Json Printer::Rows() const {
  return {{"kiln_plan", 1},         {"batches", Batches()}, {"passes", Passes()},
          {"versions", Versions()}, {"chains", Chains()},   {"points", Points()},
          {"initial", Initial()},   {"slots", Slots()}};
}

}  // namespace

// In one line, as this form is for programs.
std::string PrintPlanRows(const Plan& plan, const Graph& graph) {
  const Printer printer{.plan = plan, .graph = graph, .rows = graph.rows()};
  return printer.Rows().dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PrintPlanJson(const Plan& plan, const Graph& graph) {
  const Printer printer{.plan = plan, .graph = graph, .rows = graph.rows()};
  Json out = printer.Rows();
  out["error"] = nullptr;
  out["frame"] = graph.rows().frame & ((1U << 23) - 1);
  out["structure"] = plan.structure.hex();
  out["order"] = printer.Order();
  out["culled"] = printer.Culled();
  out["barriers"] = printer.Barriers();
  out["memory"] = printer.Memory();
  out["metrics"] = printer.Metrics();
  out["options"] = printer.Options();
  // The hash of all that comes before it, so that two plans are compared by one line.
  out["plan"] = HashBytes(AsBytes(out.dump(-1, ' ', false, Json::error_handler_t::replace))).hex();
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The last frame is the one in the steady state, so its plan stands at the top, and all of them in
// the list.
std::string PrintFramesJson(const std::vector<std::string>& frames) {
  if (frames.size() == 1) {
    return frames.front();
  }
  Json all = Json::array();
  for (const std::string& frame : frames) {
    // Parsed again, so that a caller keeps one text for each frame and not two forms of it.
    all.push_back(Json::parse(frame, nullptr, false));
  }
  Json out = all.back();
  out["frames"] = std::move(all);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The same members as a plan has, so a reader need not ask first which of the two it got.
std::string PrintErrorsJson(const std::vector<GraphError>& errors) {
  Json list = Json::array();
  for (const GraphError& error : errors) {
    list.push_back({{"code", error.code},
                    {"message", error.message},
                    {"passes", error.passes},
                    {"resources", error.resources}});
  }
  const Json out = {{"kiln_plan", 1},
                    {"error", errors.empty() ? Json() : Json(errors.front().code)},
                    {"errors", std::move(list)},
                    {"order", Json::array()},
                    {"culled", Json::array()},
                    {"barriers", Json::array()},
                    {"batches", Json::array()}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::graph
