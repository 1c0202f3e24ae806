// SPDX-License-Identifier: MIT
// A presentation engine for emulated swapchains: a thread that takes what vkQueuePresentKHR is
// given, lets it wait, and shows it in another order; an image is free again once it was shown. It
// answers as it is told. See spec/graph 13.7
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/emulated_swapchain.h"

namespace kiln::graph {

// One at a time. Changes the table's submission and presentation until its end; the table and the
// swapchains outlive it.
class PresentationThread {
 public:
  explicit PresentationThread(vk::Table& table)
      : table_(table), submit_(table.QueueSubmit2), present_(table.QueuePresentKHR) {
    current = this;
    table_.QueueSubmit2 = &SubmitAlone;
    table_.QueuePresentKHR = &Present;
    thread_ = std::thread([this] { Run(); });
  }
  // Shows what is left.
  ~PresentationThread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    table_.QueueSubmit2 = submit_;
    table_.QueuePresentKHR = present_;
  }
  PresentationThread(const PresentationThread&) = delete;
  PresentationThread& operator=(const PresentationThread&) = delete;

  // From now on its images are given out. What others have presented is still shown.
  void Use(EmulatedSwapchain& swapchain) {
    const std::lock_guard lock(mutex_);
    swapchain_ = &swapchain;
    free_.clear();
    for (uint32_t image = 0; image < EmulatedSwapchain::kImages; ++image) {
      free_.push_back(image);
    }
  }
  // What the presentations to come return.
  void Answer(VkResult answer) { answer_ = answer; }

  // The image that became free first.
  Presentation Acquire() {
    std::unique_lock lock(mutex_);
    wanted_ = free_.empty();
    changed_.notify_all();
    changed_.wait(lock, [this] { return !free_.empty(); });
    wanted_ = false;
    const uint32_t image = free_.front();
    free_.erase(free_.begin());
    lock.unlock();
    Presentation out = swapchain_->AcquireImage(image);
    out.swapchain = reinterpret_cast<VkSwapchainKHR>(swapchain_);
    return out;
  }

  uint32_t presented() const {
    const std::lock_guard lock(mutex_);
    return presented_;
  }
  // Images that were shown before others that had been presented before them.
  uint32_t reordered() const {
    const std::lock_guard lock(mutex_);
    return reordered_;
  }

 private:
  struct Request {
    EmulatedSwapchain* swapchain;
    uint32_t image;
  };

  static inline PresentationThread* current = nullptr;

  // A queue serves one thread at a time.
  static VkResult SubmitAlone(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits,
                              VkFence fence) {
    const std::lock_guard lock(current->queue_);
    return current->submit_(queue, count, submits, fence);
  }

  static VkResult Present(VkQueue, const VkPresentInfoKHR* info) {
    auto* swapchain = reinterpret_cast<EmulatedSwapchain*>(info->pSwapchains[0]);
    EXPECT_EQ(info->waitSemaphoreCount, 1U);
    EXPECT_EQ(info->pWaitSemaphores[0], swapchain->PresentSemaphore(info->pImageIndices[0]));
    const std::lock_guard lock(current->mutex_);
    current->requests_.push_back({swapchain, info->pImageIndices[0]});
    ++current->presented_;
    current->changed_.notify_all();
    return current->answer_;
  }

  // Two presentations at least, so that one may overtake, unless somebody waits.
  bool MayShow() const {
    return requests_.size() > 1 || (!requests_.empty() && (wanted_ || ending_));
  }

  void Run() {
    std::minstd_rand random(1);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return MayShow() || ending_; });
      if (requests_.empty()) {
        return;
      }
      const size_t chosen = random() % requests_.size();
      const Request request = requests_[chosen];
      requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(chosen));
      reordered_ += chosen != 0 ? 1 : 0;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      request.swapchain->Submit(request.swapchain->PresentSemaphore(request.image), VK_NULL_HANDLE);
      lock.lock();
      if (request.swapchain == swapchain_) {
        free_.push_back(request.image);
      }
      changed_.notify_all();
    }
  }

  vk::Table& table_;
  PFN_vkQueueSubmit2 submit_;
  PFN_vkQueuePresentKHR present_;
  VkResult answer_ = VK_SUCCESS;
  std::mutex queue_;
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  EmulatedSwapchain* swapchain_ = nullptr;
  std::vector<Request> requests_;
  std::vector<uint32_t> free_;  // images
  bool wanted_ = false;         // somebody waits for an image
  bool ending_ = false;
  uint32_t presented_ = 0;
  uint32_t reordered_ = 0;
  std::thread thread_;
};

}  // namespace kiln::graph
