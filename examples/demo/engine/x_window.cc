// SPDX-License-Identifier: MIT
// A window of an X server with a swapchain. It is the only file that knows of a window system;
// functions of its extensions are loaded here and not by the runtime.
#include "examples/demo/engine/x_window.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <utility>

#include <xcb/xcb.h>
// After xcb, whose types it names.
#include <fmt/format.h>
#include <vulkan/vulkan_xcb.h>

namespace kiln::demo {
namespace {

constexpr VkFormat kFormat = VK_FORMAT_B8G8R8A8_UNORM;
constexpr uint32_t kImages = 3;
constexpr uint32_t kFramesInFlight = 3;  // at least those of the executor

// Functions of the window system's extensions, which the runtime itself does not call.
struct Functions {
  PFN_vkCreateXcbSurfaceKHR create_surface = nullptr;
  PFN_vkDestroySurfaceKHR destroy_surface = nullptr;
  PFN_vkGetPhysicalDeviceSurfaceSupportKHR support = nullptr;
  PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR capabilities = nullptr;
  PFN_vkCreateSwapchainKHR create = nullptr;
  PFN_vkDestroySwapchainKHR destroy = nullptr;
  PFN_vkGetSwapchainImagesKHR images = nullptr;
  PFN_vkAcquireNextImageKHR acquire = nullptr;

  // False if one is missing.
  bool Load(VkInstance instance) {
    // The loader is open already. It is asked by name, so that the program runs without it being
    // linked, and it stays open.
    void* const loader = dlopen("libvulkan.so.1", RTLD_NOW);
    const auto get =
        loader == nullptr
            ? nullptr
            : reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
    bool all = get != nullptr;
    const auto load = [&](auto& function, const char* name) {
      using Function = std::remove_reference_t<decltype(function)>;
      function = get == nullptr ? nullptr : reinterpret_cast<Function>(get(instance, name));
      all = all && function != nullptr;
    };
    load(create_surface, "vkCreateXcbSurfaceKHR");
    load(destroy_surface, "vkDestroySurfaceKHR");
    load(support, "vkGetPhysicalDeviceSurfaceSupportKHR");
    load(capabilities, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    load(create, "vkCreateSwapchainKHR");
    load(destroy, "vkDestroySwapchainKHR");
    load(images, "vkGetSwapchainImagesKHR");
    load(acquire, "vkAcquireNextImageKHR");
    return all;
  }
};

struct CloseConnection {
  void operator()(xcb_connection_t* connection) const { xcb_disconnect(connection); }
};

Error NoWindow(std::string_view why) {
  return {ErrorCode::kUnavailable,
          fmt::format("there is no window: {}; xvfb-run starts an X server without a screen", why),
          "NO_DEVICE"};
}

// Members that Vulkan uses are destroyed in ~XWindow; the connection goes after them.
class XWindow final : public Window {
 public:
  explicit XWindow(runtime::Device& device) : device_(device) {}
  ~XWindow() override;

  Result<void> Open(VkExtent2D extent);
  Result<graph::Presentation> Acquire() override;
  Result<void> Presented(graph::PresentStatus status) override;

 private:
  Result<vk::UniqueSemaphore> MakeSemaphore() const;
  Result<void> OpenSurface();
  Result<void> MakeSwapchain();

  runtime::Device& device_;
  Functions functions_;
  std::unique_ptr<xcb_connection_t, CloseConnection> connection_;
  xcb_window_t window_ = 0;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_ = {};
  std::vector<VkImage> images_;
  std::vector<vk::UniqueSemaphore> acquire_;  // by frame in flight
  std::vector<vk::UniqueSemaphore> present_;  // by image
  uint64_t frame_ = 0;
};

XWindow::~XWindow() {
  if (surface_ != VK_NULL_HANDLE) {
    device_.table().DeviceWaitIdle(device_.handle());
    // The swapchain goes before its surface, and both before the connection, which is a member.
    functions_.destroy(device_.handle(), swapchain_, nullptr);
    functions_.destroy_surface(device_.instance(), surface_, nullptr);
  }
}

Result<vk::UniqueSemaphore> XWindow::MakeSemaphore() const {
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  KILN_TRY_VK(device_.table().CreateSemaphore(device_.handle(), &info, nullptr, &semaphore),
              "create a semaphore of the window");
  return vk::UniqueSemaphore(device_.table(), device_.handle(), semaphore);
}

// That a device presents at all does not mean that it presents to this surface, so it is asked.
Result<void> XWindow::OpenSurface() {
  VkXcbSurfaceCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR;
  info.connection = connection_.get();
  info.window = window_;
  KILN_TRY_VK(functions_.create_surface(device_.instance(), &info, nullptr, &surface_),
              "create the surface of the window");
  VkBool32 supported = VK_FALSE;
  KILN_TRY_VK(functions_.support(device_.physical(), device_.queue_family(), surface_, &supported),
              "ask whether the device presents to the window");
  if (supported == VK_FALSE) {
    return NoWindow("the device cannot present to it");
  }
  return {};
}

// In the order in which each step can fail on a machine without a screen: the server, the functions
// of the device, and then the window.
Result<void> XWindow::Open(VkExtent2D extent) {
  connection_.reset(xcb_connect(nullptr, nullptr));
  if (xcb_connection_has_error(connection_.get()) != 0) {
    return NoWindow("no X server answers at DISPLAY");
  }
  if (!functions_.Load(device_.instance())) {
    return NoWindow("the device lacks functions of VK_KHR_swapchain");
  }
  const xcb_screen_t* const screen =
      xcb_setup_roots_iterator(xcb_get_setup(connection_.get())).data;
  window_ = xcb_generate_id(connection_.get());
  xcb_create_window(connection_.get(), XCB_COPY_FROM_PARENT, window_, screen->root, 0, 0,
                    static_cast<uint16_t>(extent.width), static_cast<uint16_t>(extent.height), 0,
                    XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, nullptr);
  xcb_map_window(connection_.get(), window_);
  // Waits until the server has done it.
  std::free(xcb_get_input_focus_reply(connection_.get(), xcb_get_input_focus(connection_.get()),
                                      nullptr));
  KILN_TRY_VOID(OpenSurface());
  for (uint32_t i = 0; i < kFramesInFlight; ++i) {
    KILN_TRY(vk::UniqueSemaphore semaphore, MakeSemaphore());
    acquire_.push_back(std::move(semaphore));
  }
  return MakeSwapchain();
}

// Everything waits for the device, which is fine for a change of size and for the beginning, and
// for nothing else.
Result<void> XWindow::MakeSwapchain() {
  device_.table().DeviceWaitIdle(device_.handle());
  VkSurfaceCapabilitiesKHR capabilities{};
  KILN_TRY_VK(functions_.capabilities(device_.physical(), surface_, &capabilities),
              "ask for the size of the window");
  extent_ = capabilities.currentExtent;
  VkSwapchainCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
  info.surface = surface_;
  info.minImageCount = std::max(capabilities.minImageCount, kImages);
  info.imageFormat = kFormat;
  info.imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
  info.imageExtent = extent_;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  info.preTransform = capabilities.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  // The old one is handed over, so that images which are being shown stay shown while the new one
  // is made.
  info.oldSwapchain = swapchain_;
  const VkSwapchainKHR old = swapchain_;
  KILN_TRY_VK(functions_.create(device_.handle(), &info, nullptr, &swapchain_),
              "create the swapchain");
  functions_.destroy(device_.handle(), old, nullptr);
  uint32_t count = 0;
  KILN_TRY_VK(functions_.images(device_.handle(), swapchain_, &count, nullptr),
              "count the images of the swapchain");
  images_.resize(count);
  KILN_TRY_VK(functions_.images(device_.handle(), swapchain_, &count, images_.data()),
              "get the images of the swapchain");
  // The device is idle, so nobody waits for these any more.
  present_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    KILN_TRY(vk::UniqueSemaphore semaphore, MakeSemaphore());
    present_.push_back(std::move(semaphore));
  }
  return {};
}

// Semaphores for acquiring go round by frame, and those for presenting belong to the image: it is
// known only afterwards which image comes.
Result<graph::Presentation> XWindow::Acquire() {
  const VkSemaphore acquired = acquire_[frame_++ % acquire_.size()].get();
  uint32_t index = 0;
  VkResult result = functions_.acquire(device_.handle(), swapchain_, ~uint64_t{0}, acquired,
                                       VK_NULL_HANDLE, &index);
  // The window has another size. The acquisition that failed signals nothing, so its semaphore can
  // be used again.
  if (result == VK_ERROR_OUT_OF_DATE_KHR) {
    KILN_TRY_VOID(MakeSwapchain());
    result = functions_.acquire(device_.handle(), swapchain_, ~uint64_t{0}, acquired,
                                VK_NULL_HANDLE, &index);
  }
  // An image that does not fit well was acquired all the same: it is drawn to, and Presented makes
  // another swapchain.
  if (result != VK_SUBOPTIMAL_KHR) {
    KILN_TRY_VK(result, "acquire an image of the window");
  }
  graph::Presentation out;
  out.image.name = "window";
  out.image.desc = {.format = kFormat, .size = {extent_.width, extent_.height, 1}};
  out.image.image = images_[index];
  out.acquire = acquired;
  out.present = present_[index].get();
  out.swapchain = swapchain_;
  out.image_index = index;
  return out;
}

// The image was presented in each case.
Result<void> XWindow::Presented(graph::PresentStatus status) {
  if (status == graph::PresentStatus::kOutOfDate || status == graph::PresentStatus::kSuboptimal) {
    return MakeSwapchain();
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Window>> OpenXWindow(runtime::Device& device, VkExtent2D extent) {
  auto window = std::make_unique<XWindow>(device);
  KILN_TRY_VOID(window->Open(extent));
  return std::unique_ptr<Window>(std::move(window));
}

}  // namespace kiln::demo
