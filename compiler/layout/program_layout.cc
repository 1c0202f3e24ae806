// SPDX-License-Identifier: MIT
// How places are written: spec/layout 14.2. What the language of the target calls a space decides
// the word; a number without its space is written where the target has no spaces (d3d11).
#include "compiler/layout/program_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

// "set", "space" or "group".
std::string_view SpaceWord(Platform platform) {
  switch (platform) {
    case Platform::kVulkan:
      return "set";
    case Platform::kWebgpu:
      return "group";
    case Platform::kD3d12:
    case Platform::kD3d11:
      return "space";
  }
  KILN_UNREACHABLE();
}

// Under policy rpl slots are slots on D3D, too; they are written as sets.
std::string_view SlotWord(Platform platform) {
  return platform == Platform::kWebgpu ? "group" : "set";
}

// One is not written: most places are single numbers.
std::string CountText(uint64_t count) {
  if (count >= kUnbounded) {
    return "[unbounded]";
  }
  return count == 1 ? "" : fmt::format("[{}]", count);
}

}  // namespace

// In the order of the enumeration.
std::string_view KindText(Kind kind) {
  constexpr std::string_view kTexts[] = {"b",     "t",    "u",    "s",         "slot",
                                         "space", "push", "spec", "attachment"};
  return kTexts[static_cast<size_t>(kind)];
}

std::string PlaceText(Platform platform, const Place& place) {
  switch (place.kind) {
    case Kind::kSlot:
      return fmt::format("{}{}.{}{}", SlotWord(platform), place.space, place.index,
                         CountText(place.count));
    case Kind::kSpace:
      // Several spaces are written as a range.
      return place.count == 1 ? fmt::format("{}{}", SpaceWord(platform), place.index)
                              : fmt::format("{}{}..{}", SpaceWord(platform), place.index,
                                            place.index + place.count - 1);
    case Kind::kPush:
      return "push";
    case Kind::kSpec:
      return fmt::format("spec {}", place.index);
    case Kind::kAttachment:
      return fmt::format("attachment {}{}", place.index, CountText(place.count));
    case Kind::kB:
    case Kind::kT:
    case Kind::kU:
    case Kind::kS:
      break;
  }
  const std::string text =
      fmt::format("{}{}{}", KindText(place.kind), place.index, CountText(place.count));
  return platform == Platform::kD3d12 ? fmt::format("{},space{}", text, place.space) : text;
}

// A message names one number and leaves the space out where the language of D3D does: without a
// space, space 0 is meant.
std::string PlaceInMessage(Platform platform, const Place& place) {
  Place one = place;
  one.count = 1;
  const bool d3d = platform == Platform::kD3d12 && one.space == 0;
  return PlaceText(d3d ? Platform::kD3d11 : platform, one);
}

// Warnings leave a layout usable.
bool ProgramLayout::ok() const {
  return std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.diagnostic.severity == Severity::kError;
  });
}

}  // namespace kiln::layout
