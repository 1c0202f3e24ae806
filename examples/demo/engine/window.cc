// SPDX-License-Identifier: MIT
// A window without a screen: images are acquired and presented as with a real one, with the same
// semaphores, so the code of the frame is the same in tests.
#include "examples/demo/engine/window.h"

#include <utility>

namespace kiln::demo {
namespace {

// As many as a swapchain has as a rule: one shown, one waiting, one drawn.
constexpr size_t kImages = 3;

}  // namespace

Result<vk::UniqueSemaphore> HiddenWindow::MakeSemaphore() const {
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  KILN_TRY_VK(device_->table().CreateSemaphore(device_->handle(), &info, nullptr, &semaphore),
              "create a semaphore of the window");
  return vk::UniqueSemaphore(device_->table(), device_->handle(), semaphore);
}

// Semaphores and the image of a slot go together: one frame uses all three.
Result<std::unique_ptr<Window>> HiddenWindow::Create(runtime::Device& device, VkExtent2D extent) {
  std::unique_ptr<HiddenWindow> window(new HiddenWindow(device, extent));
  device.table().GetDeviceQueue(device.handle(), device.queue_family(), 0, &window->queue_);
  for (size_t i = 0; i < kImages; ++i) {
    Slot slot;
    KILN_TRY(slot.image, vk::CreateImage(device, *window->memory_,
                                         {.format = kFormat,
                                          .extent = {extent.width, extent.height, 1},
                                          .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                                   VK_IMAGE_USAGE_SAMPLED_BIT}));
    KILN_TRY(slot.acquire, window->MakeSemaphore());
    KILN_TRY(slot.present, window->MakeSemaphore());
    window->slots_.push_back(std::move(slot));
  }
  return std::unique_ptr<Window>(std::move(window));
}

HiddenWindow::~HiddenWindow() {
  if (!slots_.empty()) {
    // The last frame may still signal semaphores that go with this object.
    device_->table().DeviceWaitIdle(device_->handle());
  }
}

// An empty submission that waits and signals, as the presentation engine's side of the semaphores.
Result<void> HiddenWindow::Submit(VkSemaphore wait, VkSemaphore signal) const {
  VkSemaphoreSubmitInfo waits{};
  waits.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  waits.semaphore = wait;
  waits.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSemaphoreSubmitInfo signals = waits;
  signals.semaphore = signal;
  VkSubmitInfo2 submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  submit.waitSemaphoreInfoCount = wait == VK_NULL_HANDLE ? 0 : 1;
  submit.pWaitSemaphoreInfos = &waits;
  submit.signalSemaphoreInfoCount = signal == VK_NULL_HANDLE ? 0 : 1;
  submit.pSignalSemaphoreInfos = &signals;
  KILN_TRY_VK(device_->table().QueueSubmit2(queue_, 1, &submit, VK_NULL_HANDLE),
              "show an image of the window");
  return {};
}

// Never blocks, since nothing is shown. The graph's waits on semaphores are real.
Result<graph::Presentation> HiddenWindow::Acquire() {
  const auto index = static_cast<uint32_t>(acquired_ % slots_.size());
  const Slot& slot = slots_[index];
  // A semaphore may be signalled again only after somebody has waited for it. Nothing is shown
  // here, so an empty submission waits in the place of a display.
  if (acquired_ >= slots_.size()) {  // what was presented in it has been shown
    KILN_TRY_VOID(Submit(slot.present.get(), VK_NULL_HANDLE));
  }
  KILN_TRY_VOID(Submit(VK_NULL_HANDLE, slot.acquire.get()));
  ++acquired_;
  graph::Presentation out;
  out.image.name = "window";
  out.image.desc = {.format = kFormat, .size = {extent_.width, extent_.height, 1}};
  out.image.image = slot.image.handle.get();
  out.acquire = slot.acquire.get();
  out.present = slot.present.get();
  out.image_index = index;
  return out;
}

}  // namespace kiln::demo
