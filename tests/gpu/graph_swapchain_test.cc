// SPDX-License-Identifier: MIT
// A real swapchain: a window of an X server that draws to memory (Xvfb), a hundred frames with two
// and three in flight, while the window changes its size.
// See spec/graph 4.10, 13.7; spec/pso 11.4
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#define VK_NO_PROTOTYPES
#define VK_USE_PLATFORM_XCB_KHR
#include <dlfcn.h>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan.h>
#include <xcb/xcb.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/vk/unique.h"

namespace kiln::graph {
namespace {

// An X server of the test's own.
class XServer {
 public:
  XServer() {
    int ends[2];
    if (pipe(ends) != 0) {
      return;
    }
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      const std::string descriptor = std::to_string(ends[1]);
      execlp("Xvfb", "Xvfb", "-displayfd", descriptor.c_str(), "-screen", "0", "640x480x24",
             "-nolisten", "tcp", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    // A number and a newline, once the server is ready; it may write them one after the other.
    std::string text;
    for (char c = 0; c != '\n' && read(ends[0], &c, 1) == 1;) {
      text += c;
    }
    int number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{}) {
      display_ = ":" + std::to_string(number);
    }
    close(ends[0]);
  }
  ~XServer() {
    if (pid_ > 0) {
      kill(pid_, SIGTERM);
      waitpid(pid_, nullptr, 0);
    }
  }
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  const std::string& display() const { return display_; }  // empty: no server started

 private:
  pid_t pid_ = -1;
  std::string display_;
};

class XWindow {
 public:
  explicit XWindow(const std::string& display)
      : connection_(xcb_connect(display.c_str(), nullptr)) {
    const xcb_screen_t* screen = xcb_setup_roots_iterator(xcb_get_setup(connection_)).data;
    window_ = xcb_generate_id(connection_);
    xcb_create_window(connection_, XCB_COPY_FROM_PARENT, window_, screen->root, 0, 0, 64, 48, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, nullptr);
    xcb_map_window(connection_, window_);
    Synchronize();
  }
  ~XWindow() { xcb_disconnect(connection_); }
  XWindow(const XWindow&) = delete;
  XWindow& operator=(const XWindow&) = delete;

  void Resize(uint32_t width, uint32_t height) {
    const uint32_t values[] = {width, height};
    xcb_configure_window(connection_, window_, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT,
                         values);
    Synchronize();
  }
  xcb_connection_t* connection() const { return connection_; }
  xcb_window_t window() const { return window_; }

 private:
  // Everything that was asked for has happened.
  void Synchronize() {
    std::free(xcb_get_input_focus_reply(connection_, xcb_get_input_focus(connection_), nullptr));
  }

  xcb_connection_t* connection_;
  xcb_window_t window_ = 0;
};

// The functions of the window system's extensions, which kiln itself does not call.
struct WindowFunctions {
  explicit WindowFunctions(const runtime::Device& device)
      : loader(dlopen("libvulkan.so.1", RTLD_NOW)) {
    const auto get =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          get(device.instance(), name));
    };
    load(create_surface, "vkCreateXcbSurfaceKHR");
    load(destroy_surface, "vkDestroySurfaceKHR");
    load(surface_support, "vkGetPhysicalDeviceSurfaceSupportKHR");
    load(capabilities, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    load(create_swapchain, "vkCreateSwapchainKHR");
    load(destroy_swapchain, "vkDestroySwapchainKHR");
    load(images, "vkGetSwapchainImagesKHR");
    load(acquire, "vkAcquireNextImageKHR");
  }

  void* loader;
  PFN_vkCreateXcbSurfaceKHR create_surface = nullptr;
  PFN_vkDestroySurfaceKHR destroy_surface = nullptr;
  PFN_vkGetPhysicalDeviceSurfaceSupportKHR surface_support = nullptr;
  PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR capabilities = nullptr;
  PFN_vkCreateSwapchainKHR create_swapchain = nullptr;
  PFN_vkDestroySwapchainKHR destroy_swapchain = nullptr;
  PFN_vkGetSwapchainImagesKHR images = nullptr;
  PFN_vkAcquireNextImageKHR acquire = nullptr;
};

// The swapchain of a window, made anew when the window system says so: the graph never does that.
class Swapchain {
 public:
  static constexpr VkFormat kFormat = VK_FORMAT_B8G8R8A8_UNORM;

  Swapchain(runtime::Device& device, const XWindow& window, uint32_t frames_in_flight)
      : device_(device), functions_(device) {
    VkXcbSurfaceCreateInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR;
    info.connection = window.connection();
    info.window = window.window();
    EXPECT_EQ(functions_.create_surface(device.instance(), &info, nullptr, &surface_), VK_SUCCESS);
    VkBool32 supported = VK_FALSE;
    functions_.surface_support(device.physical(), device.queue_family(), surface_, &supported);
    EXPECT_EQ(supported, VK_TRUE);
    for (uint32_t i = 0; i < frames_in_flight; ++i) {
      acquire_.push_back(MakeSemaphore());
    }
    Make();
  }
  ~Swapchain() {
    device_.table().DeviceWaitIdle(device_.handle());
    functions_.destroy_swapchain(device_.handle(), swapchain_, nullptr);
    functions_.destroy_surface(device_.instance(), surface_, nullptr);
  }
  Swapchain(const Swapchain&) = delete;
  Swapchain& operator=(const Swapchain&) = delete;

  // Requires: frames_in_flight frames ago is done.
  Presentation Acquire(uint32_t frame) {
    uint32_t index = 0;
    const VkSemaphore acquired = acquire_[frame % acquire_.size()].get();
    VkResult result = functions_.acquire(device_.handle(), swapchain_, ~uint64_t{0}, acquired,
                                         VK_NULL_HANDLE, &index);
    if (result == VK_ERROR_OUT_OF_DATE_KHR) {
      Make();
      result = functions_.acquire(device_.handle(), swapchain_, ~uint64_t{0}, acquired,
                                  VK_NULL_HANDLE, &index);
    }
    EXPECT_TRUE(result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) << result;
    Presentation out;
    out.image.name = "swapchain";
    out.image.desc = {.format = kFormat, .size = {extent_.width, extent_.height, 1}};
    out.image.image = images_[index];
    out.acquire = acquired;
    out.present = present_[index].get();
    out.swapchain = swapchain_;
    out.image_index = index;
    return out;
  }

  void Make() {
    device_.table().DeviceWaitIdle(device_.handle());
    VkSurfaceCapabilitiesKHR capabilities{};
    EXPECT_EQ(functions_.capabilities(device_.physical(), surface_, &capabilities), VK_SUCCESS);
    extent_ = capabilities.currentExtent;
    VkSwapchainCreateInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
    info.surface = surface_;
    info.minImageCount = std::max(capabilities.minImageCount, 3U);
    info.imageFormat = kFormat;
    info.imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
    info.imageExtent = extent_;
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.preTransform = capabilities.currentTransform;
    info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    info.clipped = VK_TRUE;
    info.oldSwapchain = swapchain_;
    const VkSwapchainKHR old = swapchain_;
    ASSERT_EQ(functions_.create_swapchain(device_.handle(), &info, nullptr, &swapchain_),
              VK_SUCCESS);
    if (old != VK_NULL_HANDLE) {
      functions_.destroy_swapchain(device_.handle(), old, nullptr);
    }
    uint32_t count = 0;
    functions_.images(device_.handle(), swapchain_, &count, nullptr);
    images_.resize(count);
    functions_.images(device_.handle(), swapchain_, &count, images_.data());
    present_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      present_.push_back(MakeSemaphore());
    }
    ++made_;
  }
  uint32_t made() const { return made_; }
  VkExtent2D extent() const { return extent_; }

 private:
  vk::UniqueSemaphore MakeSemaphore() {
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(device_.table().CreateSemaphore(device_.handle(), &info, nullptr, &semaphore),
              VK_SUCCESS);
    return vk::UniqueSemaphore(device_.table(), device_.handle(), semaphore);
  }

  runtime::Device& device_;
  WindowFunctions functions_;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_ = {};
  std::vector<VkImage> images_;
  std::vector<vk::UniqueSemaphore> acquire_;  // by frame in flight
  std::vector<vk::UniqueSemaphore> present_;  // by image
  uint32_t made_ = 0;
};

void DeclarePresented(Graph& graph, Presentation window, float shade) {
  graph.BeginFrame();
  const PassId pass = graph.CreatePass({.name = "paint", .kind = PassKind::kGraphics});
  graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  VkClearValue color{};
  color.color.float32[0] = shade;
  window.texture =
      graph.CreateTexture(pass, {.name = "color",
                                 .desc = {.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {64, 48, 1}},
                                 .access = {.accesses = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
                                 .contents = {.kind = ContentKind::kClear, .value = color},
                                 .keep = {}});
  graph.Present(window);
}

class GraphSwapchain : public ::testing::TestWithParam<uint32_t> {};

TEST_P(GraphSwapchain, HundredFrames_ArePresentedThroughChangesOfSize) {
  const XServer server;
  ASSERT_FALSE(server.display().empty()) << "no X server starts: install xvfb";
  std::vector<std::string> messages;
  {
    const char* const instance_extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                               VK_KHR_XCB_SURFACE_EXTENSION_NAME};
    const char* const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    auto device = runtime::Device::Create(
        {.prefer = "software",
         .validation = true,
         .extensions = extensions,
         .instance_extensions = instance_extensions,
         .messages = [&](const vk::Message& message) { messages.push_back(message.text); }});
    ASSERT_TRUE(device.ok()) << ErrorText(device.error());
    XWindow window(server.display());
    Swapchain swapchain(*device, window, GetParam());
    DeviceModel model(*device);
    Planner planner(model);
    auto executor = Executor::Create(*device, {.frames_in_flight = GetParam()});
    ASSERT_TRUE(executor.ok());
    Graph graph;
    std::vector<FrameTicket> tickets;
    for (uint32_t frame = 0; frame < 100; ++frame) {
      if (frame == 20 || frame == 45 || frame == 70) {
        // A software driver does not notice by itself; as engines do when the window tells them.
        window.Resize(64 + frame, 48 + frame / 2);
        swapchain.Make();
      }
      if (frame >= GetParam()) {
        ASSERT_TRUE(executor->Wait(tickets[frame - GetParam()], std::chrono::seconds(30)).ok());
      }
      DeclarePresented(graph, swapchain.Acquire(frame), static_cast<float>(frame) / 100);
      const auto plan = planner.Compile(graph, {}, executor->carried());
      ASSERT_TRUE(plan.ok()) << plan.error().context;
      const auto ticket = executor->Execute(**plan, graph);
      ASSERT_TRUE(ticket.ok()) << ErrorText(ticket.error());
      tickets.push_back(*ticket);
      if (ticket->present != PresentStatus::kPresented) {
        swapchain.Make();
      }
    }
    EXPECT_GE(swapchain.made(), 4U);
    EXPECT_EQ(swapchain.extent().width, 64U + 70U);
  }
  EXPECT_THAT(messages, ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(FramesInFlight, GraphSwapchain, ::testing::Values(2U, 3U),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace kiln::graph
