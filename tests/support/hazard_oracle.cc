// SPDX-License-Identifier: MIT
#include "tests/support/hazard_oracle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "tests/support/plan_rules.h"

namespace kiln::test {
namespace {

using Json = nlohmann::json;
using Mask = uint64_t;

constexpr int kFramesInFlight = 3;  // the host has waited for older ones
constexpr size_t kStages = 32;

// Names as bits, in the order in which they are met.
struct Names {
  std::map<std::string, Mask> bits;
  Mask Bit(const std::string& name) {
    const auto [at, added] = bits.emplace(name, Mask{1} << bits.size());
    return at->second;
  }
  Mask Bits(const Json& list) {
    Mask mask = 0;
    for (const Json& name : list) {
      mask |= Bit(name.get<std::string>());
    }
    return mask;
  }
};

struct Box {
  int mip, mips, layer, layers, aspects;
  bool Meets(const Box& o) const {
    const bool bytes = aspects == 0 && o.aspects == 0;  // buffers have one cell
    return bytes || (mip < o.mip + o.mips && o.mip < mip + mips && layer < o.layer + o.layers &&
                     o.layer < layer + layers && (aspects & o.aspects) != 0);
  }
};

// A place: a cell of an object, and for placed ones one elementary byte segment.
struct Where {
  int object;
  Box cell;
  int memory_class;  // −1: not placed
  uint64_t begin, end;
  bool Meets(const Where& o) const {
    if (object == o.object) {
      return cell.Meets(o.cell) && (memory_class < 0 || (begin < o.end && o.begin < end));
    }
    return memory_class >= 0 && memory_class == o.memory_class && begin < o.end && o.begin < end;
  }
};

struct Record {
  Where where;
  int frame, position;
  bool write;
  Mask stage, access;  // one bit each; a layout change has none
  Mask after;
  bool available;
  std::array<Mask, kStages> visible;  // by stage: accesses
};

struct Content {
  std::string layout = "UNDEFINED";
  bool written = false;
  bool lost = false;
};

class Oracle {
 public:
  explicit Oracle(HazardMode mode) : mode_(mode) {}
  void Frame(const Json& plan);
  std::vector<std::string> problems;

 private:
  void Fail(const std::string& what) {
    problems.push_back("frame " + std::to_string(frame_) + ": " + what);
  }
  void BindObjects(const Json& plan);
  void CutSegments();
  void StartOutside(const Json& plan);
  void Command(const Json& point);
  void Access(const Json& pass, const Json& access);
  void Wait(const Json& use);
  void Signal(const Json& use);
  std::vector<Where> Places(size_t chain, const Json& cells) const;
  void See(Record& record, Mask stages, Mask accesses) const;
  bool Reaches(const Record& record, Mask stages) const {
    return (record.stage & stages) != 0 || (record.after & stages) != 0;
  }
  // Another object has changed the bytes.
  void Disturb(const Where& where);
  std::string Name(size_t chain) const { return chains_[chain]["name"].get<std::string>(); }

  HazardMode mode_;
  int frame_ = -1;
  int next_object_ = 0;
  Names stages_, accesses_;
  std::vector<Record> records_;
  std::vector<int> slots_;    // objects that are kept
  std::vector<int> objects_;  // by chain
  std::vector<std::vector<Box>> cells_;
  std::vector<size_t> version_chain_;
  Json chains_;
  std::vector<std::pair<int, uint64_t>> borders_;  // memory class, address
  std::map<int, std::vector<std::pair<Box, Content>>> contents_;
  std::map<int, std::vector<Where>> owned_;  // places of packed objects of this frame
  std::map<std::string, std::map<uint64_t, std::vector<size_t>>> signalled_;
};

void Oracle::See(Record& record, Mask stages, Mask accesses) const {
  for (size_t stage = 0; stage < kStages; ++stage) {
    if ((stages >> stage & 1) != 0) {
      record.visible[stage] |= accesses;
    }
  }
}

// Which object every chain is in this frame. Slots say which object of the last frame they are.
void Oracle::BindObjects(const Json& plan) {
  chains_ = plan["chains"];
  std::vector<int> slots;
  for (const Json& from : plan["slots"]) {
    slots.push_back(from.is_null() ? next_object_++ : slots_[from.get<size_t>()]);
  }
  slots_ = slots;
  objects_.clear();
  cells_.clear();
  std::map<int, std::vector<std::pair<Box, Content>>> kept;
  for (const Json& chain : chains_) {
    const bool slot = !chain["slot"].is_null();
    objects_.push_back(slot ? slots_[chain["slot"].get<size_t>()] : next_object_++);
    std::vector<Box> cells;
    for (const Json& c : chain["cells"]) {
      cells.push_back({c[0], c[1], c[2], c[3], c[4]});
    }
    auto& contents = kept[objects_.back()];
    const bool history = chain["object"] == "history" && !chain["reset"].get<bool>();
    for (const Box& cell : cells) {
      Content content;
      for (const auto& [box, before] : contents_[objects_.back()]) {
        content = history && box.Meets(cell) ? before : content;
      }
      contents.emplace_back(cell, content);
    }
    cells_.push_back(cells);
  }
  contents_ = kept;
}

// Byte borders of all placements, old and new; records are cut at them.
void Oracle::CutSegments() {
  borders_.clear();
  for (const Json& chain : chains_) {
    if (chain.contains("address") && chain["size"].get<uint64_t>() > 0) {
      const uint64_t at = chain["address"];
      borders_.emplace_back(chain["class"].get<int>(), at);
      borders_.emplace_back(chain["class"].get<int>(), at + chain["size"].get<uint64_t>());
    }
  }
  for (const Record& record : records_) {
    borders_.emplace_back(record.where.memory_class, record.where.begin);
    borders_.emplace_back(record.where.memory_class, record.where.end);
  }
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  for (size_t i = 0; i < records_.size(); ++i) {
    for (const auto& [memory_class, border] : borders_) {
      if (memory_class >= 0 && memory_class == records_[i].where.memory_class &&
          border > records_[i].where.begin && border < records_[i].where.end) {
        Record rest = records_[i];
        records_[i].where.end = border;
        rest.where.begin = border;
        records_.push_back(rest);
        break;
      }
    }
  }
}

std::vector<Where> Oracle::Places(size_t chain, const Json& cells) const {
  std::vector<Where> out;
  const Json& row = chains_[chain];
  const bool placed = row.contains("address");
  for (const Json& cell : cells) {
    const Box& box = cells_[chain][cell.get<size_t>()];
    if (!placed) {
      out.push_back({objects_[chain], box, -1, 0, 0});
      continue;
    }
    const uint64_t begin = row["address"];
    const uint64_t end = begin + row["size"].get<uint64_t>();
    const int memory_class = row["class"];
    uint64_t at = begin;
    for (const auto& [other, border] : borders_) {
      if (other == memory_class && border > at && border <= end) {
        out.push_back({objects_[chain], box, memory_class, at, border});
        at = border;
      }
    }
  }
  return out;
}

// Imports, and histories that were filled just before: records of what happened outside.
void Oracle::StartOutside(const Json& plan) {
  for (const Json& initial : plan["initial"]) {
    const size_t chain = initial["chain"];
    const bool history = chains_[chain]["object"] == "history";
    const size_t cell = initial["cell"];
    if (history && !chains_[chain]["reset"].get<bool>()) {
      continue;  // what the oracle remembers counts, not what the plan says
    }
    Content& content = contents_[objects_[chain]][cell].second;
    content.layout =
        initial["layout"].is_null() ? "UNDEFINED" : initial["layout"].get<std::string>();
    content.written = content.layout != "UNDEFINED" || initial["layout"].is_null();
    const bool pending = initial["pending"];
    const Mask accesses = accesses_.Bits(initial["accesses"]);
    const auto add = [&](bool write, Mask stage, Mask access, Mask after) -> Record& {
      Record record{};
      record.where = Places(chain, Json::array({cell})).front();
      record.frame = frame_;
      record.position = -1;
      record.write = write;
      record.stage = stage;
      record.access = access;
      record.after = after;
      record.available = !pending;
      records_.push_back(record);
      return records_.back();
    };
    const Mask stages = stages_.Bits(initial["stages"]);
    if (!pending && stages != 0) {  // contents that are visible to some accesses only
      See(add(true, 0, 0, stages), stages, accesses == 0 ? ~Mask{0} : accesses);
    }
    for (const Json& name : initial[pending ? "stages" : "readers"]) {
      add(pending, stages_.Bit(name), pending ? accesses : Mask{0}, 0);
    }
  }
}

void Oracle::Disturb(const Where& where) {
  for (auto& [object, places] : owned_) {
    for (const Where& place : places) {
      if (object != where.object && place.Meets(where)) {
        for (auto& [box, content] : contents_[object]) {
          content.lost = content.lost || content.written;
          content.layout = "UNDEFINED";
        }
      }
    }
  }
}

void Oracle::Command(const Json& point) {
  std::vector<std::pair<Mask, bool>> before;  // after and available, as the command finds them
  for (const Record& record : records_) {
    before.emplace_back(record.after, record.available);
  }
  for (const Json& entry : point["entries"]) {
    const size_t chain = entry["chain"];
    const Mask s1 = stages_.Bits(entry["src"][0]);
    const Mask a1 = accesses_.Bits(entry["src"][1]);
    const Mask s2 = stages_.Bits(entry["dst"][0]);
    const Mask a2 = accesses_.Bits(entry["dst"][1]);
    const std::vector<Where> places = Places(chain, entry["cells"]);
    const bool change = entry["old"] != entry["new"];
    for (size_t i = 0; i < before.size(); ++i) {
      const Record& a = records_[i];
      const auto [after, was_available] = before[i];
      const bool reached = (a.stage & s1) != 0 || (after & s1) != 0;
      if (!reached && !change) {
        continue;
      }
      const bool inside = std::any_of(places.begin(), places.end(),
                                      [&](const Where& place) { return place.Meets(a.where); });
      const bool available = was_available || ((a.stage & s1) != 0 && (a.access & ~a1) == 0);
      if (change && inside && (!reached || (a.write && !available))) {
        Fail("the layout change of '" + Name(chain) + "' does not wait for what came before");
      }
      if (!reached || (mode_ == HazardMode::kStrict && !inside)) {
        continue;
      }
      records_[i].after |= s2;
      if (a.write && inside && available) {
        records_[i].available = true;
        See(records_[i], s2, a2);
      }
    }
    for (const Json& cell : change ? entry["cells"] : Json::array()) {
      for (auto& [box, content] : contents_[objects_[chain]]) {
        if (!box.Meets(cells_[chain][cell.get<size_t>()])) {
          continue;
        }
        if (entry["old"] != "UNDEFINED" && entry["old"] != content.layout) {
          Fail("'" + Name(chain) + "' is not in layout " + entry["old"].get<std::string>());
        }
        content.lost = content.lost || (entry["old"] == "UNDEFINED" && content.written);
        content.layout = entry["new"];
      }
    }
    for (const Where& place : change ? places : std::vector<Where>()) {
      Disturb(place);
      Record record{};
      record.where = place;
      record.frame = frame_;
      record.position = -2;
      record.write = true;
      record.after = s2;
      record.available = true;
      See(record, s2, a2);
      records_.push_back(record);
    }
  }
}

void Oracle::Access(const Json& pass, const Json& access) {
  const size_t version = access["version"];
  const bool host = pass["position"].is_null();
  const int position = host ? -1 : pass["position"].get<int>();
  const size_t chain = version_chain_[version];
  const std::string name =
      "'" + access["name"].get<std::string>() + "' in '" + pass["name"].get<std::string>() + "'";
  const bool fresh = access["op"] == "create" || access["op"] == "discard";
  const bool writes = access["op"] != "read";
  for (const Where& place : Places(chain, access["cells"])) {
    for (auto& [box, content] : contents_[place.object]) {
      if (!box.Meets(place.cell)) {
        continue;
      }
      if (!access["layout"].is_null() && access["layout"] != content.layout) {
        Fail(name + " finds layout " + content.layout);
      }
      if (content.lost && !fresh) {
        Fail(name + " finds its contents lost");
      }
      content.lost = content.lost && !fresh;
      content.written = content.written || writes;
    }
    if (writes) {
      Disturb(place);
    }
    for (const Json& pair : host ? Json::array() : access["pairs"]) {
      Record b{};
      b.where = place;
      b.frame = frame_;
      b.position = position;
      b.stage = stages_.Bit(pair[0]);
      b.access = accesses_.Bit(pair[1]);
      b.write = pair[1].get<std::string>().find("WRITE") != std::string::npos;
      size_t stage = 0;
      while (b.stage >> stage != 1) {
        ++stage;
      }
      for (const Record& a : records_) {
        const bool same_pass = a.frame == frame_ && a.position == position;
        if (same_pass || !(a.write || b.write) || !a.where.Meets(place)) {
          continue;
        }
        if ((a.after & b.stage) == 0) {
          Fail(name + " does not wait for an earlier use");
        } else if (a.write && (a.visible[stage] & b.access) == 0) {
          Fail(name + " does not see an earlier write");
        }
      }
      records_.push_back(b);
    }
  }
}

void Oracle::Signal(const Json& use) {
  std::vector<size_t>& reached = signalled_[use["semaphore"]][use["value"]];
  reached.clear();
  for (size_t i = 0; i < records_.size(); ++i) {
    if (Reaches(records_[i], stages_.Bits(use["stages"]))) {
      records_[i].available = true;
      reached.push_back(i);
    }
  }
}

void Oracle::Wait(const Json& use) {
  const auto& values = signalled_[use["semaphore"]];
  const auto signal = values.lower_bound(use["value"].get<uint64_t>());
  if (signal == values.end()) {
    return;  // from outside
  }
  const Mask stages = stages_.Bits(use["stages"]);
  for (const size_t i : signal->second) {
    records_[i].after |= stages;
    See(records_[i], stages, ~Mask{0});
  }
}

void Oracle::Frame(const Json& plan) {
  ++frame_;
  std::erase_if(records_, [&](const Record& r) { return r.frame + kFramesInFlight < frame_; });
  signalled_.clear();
  BindObjects(plan);
  version_chain_.clear();
  for (const Json& version : plan["versions"]) {
    version_chain_.push_back(version["chain"]);
  }
  CutSegments();
  owned_.clear();
  for (size_t chain = 0; chain < chains_.size(); ++chain) {
    if (chains_[chain].contains("address")) {
      Json all = Json::array();
      for (size_t cell = 0; cell < cells_[chain].size(); ++cell) {
        all.push_back(cell);
      }
      owned_[objects_[chain]] = Places(chain, all);
    }
  }
  for (const std::string& broken : FindBrokenRules(plan)) {
    Fail(broken);
  }
  StartOutside(plan);
  size_t point = 0;
  for (const Json& pass : plan["passes"]) {
    const bool device = !pass["position"].is_null();
    const Json* batch = device ? &plan["batches"][pass["batch"].get<size_t>()] : nullptr;
    if (device && (*batch)["first"] == pass["position"]) {
      for (const Json& use : (*batch)["waits"]) {
        Wait(use);
      }
    }
    while (device && point < plan["points"].size() &&
           plan["points"][point]["before"] <= pass["position"]) {
      Command(plan["points"][point++]);
    }
    for (const Json& access : pass["accesses"]) {
      Access(pass, access);
    }
    if (device && (*batch)["last"] == pass["position"]) {
      for (const Json& use : (*batch)["signals"]) {
        Signal(use);
      }
    }
  }
}

}  // namespace

std::vector<std::string> FindHazards(const std::vector<Json>& frames, HazardMode mode) {
  Oracle oracle(mode);
  for (const Json& frame : frames) {
    oracle.Frame(frame);
  }
  return oracle.problems;
}

}  // namespace kiln::test
