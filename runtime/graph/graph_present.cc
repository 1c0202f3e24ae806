// SPDX-License-Identifier: MIT
// Graph: semaphores and presentation.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/formats.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/short_name.h"

namespace kiln::graph {
namespace {

// Whether a blit can bring one format into the other.
bool CanBlit(VkFormat from, VkFormat to) {
  const auto is_plain_color = [](VkFormat format) {
    const std::optional<FormatInfo> info = InfoOf(format);
    return info.has_value() && info->aspects == VK_IMAGE_ASPECT_COLOR_BIT && info->block == 1;
  };
  return is_plain_color(from) && is_plain_color(to) && IsIntegerFormat(from) == IsIntegerFormat(to);
}

}  // namespace

uint32_t Graph::Ordinal(const SemaphoreUse& use, uint32_t pass, Where where) {
  const auto found = std::find(rows_.semaphores.begin(), rows_.semaphores.end(), use.semaphore);
  const auto ordinal = static_cast<uint32_t>(found - rows_.semaphores.begin());
  const uint8_t timeline = use.timeline ? 1 : 0;
  if (found == rows_.semaphores.end()) {
    rows_.semaphores.push_back(use.semaphore);
    rows_.semaphore_timeline.push_back(timeline);
    const auto named = std::find(named_semaphores_.begin(), named_semaphores_.end(), use.semaphore);
    rows_.semaphore_names.push_back(
        named == named_semaphores_.end()
            ? NameRef{}
            : KeepName(semaphore_names_[static_cast<size_t>(named - named_semaphores_.begin())]));
  } else if (rows_.semaphore_timeline[ordinal] != timeline) {
    Fail("SEMAPHORE_VALUE", "uses a semaphore both with and without a value", pass, kNone, where);
  }
  if (use.timeline && use.value == 0) {
    Fail("SEMAPHORE_VALUE", "uses value 0 of a timeline", pass, kNone, where);
  }
  return ordinal;
}

void Graph::AddSemaphoreUse(PassId pass_id, const SemaphoreUse& use, bool wait, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  if (pass == kNone) {
    return;
  }
  const PassKind kind = rows_.passes[pass].kind;
  if (kind == PassKind::kHost) {
    Fail("STAGE_NOT_IN_PASS", "uses a semaphore, but host passes have no place on a queue", pass,
         kNone, where);
    return;
  }
  const uint32_t ordinal = Ordinal(use, pass, where);
  const uint64_t value = use.timeline ? use.value : 0;
  for (const SemaphoreRow& other : rows_.semaphore_uses) {
    if (other.semaphore != ordinal || other.wait != wait || (value != 0 && wait) ||
        other.value != value) {
      continue;
    }
    const std::string first(other.pass == kNone ? std::string_view("an import")
                                                : rows_.PassName(other.pass));
    Fail(value == 0 ? "SEMAPHORE_TWICE" : "SEMAPHORE_VALUE",
         fmt::format("{} a semaphore that '{}' {} as well", wait ? "waits for" : "signals", first,
                     value == 0 ? "uses" : "signals with the same value"),
         pass, kNone, where);
    if (!errors_.empty() && other.pass != kNone) {
      errors_.back().passes.insert(errors_.back().passes.begin(), first);
    }
    return;
  }
  Stages stages = ElementaryStages(use.stages);
  if (stages == 0) {
    stages = !wait || kind == PassKind::kTransition
                 ? ElementaryStages(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
                 : AllowedStages(kind);
  }
  rows_.semaphore_uses.push_back(
      {.pass = pass, .semaphore = ordinal, .value = value, .stages = stages, .wait = wait});
}

void Graph::WaitSemaphore(PassId pass, const SemaphoreUse& use, Where where) {
  AddSemaphoreUse(pass, use, true, where);
}

void Graph::SignalSemaphore(PassId pass, const SemaphoreUse& use, Where where) {
  AddSemaphoreUse(pass, use, false, where);
}

void Graph::Present(const Presentation& presentation, Where where) {
  const uint32_t source = UseVersion(HandleOf(presentation.texture), kNone, where);
  if (source == kNone) {
    return;
  }
  for (const PresentRow& other : rows_.presents) {
    if (other.swapchain == presentation.swapchain &&
        other.image_index == presentation.image_index) {
      Fail("PRESENT_TWICE", "is presented to an image that is presented already", kNone, source,
           where);
      return;
    }
  }
  const VkFormat format = rows_.chains[rows_.versions[source].chain].format;
  if (!CanBlit(format, presentation.image.desc.format)) {
    Fail("PRESENT_FORMAT",
         fmt::format("has format {}, which cannot be brought to {}", FormatText(format),
                     FormatText(presentation.image.desc.format)),
         kNone, source, where);
    return;
  }
  TextureImport import = presentation.image;
  import.state = {.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
  import.acquire = nullptr;
  const TextureId image = ImportTexture(import, where);
  const PassId copy = {
      AddPass({.name = "present: copy", .kind = PassKind::kTransfer}, Origin::kPresentCopy, where),
      rows_.frame};
  const PassId present = {
      AddPass({.name = "present", .kind = PassKind::kTransition}, Origin::kPresent, where),
      rows_.frame};
  ReadTexture(
      copy,
      {.texture = presentation.texture, .access = {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}},
      where);
  const TextureId copied = WriteTexture(copy,
                                        {.name = ShortName("", import.name, " copied").text(),
                                         .texture = image,
                                         .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                         .discard = true,
                                         .keep = {}},
                                        where);
  WaitSemaphore(copy,
                {.semaphore = presentation.acquire, .stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT},
                where);
  WriteTexture(present,
               {.name = ShortName("", import.name, " presented").text(),
                .texture = copied,
                .access = {.layout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR},
                .discard = false,
                .keep = {}},
               where);
  SignalSemaphore(present, {.semaphore = presentation.present}, where);
  rows_.presents.push_back({.source = source,
                            .target = image.index,
                            .copy_pass = copy.index,
                            .present_pass = present.index,
                            .swapchain = presentation.swapchain,
                            .present = presentation.present,
                            .image_index = presentation.image_index,
                            .filter = presentation.filter});
}

}  // namespace kiln::graph
