// SPDX-License-Identifier: MIT
#include "tests/support/hazard_objects.h"

#include <algorithm>

namespace kiln::test {

using Json = nlohmann::json;

void HazardObjects::Bind(const Json& plan) {
  chains_ = plan["chains"];
  std::vector<int> slots;
  for (const Json& from : plan["slots"]) {
    slots.push_back(from.is_null() ? next_object_++ : slots_[from.get<size_t>()]);
  }
  slots_ = slots;
  objects_.clear();
  cells_.clear();
  std::map<int, std::vector<std::pair<CellBox, CellContent>>> kept;
  for (const Json& chain : chains_) {
    const bool slot = !chain["slot"].is_null();
    objects_.push_back(slot ? slots_[chain["slot"].get<size_t>()] : next_object_++);
    std::vector<CellBox> cells;
    for (const Json& c : chain["cells"]) {
      cells.push_back({c[0], c[1], c[2], c[3], c[4]});
    }
    auto& contents = kept[objects_.back()];
    const bool history = chain["object"] == "history" && !chain["reset"].get<bool>();
    for (const CellBox& cell : cells) {
      CellContent content;
      for (const auto& [box, before] : contents_[objects_.back()]) {
        content = history && box.Meets(cell) ? before : content;
      }
      contents.emplace_back(cell, content);
    }
    cells_.push_back(cells);
  }
  contents_ = kept;
}

void HazardObjects::ClearBorders() {
  borders_.clear();
  for (const Json& chain : chains_) {
    if (chain.contains("address") && chain["size"].get<uint64_t>() > 0) {
      const uint64_t at = chain["address"];
      borders_.emplace_back(chain["class"].get<int>(), at);
      borders_.emplace_back(chain["class"].get<int>(), at + chain["size"].get<uint64_t>());
    }
  }
}

void HazardObjects::AddBorders(const PlaceOfBytes& place) {
  borders_.emplace_back(place.memory_class, place.begin);
  borders_.emplace_back(place.memory_class, place.end);
}

void HazardObjects::SortBorders() {
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
}

uint64_t HazardObjects::BorderIn(const PlaceOfBytes& place) const {
  for (const auto& [memory_class, border] : borders_) {
    if (memory_class >= 0 && memory_class == place.memory_class && border > place.begin &&
        border < place.end) {
      return border;
    }
  }
  return 0;
}

void HazardObjects::Own() {
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
}

std::vector<PlaceOfBytes> HazardObjects::Places(size_t chain, const Json& cells) const {
  std::vector<PlaceOfBytes> out;
  const Json& row = chains_[chain];
  const bool placed = row.contains("address");
  for (const Json& cell : cells) {
    const CellBox& box = cells_[chain][cell.get<size_t>()];
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

void HazardObjects::Disturb(const PlaceOfBytes& changed) {
  for (auto& [object, places] : owned_) {
    for (const PlaceOfBytes& place : places) {
      if (object != changed.object && place.Meets(changed)) {
        for (auto& [box, content] : contents_[object]) {
          content.lost = content.lost || content.written;
          content.layout = "UNDEFINED";
        }
      }
    }
  }
}

}  // namespace kiln::test
