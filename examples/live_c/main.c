// SPDX-License-Identifier: MIT
// live_c MANIFEST PICTURES COUNT: draws the triangle of a project on disk, which a daemon compiles,
// and draws it anew after every save. PICTURES-0.ppm is the first one; ends after COUNT.
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kiln/client.h>
#include <kiln/kiln.h>

enum { kWidth = 320, kHeight = 180 };
static const uint64_t kMinute = 60000000000;
static const VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

// What a start-up makes; zero until it is made, and kiln destroys what is zero without a word.
typedef struct Engine {
  kiln_context* context;
  kiln_client* client;
  kiln_client_project* project;
  kiln_client_variants* variants;
  kiln_client_watch* watch;
  kiln_source* source;
  kiln_device* device;
  kiln_pipelines* pipelines;
  kiln_graph* graph;
  kiln_pipeline_id triangle;
  PFN_vkCmdDraw draw;
  kiln_error* error;
} Engine;

// The first call that fails ends the function it stands in; main says why.
#define TRY(call)            \
  do {                       \
    if ((call) != KILN_OK) { \
      return 0;              \
    }                        \
  } while (0)

// How far the start is; a game draws it.
static uint32_t Progress(void* user, uint64_t arrived, uint64_t total, uint64_t bytes) {
  (void)user;
  printf("fetched %d of %d, %d bytes\n", (int)arrived, (int)total, (int)bytes);
  return 1;
}

// On threads of the watch.
static void News(void* user, kiln_client_news_kind kind, kiln_text program, kiln_text text) {
  (void)user;
  (void)kind;
  printf("%.*s: %.*s\n", (int)program.size, program.size > 0 ? program.data : "", (int)text.size,
         text.size > 0 ? text.data : "");
  fflush(stdout);
}

static const kiln_option* Orange(void) {
  static kiln_option option;
  option.kind = KILN_OPTION_ENUM;
  option.name = kiln_text_of("tint");
  option.text = kiln_text_of("orange");
  return &option;
}

static kiln_variant Triangle(void) {
  kiln_variant variant;
  KILN_INIT(variant);
  variant.program = kiln_text_of("triangle");
  variant.options = Orange();
  variant.option_count = 1;
  return variant;
}

// The user's daemon, and everything that is drawn before the first frame.
static int Fetch(Engine* engine, const char* manifest) {
  kiln_context_info context;
  KILN_INIT(context);
  context.header_version = KILN_HEADER_VERSION;
  TRY(kiln_context_create(&context, &engine->context, &engine->error));
  kiln_client_info client;
  KILN_INIT(client);
  client.header_version = KILN_HEADER_VERSION;
  client.autostart = 1;
  TRY(kiln_client_connect(&client, &engine->client, &engine->error));
  TRY(kiln_client_project_open(engine->client, kiln_text_of(manifest), &engine->project,
                               &engine->error));
  TRY(kiln_client_variants_create(engine->project, &engine->variants, &engine->error));
  const kiln_variant variant = Triangle();
  uint32_t index = 0;
  TRY(kiln_client_variants_add(engine->variants, &variant, &index, &engine->error));
  TRY(kiln_source_in_memory(engine->context, &engine->source, &engine->error));
  kiln_client_fetch_info how;
  KILN_INIT(how);
  how.progress = Progress;
  kiln_client_fetch_report report;
  KILN_INIT(report);
  TRY(kiln_client_variants_fetch(engine->variants, &how, engine->source, &report, &engine->error));
  kiln_device_info device;
  KILN_INIT(device);
  TRY(kiln_device_open(engine->context, &device, &engine->device, &engine->error));
  engine->draw = (PFN_vkCmdDraw)kiln_device_function(engine->device, "vkCmdDraw");
  return engine->draw != NULL;
}

// The pipeline, which from here on follows every save.
static int Warm(Engine* engine) {
  kiln_pipelines_info info;
  KILN_INIT(info);
  info.threads = 1;  // builds what is reloaded, while frames go on
  TRY(kiln_pipelines_create(engine->device, &info, &engine->pipelines, &engine->error));
  kiln_load_report report;
  KILN_INIT(report);
  TRY(kiln_pipelines_load(engine->pipelines, engine->source, &report, &engine->error));
  const kiln_variant variant = Triangle();
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
  kiln_client_watch_info watch;
  KILN_INIT(watch);
  watch.source = engine->source;
  watch.pipelines = engine->pipelines;
  watch.ids = &engine->triangle;
  watch.id_count = 1;
  watch.news = News;
  TRY(kiln_client_watch_start(engine->variants, &watch, &engine->watch, &engine->error));
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
  // Here what was reloaded is swapped in; what it replaced goes, since the device is done.
  TRY(kiln_pipelines_end_frame(engine->pipelines, frame, &engine->error));
  TRY(kiln_pipelines_collect(engine->pipelines, frame, &engine->error));
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

// Frames until `count` pictures are written: the first one, and one after every swap.
static int Play(Engine* engine, const char* pictures, int count) {
  kiln_graph_info info;
  KILN_INIT(info);
  TRY(kiln_graph_create(engine->device, &info, &engine->graph, &engine->error));
  uint64_t swapped = 0;
  for (int drawn = 0; drawn < count;) {
    kiln_pipeline_stats stats;
    KILN_INIT(stats);
    TRY(kiln_pipelines_get_stats(engine->pipelines, &stats, &engine->error));
    const int is_new = drawn == 0 || stats.replaced != swapped;
    swapped = stats.replaced;
    kiln_bound_buffer pixels;
    KILN_INIT(pixels);
    if (!Draw(engine, &pixels)) {
      return 0;
    }
    if (is_new) {
      char path[4096];
      snprintf(path, sizeof(path), "%s-%d.ppm", pictures, drawn++);
      if (!WritePpm(path, &pixels)) {
        fprintf(stderr, "live_c: cannot write %s\n", path);
        return 0;
      }
      printf("wrote %s\n", path);
      fflush(stdout);
    }
    const struct timespec pace = {0, 16000000};  // of a display
    nanosleep(&pace, NULL);
  }
  return 1;
}

static void Close(Engine* engine) {
  kiln_error_destroy(engine->error);
  kiln_client_watch_destroy(engine->watch);  // before what it replaces in
  kiln_graph_destroy(engine->graph);
  kiln_pipelines_destroy(engine->pipelines);
  kiln_device_destroy(engine->device);
  kiln_source_destroy(engine->source);
  kiln_client_variants_destroy(engine->variants);
  kiln_client_project_destroy(engine->project);
  kiln_client_destroy(engine->client);
  kiln_context_destroy(engine->context);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: live_c MANIFEST PICTURES COUNT\n");
    return 2;
  }
  Engine engine;
  memset(&engine, 0, sizeof(engine));
  const int played =
      Fetch(&engine, argv[1]) && Warm(&engine) && Play(&engine, argv[2], atoi(argv[3]));
  if (!played) {
    const kiln_text why = kiln_error_message(engine.error);
    fprintf(stderr, "live_c: %.*s\n", (int)why.size, why.size > 0 ? why.data : "");
  }
  Close(&engine);
  return played ? 0 : 1;
}
