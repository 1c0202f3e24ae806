// SPDX-License-Identifier: MIT
// What the hazard oracle knows of the objects behind a plan's chains: which cells they have, which
// bytes they lie in, in which layout they are and whether their contents are still there.
// See spec/graph 12.2, 12.4
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::test {

struct CellBox {
  int mip, mips, layer, layers, aspects;
  bool Meets(const CellBox& o) const {
    const bool bytes = aspects == 0 && o.aspects == 0;  // buffers have one cell
    return bytes || (mip < o.mip + o.mips && o.mip < mip + mips && layer < o.layer + o.layers &&
                     o.layer < layer + layers && (aspects & o.aspects) != 0);
  }
};

// A place: a cell of an object, and for placed ones one elementary byte segment.
struct PlaceOfBytes {
  int object;
  CellBox cell;
  int memory_class;  // −1: not placed
  uint64_t begin, end;
  bool Meets(const PlaceOfBytes& o) const {
    if (object == o.object) {
      return cell.Meets(o.cell) && (memory_class < 0 || (begin < o.end && o.begin < end));
    }
    return memory_class >= 0 && memory_class == o.memory_class && begin < o.end && o.begin < end;
  }
};

struct CellContent {
  std::string layout = "UNDEFINED";
  bool written = false;
  bool lost = false;
};

// Objects of one frame after the other.
class HazardObjects {
 public:
  // Which object every chain is in this frame. Slots say which object of the last frame they are.
  void Bind(const nlohmann::json& plan);
  // The bytes at which places are cut: borders of all placements and of what is added.
  void ClearBorders();
  void AddBorders(const PlaceOfBytes& place);
  void SortBorders();
  // The first border inside the place; 0: none.
  uint64_t BorderIn(const PlaceOfBytes& place) const;
  // Remembers where every placed object of the frame lies.
  void Own();

  // Cells of the chain; of placed ones every elementary segment.
  std::vector<PlaceOfBytes> Places(size_t chain, const nlohmann::json& cells) const;
  // Another object has changed the bytes.
  void Disturb(const PlaceOfBytes& place);

  std::string Name(size_t chain) const { return chains_[chain]["name"].get<std::string>(); }
  const nlohmann::json& Chain(size_t chain) const { return chains_[chain]; }
  const CellBox& Cell(size_t chain, size_t cell) const { return cells_[chain][cell]; }
  std::vector<std::pair<CellBox, CellContent>>& Contents(int object) { return contents_[object]; }
  std::vector<std::pair<CellBox, CellContent>>& ContentsOf(size_t chain) {
    return contents_[objects_[chain]];
  }

 private:
  int next_object_ = 0;
  nlohmann::json chains_;
  std::vector<int> slots_;    // objects that are kept
  std::vector<int> objects_;  // by chain
  std::vector<std::vector<CellBox>> cells_;
  std::vector<std::pair<int, uint64_t>> borders_;  // memory class, address
  std::map<int, std::vector<std::pair<CellBox, CellContent>>> contents_;
  std::map<int, std::vector<PlaceOfBytes>> owned_;  // places of packed objects of this frame
};

}  // namespace kiln::test
