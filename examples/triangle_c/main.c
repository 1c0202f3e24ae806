// SPDX-License-Identifier: MIT
// triangle_c PACK PICTURE [TINT]: draws the triangle of the pack off-screen and writes it as a PPM.
#include <stdio.h>
#include <stdlib.h>

#include <kiln/kiln.h>

enum { kWidth = 320, kHeight = 180 };
static const uint64_t kMinute = 60000000000;
static const VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

// What a start-up makes; zero until it is made, and kiln destroys what is zero without a word.
typedef struct Engine {
  kiln_context* context;
  kiln_pack* pack;
  kiln_source* source;
  kiln_device* device;
  kiln_pipelines* pipelines;
  kiln_graph* graph;
  kiln_pipeline_id triangle;
  PFN_vkCmdDraw draw;
  kiln_error* error;
} Engine;

// The first call that fails ends the function it stands in; main says why.
#define TRY(call)               \
  do {                          \
    if ((call) != KILN_OK) {    \
      return 0;                 \
    }                           \
  } while (0)

// The pack and a device.
static int Open(Engine* engine, const char* path) {
  kiln_context_info context;
  KILN_INIT(context);
  context.header_version = KILN_HEADER_VERSION;
  TRY(kiln_context_create(&context, &engine->context, &engine->error));
  kiln_pack_info pack;
  KILN_INIT(pack);
  pack.path = kiln_text_of(path);
  TRY(kiln_pack_open(engine->context, &pack, &engine->pack, &engine->error));
  kiln_pack_source_info source;
  KILN_INIT(source);
  TRY(kiln_source_from_pack(engine->pack, &source, &engine->source, &engine->error));
  kiln_device_info device;
  KILN_INIT(device);
  TRY(kiln_device_open(engine->context, &device, &engine->device, &engine->error));
  engine->draw = (PFN_vkCmdDraw)kiln_device_function(engine->device, "vkCmdDraw");
  return engine->draw != NULL;
}

// The pipeline, before the first frame.
static int Warm(Engine* engine, const char* tint) {
  kiln_pipelines_info info;
  KILN_INIT(info);
  TRY(kiln_pipelines_create(engine->device, &info, &engine->pipelines, &engine->error));
  kiln_load_report report;
  KILN_INIT(report);
  TRY(kiln_pipelines_load(engine->pipelines, engine->source, &report, &engine->error));
  const kiln_option option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(tint), 0, 0};
  kiln_variant variant;
  KILN_INIT(variant);
  variant.program = kiln_text_of("triangle");
  variant.options = &option;
  variant.option_count = 1;
  kiln_pass_signature signature;
  KILN_INIT(signature);
  signature.color = &kFormat;
  signature.color_count = 1;
  TRY(kiln_pipelines_find(engine->pipelines, &variant, &signature, &engine->triangle,
                          &engine->error));
  kiln_warm_ticket ticket;
  TRY(kiln_pipelines_warm(engine->pipelines, &engine->triangle, 1, KILN_LANE_SOON, &ticket,
                          &engine->error));
  kiln_warm_progress progress;
  KILN_INIT(progress);
  TRY(kiln_pipelines_wait(engine->pipelines, ticket, kMinute, &progress, &engine->error));
  TRY(kiln_pipelines_check(engine->pipelines, engine->triangle, &engine->error));
  return 1;
}

static void Record(void* user, kiln_frame* frame) {
  const Engine* engine = user;
  const VkCommandBuffer commands = kiln_frame_commands(frame);
  if (kiln_pipelines_bind(engine->pipelines, commands, engine->triangle, KILN_ON_MISSING_SKIP,
                          engine->triangle)) {
    kiln_pipelines_set_viewport(engine->pipelines, commands, engine->triangle,
                                kiln_frame_area(frame), NULL);
    engine->draw(commands, 3, 1, 0, 0);
  }
}

// One frame: a pass that draws, and one that copies the picture to the host.
static int Draw(Engine* engine, kiln_bound_buffer* pixels) {
  kiln_graph_info info;
  KILN_INIT(info);
  TRY(kiln_graph_create(engine->device, &info, &engine->graph, &engine->error));
  TRY(kiln_graph_begin_frame(engine->graph, &engine->error));
  kiln_pass_info pass_info;
  KILN_INIT(pass_info);
  pass_info.name = kiln_text_of("triangle");
  pass_info.kind = KILN_PASS_GRAPHICS;
  pass_info.record = Record;
  pass_info.record_user = engine;
  kiln_pass pass;
  TRY(kiln_graph_add_pass(engine->graph, &pass_info, &pass, &engine->error));
  kiln_texture_info texture;
  KILN_INIT(texture);
  texture.name = kiln_text_of("picture");
  texture.format = kFormat;
  texture.type = VK_IMAGE_TYPE_2D;
  texture.width = kWidth;
  texture.height = kHeight;
  texture.contents = KILN_CONTENTS_CLEAR;
  texture.clear.color.float32[2] = 0.25F;
  texture.clear.color.float32[3] = 1;
  const kiln_access target = {
      VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
      VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
      VK_IMAGE_LAYOUT_UNDEFINED, 0};
  kiln_texture picture;
  TRY(kiln_graph_create_texture(engine->graph, pass, &texture, target, &picture, &engine->error));
  kiln_buffer copy;
  TRY(kiln_graph_read_back(engine->graph, picture, &texture, &copy, &engine->error));
  uint64_t frame = 0;
  TRY(kiln_graph_execute(engine->graph, &frame, &engine->error));
  TRY(kiln_graph_wait(engine->graph, frame, kMinute, &engine->error));
  TRY(kiln_graph_read(engine->graph, copy, pixels, &engine->error));
  return 1;
}

// Rows from the top, without the fourth channel.
static int WritePpm(const char* path, const kiln_bound_buffer* pixels) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) {
    return 0;
  }
  const unsigned char* bytes = pixels->mapped;
  fprintf(file, "P6 %d %d 255\n", kWidth, kHeight);
  for (uint64_t i = 0; i + 4 <= pixels->size; i += 4) {
    fwrite(bytes + i, 1, 3, file);
  }
  return fclose(file) == 0;
}

static void Close(Engine* engine) {
  kiln_error_destroy(engine->error);
  kiln_graph_destroy(engine->graph);
  kiln_pipelines_destroy(engine->pipelines);
  kiln_device_destroy(engine->device);
  kiln_source_destroy(engine->source);
  kiln_pack_destroy(engine->pack);
  kiln_context_destroy(engine->context);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: triangle_c PACK PICTURE [TINT]\n");
    return 2;
  }
  Engine engine;
  memset(&engine, 0, sizeof(engine));
  kiln_bound_buffer pixels;
  KILN_INIT(pixels);
  const int drawn = Open(&engine, argv[1]) && Warm(&engine, argc > 3 ? argv[3] : "orange") &&
                    Draw(&engine, &pixels);
  const int written = drawn && WritePpm(argv[2], &pixels);
  if (!drawn) {
    const kiln_text why = kiln_error_message(engine.error);
    fprintf(stderr, "triangle_c: %.*s\n", (int)why.size, why.size > 0 ? why.data : "");
  } else if (!written) {
    fprintf(stderr, "triangle_c: cannot write %s\n", argv[2]);
  }
  Close(&engine);
  return drawn && written ? 0 : 1;
}
