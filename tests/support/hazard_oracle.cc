// SPDX-License-Identifier: MIT
#include "tests/support/hazard_oracle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "tests/support/hazard_objects.h"
#include "tests/support/plan_rules.h"

namespace kiln::test {
namespace {

using Json = nlohmann::json;
using Mask = uint64_t;
using Where = PlaceOfBytes;

constexpr int kFramesInFlight = 3;  // the host has waited for older ones
constexpr size_t kStages = 32;

const std::string& Text(const Json& value) { return value.get_ref<const std::string&>(); }

// Names as bits, in the order in which they are met.
struct Names {
  std::unordered_map<std::string, Mask> bits;
  Mask Bit(const Json& name) {
    return bits.try_emplace(Text(name), Mask{1} << bits.size()).first->second;
  }
  Mask Bits(const Json& list) {
    Mask mask = 0;
    for (const Json& name : list) {
      mask |= Bit(name);
    }
    return mask;
  }
};

struct Record {
  Where where;
  int frame, position;
  bool write;
  Mask stage, access;  // one bit each; a layout change has none
  Mask after;
  bool available;
};
using Visible = std::array<Mask, kStages>;  // by stage: accesses

// A cell of an import of which the caller said only its layout. It may be what any wait for the
// outside is for, so its layout changes behind all that come before its first use.
struct QuietCell {
  size_t chain, cell;
  Where where;
  std::string layout;
  bool used;
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
  void CutSegments();
  void StartOutside(const Json& plan);
  void Command(const Json& point);
  void Depend(const Json& entry, const std::vector<std::pair<Mask, bool>>& before);
  void ChangeLayout(const Json& entry);
  void Access(const Json& pass, const Json& access);
  void Touch(const Where& place, const Json& pass, const Json& access);
  void Check(const Record& b, const Json& pass, const Json& access);
  void Wait(const Json& use);
  void Signal(const Json& use);
  void Add(const Record& record, const Visible& visible = {}) {
    records_.push_back(record);
    visible_.push_back(visible);
  }
  void CheckQuiet(const Json& entry);
  void Forget();
  static void See(Visible& visible, Mask stages, Mask accesses);
  bool Reaches(const Record& record, Mask stages) const {
    return (record.stage & stages) != 0 || (record.after & stages) != 0;
  }

  HazardMode mode_;
  int frame_ = -1;
  Names stages_, accesses_;
  std::vector<Record> records_;
  std::vector<Visible> visible_;  // by record; apart, since few checks come to it
  HazardObjects objects_;
  std::vector<size_t> version_chain_;
  std::vector<QuietCell> quiet_;
  std::vector<Mask> outside_waits_;  // stages of those that the frame has come by
  std::map<std::string, std::map<uint64_t, std::vector<size_t>>> signalled_;
};

void Oracle::See(Visible& visible, Mask stages, Mask accesses) {
  for (size_t stage = 0; stage < kStages; ++stage) {
    if ((stages >> stage & 1) != 0) {
      visible[stage] |= accesses;
    }
  }
}

// Records of frames that the host has waited for.
void Oracle::Forget() {
  size_t kept = 0;
  for (size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].frame + kFramesInFlight >= frame_) {
      records_[kept] = records_[i];
      visible_[kept++] = visible_[i];
    }
  }
  records_.resize(kept);
  visible_.resize(kept);
}

// Records are cut at the byte borders of all placements, old and new.
void Oracle::CutSegments() {
  objects_.ClearBorders();
  for (const Record& record : records_) {
    objects_.AddBorders(record.where);
  }
  objects_.SortBorders();
  for (size_t i = 0; i < records_.size(); ++i) {
    const uint64_t border = objects_.BorderIn(records_[i].where);
    if (border != 0) {
      Record rest = records_[i];
      records_[i].where.end = border;
      rest.where.begin = border;
      Add(rest, Visible(visible_[i]));
    }
  }
}

// Imports, and histories that were filled just before: records of what happened outside.
void Oracle::StartOutside(const Json& plan) {
  for (const Json& initial : plan["initial"]) {
    const size_t chain = initial["chain"];
    const bool history = objects_.Chain(chain)["object"] == "history";
    const size_t cell = initial["cell"];
    if (history && !objects_.Chain(chain)["reset"].get<bool>()) {
      continue;  // what the oracle remembers counts, not what the plan says
    }
    CellContent& content = objects_.ContentsOf(chain)[cell].second;
    content.layout =
        initial["layout"].is_null() ? "UNDEFINED" : initial["layout"].get<std::string>();
    content.written = content.layout != "UNDEFINED" || initial["layout"].is_null();
    const bool pending = initial["pending"];
    const Mask accesses = accesses_.Bits(initial["accesses"]);
    const auto add = [&](bool write, Mask stage, Mask access, Mask after) {
      Record record{};
      record.where = objects_.Places(chain, Json::array({cell})).front();
      record.frame = frame_;
      record.position = -1;
      record.write = write;
      record.stage = stage;
      record.access = access;
      record.after = after;
      record.available = !pending;
      Add(record);
    };
    const Mask stages = stages_.Bits(initial["stages"]);
    if (!history && !pending && stages == 0) {
      quiet_.push_back({chain, cell, objects_.Places(chain, Json::array({cell})).front(),
                        content.layout, false});
    }
    if (!pending && stages != 0) {  // contents that are visible to some accesses only
      add(true, 0, 0, stages);
      See(visible_.back(), stages, accesses == 0 ? ~Mask{0} : accesses);
    }
    for (const Json& name : initial[pending ? "stages" : "readers"]) {
      add(pending, stages_.Bit(name), pending ? accesses : Mask{0}, 0);
    }
  }
}

// What the entry makes wait, and for what. `before`: after and available, as the command found
// them.
void Oracle::Depend(const Json& entry, const std::vector<std::pair<Mask, bool>>& before) {
  const size_t chain = entry["chain"];
  const Mask s1 = stages_.Bits(entry["src"][0]);
  const Mask a1 = accesses_.Bits(entry["src"][1]);
  const Mask s2 = stages_.Bits(entry["dst"][0]);
  const Mask a2 = accesses_.Bits(entry["dst"][1]);
  const std::vector<Where> places = objects_.Places(chain, entry["cells"]);
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
      Fail("the layout change of '" + objects_.Name(chain) +
           "' does not wait for what came before");
    }
    if (!reached || (mode_ == HazardMode::kStrict && !inside)) {
      continue;
    }
    records_[i].after |= s2;
    if (a.write && inside && available) {
      records_[i].available = true;
      See(visible_[i], s2, a2);
    }
  }
}

// Requires: the entry changes the layout.
void Oracle::CheckQuiet(const Json& entry) {
  const Mask s1 = stages_.Bits(entry["src"][0]);
  for (const QuietCell& quiet : quiet_) {
    const std::vector<Where> places = objects_.Places(entry["chain"], entry["cells"]);
    const bool changed =
        !quiet.used && std::any_of(places.begin(), places.end(),
                                   [&](const Where& place) { return place.Meets(quiet.where); });
    for (const Mask wait : outside_waits_) {
      if (changed && (wait & s1) == 0) {
        Fail("the layout change of '" + objects_.Name(quiet.chain) + "' is not behind a wait");
      }
    }
  }
}

// A write record of its own.
void Oracle::ChangeLayout(const Json& entry) {
  const size_t chain = entry["chain"];
  for (const Json& cell : entry["cells"]) {
    for (auto& [box, content] : objects_.ContentsOf(chain)) {
      if (!box.Meets(objects_.Cell(chain, cell.get<size_t>()))) {
        continue;
      }
      if (entry["old"] != "UNDEFINED" && entry["old"] != content.layout) {
        Fail("'" + objects_.Name(chain) + "' is not in layout " + entry["old"].get<std::string>());
      }
      content.lost = content.lost || (entry["old"] == "UNDEFINED" && content.written);
      content.layout = entry["new"];
    }
  }
  const Mask stages = stages_.Bits(entry["dst"][0]);
  for (const Where& place : objects_.Places(chain, entry["cells"])) {
    objects_.Disturb(place);
    Record record{};
    record.where = place;
    record.frame = frame_;
    record.position = -2;
    record.write = true;
    record.after = stages;
    record.available = true;
    Add(record);
    See(visible_.back(), stages, accesses_.Bits(entry["dst"][1]));
  }
}

void Oracle::Command(const Json& point) {
  std::vector<std::pair<Mask, bool>> before;
  for (const Record& record : records_) {
    before.emplace_back(record.after, record.available);
  }
  for (const Json& entry : point["entries"]) {
    Depend(entry, before);
    if (entry["old"] != entry["new"]) {
      CheckQuiet(entry);
      ChangeLayout(entry);
    }
  }
}

std::string NameOf(const Json& pass, const Json& access) {
  return "'" + Text(access["name"]) + "' in '" + Text(pass["name"]) + "'";
}

// The access needs its layout and, unless it makes them, the contents.
void Oracle::Touch(const Where& place, const Json& pass, const Json& access) {
  const bool fresh = access["op"] == "create" || access["op"] == "discard";
  const bool writes = access["op"] != "read";
  for (auto& [box, content] : objects_.Contents(place.object)) {
    if (!box.Meets(place.cell)) {
      continue;
    }
    if (!access["layout"].is_null() && access["layout"] != content.layout) {
      Fail(NameOf(pass, access) + " finds layout " + content.layout);
    }
    if (content.lost && !fresh) {
      Fail(NameOf(pass, access) + " finds its contents lost");
    }
    content.lost = content.lost && !fresh;
    content.written = content.written || writes;
  }
  if (writes) {
    objects_.Disturb(place);
  }
}

// The new record against every earlier one of another pass, one of them a write.
void Oracle::Check(const Record& b, const Json& pass, const Json& access) {
  size_t stage = 0;
  while (b.stage >> stage != 1) {
    ++stage;
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    const Record& a = records_[i];
    const bool same_pass = a.frame == frame_ && a.position == b.position;
    if (same_pass || !(a.write || b.write) || !a.where.Meets(b.where)) {
      continue;
    }
    if ((a.after & b.stage) == 0) {
      Fail(NameOf(pass, access) + " does not wait for an earlier use");
    } else if (a.write && (visible_[i][stage] & b.access) == 0) {
      Fail(NameOf(pass, access) + " does not see an earlier write");
    }
  }
}

void Oracle::Access(const Json& pass, const Json& access) {
  const bool host = pass["position"].is_null();
  const size_t chain = version_chain_[access["version"].get<size_t>()];
  for (const Where& place : objects_.Places(chain, access["cells"])) {
    Touch(place, pass, access);
    for (QuietCell& quiet : quiet_) {
      quiet.used = quiet.used || place.Meets(quiet.where);
    }
    for (const Json& pair : host ? Json::array() : access["pairs"]) {
      Record record{};
      record.where = place;
      record.frame = frame_;
      record.position = pass["position"].get<int>();
      record.stage = stages_.Bit(pair[0]);
      record.access = accesses_.Bit(pair[1]);
      record.write = Text(pair[1]).find("WRITE") != std::string::npos;
      Check(record, pass, access);
      Add(record);
    }
  }
}

void Oracle::Signal(const Json& use) {
  std::vector<size_t>& reached = signalled_[use["semaphore"]][use["value"]];
  reached.clear();
  const Mask stages = stages_.Bits(use["stages"]);
  for (size_t i = 0; i < records_.size(); ++i) {
    if (Reaches(records_[i], stages)) {
      records_[i].available = true;
      reached.push_back(i);
    }
  }
}

void Oracle::Wait(const Json& use) {
  const auto& values = signalled_[use["semaphore"]];
  const auto signal = values.lower_bound(use["value"].get<uint64_t>());
  if (signal == values.end()) {  // from outside
    outside_waits_.push_back(stages_.Bits(use["stages"]));
    for (const QuietCell& quiet : quiet_) {
      const CellContent& content = objects_.ContentsOf(quiet.chain)[quiet.cell].second;
      if (!quiet.used && content.layout != quiet.layout) {
        Fail("the layout of '" + objects_.Name(quiet.chain) + "' changes before a wait");
      }
    }
    return;
  }
  const Mask stages = stages_.Bits(use["stages"]);
  for (const size_t i : signal->second) {
    records_[i].after |= stages;
    See(visible_[i], stages, ~Mask{0});
  }
}

void Oracle::Frame(const Json& plan) {
  ++frame_;
  Forget();
  signalled_.clear();
  quiet_.clear();
  outside_waits_.clear();
  objects_.Bind(plan);
  version_chain_.clear();
  for (const Json& version : plan["versions"]) {
    version_chain_.push_back(version["chain"]);
  }
  CutSegments();
  objects_.Own();
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
