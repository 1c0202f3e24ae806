// SPDX-License-Identifier: MIT
// `kiln preview` (spec/cli 6.9): draws one variant, or a sheet of them, off-screen with this
// machine's driver. The picture is a check and no measurement: times are those of a first frame,
// printed to show a compile stall.
#include "client/cli/variant/preview.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/project/project.h"
#include "client/cli/variant/variant.h"
#include "client/includes/include_set.h"
#include "compiler/artifact/metadata.h"
#include "runtime/pipeline/print_desc.h"
#include "runtime/preview/contact_sheet.h"
#include "runtime/preview/preview.h"

namespace kiln::cli {
namespace {

struct PreviewArguments {
  VariantArguments variant;
  std::string mesh = "sphere";
  std::string size = "512x512";
  std::vector<std::string> set;     // NAME=VALUE[,VALUE…]
  std::vector<std::string> images;  // NAME=FILE
  uint32_t frames = 1;              // the last one is the picture
  std::string device;               // part of a name, or software
  std::string grid;                 // AXIS[,AXIS]
  std::string out;                  // PNG
};

// A sheet of 16 by 16 pictures; a space of options grows faster than anybody can look.
constexpr size_t kMaxCells = 256;

Error Usage(std::string context) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(context), .reason = "USAGE"};
}

// An empty part is kept, so that "1,,2" is a mistake that is told and not two numbers.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// "NAME=REST"
Result<std::pair<std::string, std::string>> NameAndRest(const std::string& text,
                                                        std::string_view flag) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return Usage(fmt::format("{} takes NAME=VALUE, not '{}'", flag, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// "512x512"
Result<VkExtent2D> SizeOf(const std::string& text) {
  const std::vector<std::string> parts = Split(text, 'x');
  VkExtent2D size{};
  if (parts.size() == 2) {
    const auto read = [](const std::string& part, uint32_t& out) {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
      // 4096 is what every Vulkan device can render to in one image.
      return error == std::errc() && end == part.data() + part.size() && out >= 1 && out <= 4096;
    };
    if (read(parts[0], size.width) && read(parts[1], size.height)) {
      return size;
    }
  }
  return Usage(fmt::format("--size takes WIDTHxHEIGHT, each 1 to 4096, not '{}'", text));
}

// "0.5,1,1"
Result<std::vector<double>> NumbersOf(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : Split(text, ',')) {
    char* end = nullptr;
    numbers.push_back(std::strtod(part.c_str(), &end));
    if (part.empty() || *end != 0) {
      return Usage(fmt::format("'{}' is no number", part));
    }
  }
  return numbers;
}

// Numbers of a parameter are doubles here; the preview converts them to the type that the shader
// declares.
Result<preview::PreviewRequest> RequestOf(const PreviewArguments& arguments) {
  preview::PreviewRequest request;
  // Everything about the words is checked before a daemon or a device is asked.
  if (!arguments.out.ends_with(".png")) {
    return Usage(fmt::format("--out '{}': a picture is a PNG file; let its name end in .png",
                             arguments.out));
  }
  if (arguments.mesh != "sphere" && arguments.mesh != "quad" && arguments.mesh != "cube" &&
      !arguments.mesh.ends_with(".obj")) {
    return Usage(
        fmt::format("--mesh takes sphere, quad, cube or FILE.obj, not '{}'", arguments.mesh));
  }
  request.mesh = arguments.mesh;
  // Frames are counted from 0 by the shaders.
  request.frame = arguments.frames - 1;
  KILN_TRY(request.size, SizeOf(arguments.size));
  for (const std::string& text : arguments.set) {
    KILN_TRY(const auto set, NameAndRest(text, "--set"));
    KILN_TRY(request.set[set.first], NumbersOf(set.second));
  }
  for (const std::string& text : arguments.images) {
    KILN_TRY(const auto image, NameAndRest(text, "--image"));
    KILN_TRY(request.images[image.first], preview::ReadPng(image.second));
  }
  return request;
}

// An axis of the sheet: an option with the values that are drawn.
struct GridAxis {
  std::string name;
  std::vector<std::string> values;
};

// "fog_kind", or "lights=0:4:8". Flags and enums have all their values. A number has no list of
// values in its declaration, so its values must be named.
Result<GridAxis> AxisOf(const std::string& text, const client::OptionList& declared) {
  GridAxis axis;
  const size_t equals = text.find('=');
  axis.name = text.substr(0, equals);
  const auto info = std::ranges::find(declared.options, axis.name, &client::OptionInfo::name);
  if (info == declared.options.end()) {
    return Error{
        .code = ErrorCode::kNotFound,
        .context = fmt::format("there is no option '{}'; kiln options lists them", axis.name),
        .reason = "UNKNOWN_OPTION"};
  }
  // Values that are named are typed later, with the option (TypedOption); a wrong one is reported
  // there.
  if (equals != std::string::npos) {
    axis.values = Split(text.substr(equals + 1), ':');
  } else if (info->type == "flag") {
    axis.values = {"false", "true"};
  } else if (info->type == "enum") {
    axis.values = info->values;
  } else {
    return Usage(fmt::format("'{}' is {}; name the values: --grid {}=1:2:4", axis.name, info->type,
                             axis.name));
  }
  return axis;
}

// One picture of the sheet.
struct Cell {
  std::string label;
  std::vector<client::Option> options;
};

// Rows of the second axis, columns of the first.
Result<std::vector<std::vector<Cell>>> CellsOf(const PreviewArguments& arguments,
                                               const NamedVariant& named) {
  if (arguments.grid.empty()) {
    return std::vector<std::vector<Cell>>{{{.label = "", .options = named.options}}};
  }
  const std::vector<std::string> names = Split(arguments.grid, ',');
  if (names.size() > 2) {
    return Usage("--grid takes one axis or two");
  }
  KILN_TRY(const GridAxis across, AxisOf(names[0], named.declared));
  // One axis is a sheet of one row: a second axis without a name that has one value.
  GridAxis down{.name = "", .values = {""}};
  if (names.size() == 2) {
    KILN_TRY(down, AxisOf(names[1], named.declared));
  }
  if (across.values.size() * down.values.size() > kMaxCells) {
    return Usage(fmt::format("the sheet would have {} pictures, at most {}",
                             across.values.size() * down.values.size(), kMaxCells));
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::string& row : down.values) {
    std::vector<Cell>& cells = rows.emplace_back();
    for (const std::string& column : across.values) {
      Cell& cell = cells.emplace_back();
      cell.options = named.options;
      cell.label = fmt::format("{}={}", across.name, column);
      KILN_TRY(client::Option option, TypedOption(cell.label, named.declared));
      cell.options.push_back(std::move(option));
      if (!down.name.empty()) {
        const std::string second = fmt::format("{}={}", down.name, row);
        KILN_TRY(client::Option other, TypedOption(second, named.declared));
        cell.options.push_back(std::move(other));
        cell.label += " " + second;
      }
    }
  }
  return rows;
}

// With validation where the layer is installed.
struct OpenDevice {
  std::optional<runtime::Device> device;
  std::vector<std::string> messages;  // of validation
  bool validated = false;
};
// The object lives on the heap, because the callback keeps its address while the caller moves the
// pointer.
Result<std::unique_ptr<OpenDevice>> OpenFor(const PreviewArguments& arguments) {
  auto open = std::make_unique<OpenDevice>();
  const std::string prefer = arguments.device;
  // Messages are taken down as long as the device lives, so they are kept beside it on the heap.
  OpenDevice* const out = open.get();
  // A machine without the validation layer draws as well, and the output says that nothing was
  // validated.
  for (const bool validation : {true, false}) {
    Result<runtime::Device> device = runtime::Device::Create(
        {.prefer = prefer, .validation = validation, .messages = [out](const vk::Message& message) {
           out->messages.push_back(message.text);
         }});
    if (device.ok()) {
      open->device.emplace(std::move(device).value());
      open->validated = validation;
      return open;
    }
    if (!validation) {
      return std::move(device).error();
    }
  }
  return open;
}

// Modules are views into `words`: both vectors are complete before Render is called and neither
// grows in it.
Result<preview::Preview> DrawArtifact(runtime::Device& device, const std::string& program,
                                      const client::Artifact& artifact, const FetchResult& fetched,
                                      const preview::PreviewRequest& request) {
  KILN_TRY(const ByteView bytes, BlobOf(fetched, artifact.metadata));
  KILN_TRY(const artifact::PipelineMetadata metadata, artifact::DecodeMetadata(bytes));
  std::vector<std::vector<uint32_t>> words;
  words.reserve(artifact.code.size());  // views of them are kept
  std::vector<runtime::ModuleWords> modules;
  for (const client::StageCode& code : artifact.code) {
    KILN_TRY(const ByteView module, BlobOf(fetched, code.digest));
    std::vector<uint32_t>& copy = words.emplace_back(module.size() / sizeof(uint32_t));
    // Copied, since bytes of a message need not be aligned for words.
    std::memcpy(copy.data(), module.data(), copy.size() * sizeof(uint32_t));
    runtime::ModuleWords& one = modules.emplace_back();
    one.words = copy;
    if (code.stage != client::Stage::kNone) {
      // The protocol counts stages from 1, with 0 for a combined module; metadata counts from 0.
      one.stage = static_cast<artifact::Stage>(static_cast<int>(code.stage) - 1);
    }
  }
  return preview::Render(device, program, metadata, modules, request);
}

void PrintPreview(const Global& global, const std::string& label, const OpenDevice& open,
                  const preview::Preview& drawn) {
  if (global.json) {
    const auto list = [](const std::vector<preview::Match>& matches) {
      nlohmann::ordered_json rows = nlohmann::ordered_json::array();
      for (const preview::Match& match : matches) {
        rows.push_back({{"name", match.name}, {"rule", match.rule}});
      }
      return rows;
    };
    const nlohmann::ordered_json item{{"v", 1},
                                      {"type", "preview"},
                                      {"options", label},
                                      {"device", open.device->identity().name},
                                      {"driver", open.device->identity().driver_info},
                                      {"key", drawn.key.hex()},
                                      {"signature", "default"},
                                      {"formats", runtime::PrintSignature(drawn.signature)},
                                      {"creation_ms", drawn.creation_ms},
                                      {"first_use_ms", drawn.first_use_ms},
                                      {"draw_ms", drawn.draw_ms},
                                      {"covered", drawn.covered},
                                      {"attributes", list(drawn.attributes)},
                                      {"parameters", list(drawn.parameters)},
                                      {"lints", drawn.lints},
                                      {"validation", open.messages}};
    PrintLine(item);
  } else if (!global.quiet) {
    Print("{:<24} {}  creation {:.1f} ms, first frame {:.1f} ms, next {:.1f} ms, {} pixels\n",
          label, drawn.key.hex().substr(0, 8), drawn.creation_ms, drawn.first_use_ms, drawn.draw_ms,
          drawn.covered);
  }
  for (const std::string& lint : drawn.lints) {
    Print(stderr, "warning: {}\n", lint);
  }
  if (drawn.covered == 0) {
    Print(stderr,
          "warning: nothing is covered{}: all may be culled, fail the depth test, or have its "
          "position at zero\n",
          label.empty() ? "" : " of " + label);
  }
}

// The pictures of all cells, in their order; nullopt for a variant that does not compile or that
// the device cannot have. `exit` is changed and never set back: one wrong variant decides the code
// of the command.
Result<std::vector<std::vector<preview::SheetCell>>> DrawCells(
    const Global& global, const NamedVariant& named, const std::vector<std::vector<Cell>>& rows,
    OpenDevice& open, const preview::PreviewRequest& request, int& exit) {
  std::vector<std::vector<client::Option>> variants;
  for (const std::vector<Cell>& row : rows) {
    for (const Cell& cell : row) {
      variants.push_back(cell.options);
    }
  }
  // All cells are fetched with one call, so the daemon compiles them in parallel. They are drawn
  // one after the other, since there is one device.
  FetchResult fetched;
  KILN_TRY(fetched.done, named.connected.client->FetchVariants(named.project, named.program,
                                                               variants, {}, Collect(fetched)));
  std::vector<std::vector<preview::SheetCell>> sheet;
  size_t index = 0;
  for (const std::vector<Cell>& row : rows) {
    std::vector<preview::SheetCell>& cells = sheet.emplace_back();
    for (const Cell& cell : row) {
      preview::SheetCell& drawn = cells.emplace_back();
      drawn.label = cell.label;
      // Outcomes come in any order and have the index of their variant.
      const auto outcome = std::ranges::find(fetched.outcomes, index++, &client::Outcome::index);
      if (outcome == fetched.outcomes.end() || outcome->artifacts.empty()) {
        if (outcome != fetched.outcomes.end()) {
          ShowDiagnostics(global, outcome->diagnostics, client::TextsOf(named.program),
                          named.program.name);
        }
        exit = kWrongSource;
        continue;
      }
      auto picture = DrawArtifact(*open.device, named.program.name, outcome->artifacts.front(),
                                  fetched, request);
      if (!picture.ok()) {
        // One picture that cannot be drawn fails the command. In a sheet it leaves its cell empty,
        // unless the arguments are wrong, which concerns every cell.
        if (rows.size() * row.size() == 1 || picture.error().reason == "USAGE") {
          return std::move(picture).error();
        }
        Print(stderr, "warning: {}: {}\n", cell.label, picture.error().context);
        continue;
      }
      PrintPreview(global, cell.label, open, *picture);
      drawn.picture = std::move(picture->picture);
    }
  }
  return sheet;
}

// The words are checked first, then the sources, then the device: each step costs more than the one
// before it.
Result<int> Preview(const Global& global, const PreviewArguments& arguments) {
  KILN_TRY(preview::PreviewRequest request, RequestOf(arguments));
  KILN_TRY(const NamedVariant named, NameVariant(global, arguments.variant));
  if (ShowDiagnostics(global, named.declared.diagnostics, client::TextsOf(named.program),
                      named.program.name) != 0) {
    return int{kWrongSource};
  }
  KILN_TRY(const std::unique_ptr<OpenDevice> open, OpenFor(arguments));
  KILN_TRY(const auto rows, CellsOf(arguments, named));
  int exit = kSuccess;
  KILN_TRY(const auto sheet, DrawCells(global, named, rows, *open, request, exit));
  if (!global.json && !global.quiet) {
    Print("device {} ({}){}\n", open->device->identity().name, open->device->identity().driver_info,
          open->validated ? "" : ", without validation: the layer is not installed");
  }
  // A single variant that failed writes no file. A sheet is written with empty cells.
  const bool grid = !arguments.grid.empty();
  if (grid || sheet[0][0].picture.has_value()) {
    KILN_TRY_VOID(preview::WritePng(
        arguments.out,
        grid ? preview::MakeContactSheet(sheet, request.size.width, request.size.height)
             : *sheet[0][0].picture));
  }
  // A message of validation means that the preview or the shader breaks a rule of Vulkan; the
  // picture may be wrong on another device.
  for (const std::string& message : open->messages) {
    Print(stderr, "error: validation: {}\n", message);
    exit = kWrongSource;
  }
  return exit;
}

int RunPreview(const Global& global, const PreviewArguments& arguments) {
  return RunTimed(global, "preview", [&] { return Preview(global, arguments); });
}

}  // namespace

void AddPreview(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<PreviewArguments>();
  CLI::App* verb = AddVerb(
      app, line,
      {"preview", "Draw a variant on a mesh, off-screen",
       "  kiln preview rock/forward -o fog --out rock.png\n"
       "  kiln preview rock/forward --grid fog_kind,lights=0:4 --size 128x128 --out sheet.png"},
      [&line, arguments] { return RunPreview(line.global, *arguments); });
  PreviewArguments& preview = *arguments;
  AddVariant(*verb, preview.variant);
  verb->get_option("what")->required();
  verb->add_option("--mesh", preview.mesh, "sphere, quad, cube or FILE.obj");
  verb->add_option("--size", preview.size, "WIDTHxHEIGHT of a picture; default: 512x512");
  verb->add_option("--set", preview.set,
                   "NAME=NUMBER[,NUMBER...] of a tag or parameter; repeatable")
      ->take_all();
  verb->add_option("--image", preview.images, "NAME=FILE.png instead of a checker; repeatable")
      ->take_all();
  verb->add_option("--frames", preview.frames, "Count of frames; the last one is drawn")
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--device", preview.device, "Part of a device's name, or software");
  verb->add_option("--grid", preview.grid, "AXIS[,AXIS]: a sheet with a picture for each value");
  verb->add_option("--out", preview.out, "PNG file to write")->required();
}

}  // namespace kiln::cli
