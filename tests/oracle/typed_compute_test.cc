// SPDX-License-Identifier: MIT
// The meaning of typed instructions: each row is computed for 64 sets of inputs by the interpreter
// and on lavapipe. Inputs come from a storage buffer, results go to one.
#include <bit>
#include <random>

#include "compiler/ir/enum_names.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"

namespace kiln::oracle {
namespace {

constexpr uint32_t kItems = 64;

// Inputs %10 f4, %11 f4 above 1/8, %12 u4, %13 u4 below 32, %14 s4 that is not negative, %15 s4;
// results go to %20 f4, %21 u4, %22 s4.
std::string ModuleText(std::string_view body) {
  return R"(module hlsl 6 typed
struct @given_t {
  f : f4
  g : f4
  u : u4
  v : u4
  s : s4
  t : s4
}
struct @made_t {
  f : f4
  u : u4
  s : s4
}
struct @floats {
  a : f4
  b : f4
}
struct @halves {
  a : f4
  b : s4
}
struct @words {
  a : u4
  b : u4
}
struct @signed_words {
  a : s4
  b : s4
}
struct @nested {
  x : u1
  inner : @words
}
buffer read_only_storage shared @given {
  items : @given_t...
}
buffer read_write_storage shared @made {
  items : @made_t...
}
private @counter : u1
private @vector : f4
function @main() -> void {
  leave $leave
  leave $inner
  exit $exit
  var $x : f4
  var $n : u1
  %1 = stage global_id : u3
  %2 = load %1 : u3
  %3 = extract %2, 0 : u1
  %4 = global none @given : @given
  %5 = global none @made : @made
  %6 = const u1 0
  %7 = const u1 1
  %8 = const u1 2
  %30 = const u1 3
  %31 = const u1 4
  %32 = const u1 5
  %33 = access %4 [%6, %3, %6] : f4
  %10 = load %33 : f4
  %34 = access %4 [%6, %3, %7] : f4
  %11 = load %34 : f4
  %35 = access %4 [%6, %3, %8] : u4
  %12 = load %35 : u4
  %36 = access %4 [%6, %3, %30] : u4
  %13 = load %36 : u4
  %37 = access %4 [%6, %3, %31] : s4
  %14 = load %37 : s4
  %38 = access %4 [%6, %3, %32] : s4
  %15 = load %38 : s4
  %20 = access %5 [%6, %3, %6] : f4
  %21 = access %5 [%6, %3, %7] : u4
  %22 = access %5 [%6, %3, %8] : s4
  %80 = flag false : bool
  variable $x, %10
  variable $n, %6
)" + std::string(body) +
         "}\n";
}

template <class T>
void Append(std::vector<std::byte>& bytes, T item) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(item);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// Small numbers and large ones; floats are multiples of 1/8.
std::vector<std::byte> Inputs() {
  std::mt19937 random(24);
  std::vector<std::byte> bytes;
  for (uint32_t item = 0; item < kItems; ++item) {
    const auto word = [&] {
      const auto drawn = static_cast<uint32_t>(random());
      return random() % 2 == 0 ? drawn : drawn % 9;
    };
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, (static_cast<float>(random() % 257) - 128) / 8);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, static_cast<float>(1 + random() % 64) / 8);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, word());
    }
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, static_cast<uint32_t>(random() % 32));
    }
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, word() & 0x7fffffffU);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, item % 7 == 0 && i == 0 ? 0x80000000U : word());
    }
  }
  return bytes;
}

struct Row {
  std::string_view name;
  std::string_view body;
  uint32_t open = 0;  // results that Vulkan leaves open are allowed
};

class TypedCompute : public OperatorFixture {
 protected:
  static void Run(const Row& row) {
    const BuiltVariant variant({.entries = {"compute:main"},
                                .environment = "vulkan1.1",
                                .modules = {ModuleText(row.body)}});
    ASSERT_TRUE(variant.ok()) << row.name << variant.messages();
    ComputeRun run{.groups = {kItems, 1, 1}};
    run.memory.buffers["given"] = Inputs();
    run.memory.buffers["made"] = std::vector<std::byte>(kItems * 48);
    std::string why;
    const Surroundings expected = InterpretCompute(variant, run, why);
    ASSERT_EQ(why, "") << row.name;
    const Result<ComputeMemory> found = RunCompute(bench(), variant, run);
    ASSERT_TRUE(found.ok()) << row.name << ErrorText(found.error());
    const Comparison comparison = CompareMemory(variant, expected, *found);
    EXPECT_EQ(comparison.difference, "") << row.name;
    EXPECT_TRUE(row.open != 0 || comparison.open == 0) << row.name << ": " << comparison.open;
    EXPECT_GT(comparison.decided, kItems) << row.name;
  }
};

constexpr Row kRows[] = {
    {"rem of unsigned", "%50 = binary rem total %12, %13 : u4\nstore %21, %50\n"},
    {"rem of signed",
     "%50 = const s4 {s1 3, s1 5, s1 7, s1 9}\n%51 = binary rem %14, %50 : s4\n"
     "store %22, %51\n"},
    {"rem of floats", "%50 = binary rem %10, %11 : f4\nstore %20, %50\n", 1},
    {"ordered difference",
     "%50 = binary not_equal_ordered %10, %11 : b4\n%51 = convert %50 : u4\nstore %21, %51\n"},
    {"total division of unsigned",
     "%50 = binary div total %13, %12 : u4\n%51 = binary sub %12, %12 : u4\n"
     "%52 = binary div total %50, %51 : u4\nstore %21, %52\n"},
    {"total division of signed",
     "%50 = const s4 {s1 -1, s1 0, s1 3, s1 -5}\n%51 = binary div total %15, %50 : s4\n"
     "store %22, %51\n"},
    {"total rest of signed",
     "%50 = const s4 {s1 -1, s1 0, s1 3, s1 5}\n%51 = binary rem total %14, %50 : s4\n"
     "store %22, %51\n",
     1},
    {"total shifts",
     "%50 = binary shift_left total %12, %12 : u4\nstore %21, %50\n"
     "%51 = binary shift_right_arithmetic total %15, %15 : s4\nstore %22, %51\n"},
    {"saturating to signed",
     "%49 = const f4 {f1 1099511627776.0, f1 1099511627776.0, f1 8.0, f1 1.0}\n"
     "%50 = binary mul %10, %49 : f4\n"
     "%51 = convert saturating %50 : s4\n%52 = convert saturating %10 : s4\n"
     "%53 = binary add %51, %52 : s4\nstore %22, %53\n"},
    {"saturating to unsigned",
     "%49 = const f4 {f1 1099511627776.0, f1 1099511627776.0, f1 8.0, f1 1.0}\n"
     "%50 = binary mul %10, %49 : f4\n"
     "%51 = convert saturating %50 : u4\n%52 = convert saturating %10 : u4\n"
     "%53 = binary add %51, %52 : u4\nstore %21, %53\n"},
    {"bitcast", "%50 = bitcast %10 : u4\nstore %21, %50\n%51 = bitcast %12 : s4\nstore %22, %51\n"},
    {"insert", "%50 = extract %11, 2 : f1\n%51 = insert %10, %50 [1] : f4\nstore %20, %51\n"},
    {"insert into a struct",
     "%50 = construct [%12, %13] : @words\n%51 = construct [%7, %50] : @nested\n"
     "%52 = insert %51, %8 [1, 1, 3] : @nested\n%53 = extract %52, 1 : @words\n"
     "%54 = extract %53, 1 : u4\nstore %21, %54\n"},
    {"switch that goes through",
     "%50 = extract %13, 0 : u1\n%51 = local $n : u1\n"
     "switch %50 $leave { case u1 0, u1 1, u1 2 through { store %51, %7 } case u1 3 { "
     "%52 = load %51 : u1\n%53 = binary add %52, %8 : u1\nstore %51, %53 } "
     "case u1 4 { if %80 { break $leave }\nstore %51, %30 } default { store %51, %31 } }\n"
     "%54 = load %51 : u1\n%55 = splat %54 : u4\nstore %21, %55\n"},
    {"switch with its default in the middle",
     "%50 = extract %13, 1 : u1\n%51 = local $n : u1\n"
     "switch %50 $leave { case u1 0 { store %51, %7 } default through { store %51, %8 } "
     "case u1 9, u1 10 { %52 = load %51 : u1\n%53 = binary add %52, %30 : u1\n"
     "store %51, %53 } }\n%54 = load %51 : u1\n%55 = splat %54 : u4\nstore %21, %55\n"},
    {"switch in a loop",
     "%51 = local $n : u1\nloop $exit unroll(8) { } { %52 = load %51 : u1\n"
     "switch %52 $leave { case u1 5 { break $exit } case u1 3 { %53 = binary add %52, %8 : u1\n"
     "store %51, %53\ncontinue $exit } }\n%54 = binary add %52, %7 : u1\nstore %51, %54 } { }\n"
     "%55 = load %51 : u1\n%56 = splat %55 : u4\nstore %21, %56\n"},
    {"a loop that asks at its end",
     "%50 = extract %13, 0 : u1\n%51 = local $n : u1\nloop $exit { } { %52 = load %51 : u1\n"
     "%53 = binary add %52, %7 : u1\nstore %51, %53 } { %54 = load %51 : u1\n"
     "%55 = binary less %54, %50 : bool\nyield %55 }\n%56 = load %51 : u1\n"
     "%57 = splat %56 : u4\nstore %21, %57\n"},
    {"steps into vectors",
     "%50 = extract %13, 0 : u1\n%51 = binary and %50, %30 : u1\n%52 = local $x : f4\n"
     "%53 = access %52 [%51] : f1\n%54 = const f1 42.0\nstore %53, %54\n"
     "%55 = load %52 : f4\nstore %20, %55\n"},
    {"bounded steps",
     "%50 = extract %12, 0 : u1\n%52 = local $x : f4\n%53 = access bounded %52 [%50] : f1\n"
     "%54 = load %53 : f1\n%55 = splat %54 : f4\nstore %20, %55\n"
     "%56 = access bounded %4 [%6, %50, %8] : u4\n%57 = load %56 : u4\nstore %21, %57\n"},
    {"private variables",
     "%50 = global none @counter : u1\n%51 = load %50 : u1\n%52 = binary add %51, %7 : u1\n"
     "store %50, %52\n%53 = load %50 : u1\n%54 = splat %53 : u4\nstore %21, %54\n"
     "%55 = global none @vector : f4\n%56 = load %55 : f4\nstore %20, %56\n"},
    {"atomics",
     "%50 = access %5 [%6, %3, %7, %6] : u1\n%51 = extract %12, 0 : u1\n"
     "%52 = atomic add %50, %51 device relaxed : u1\n%53 = atomic xor %50, %7 device relaxed : u1\n"
     "%54 = atomic compare_exchange %50, %53, %8 device relaxed : u1\n"
     "%55 = access %5 [%6, %3, %8, %7] : s1\n%56 = extract %15, 0 : s1\n"
     "%57 = atomic min %55, %56 device relaxed : s1\n"
     "%58 = atomic sub %55, %56 device acquire_release : s1\n"
     "%59 = access %5 [%6, %3, %7, %7] : u1\n%60 = atomic store %59, %51 device release : void\n"
     "%61 = atomic load %59 device acquire : u1\n"},
    {"integers of 16 bits",
     "%50 = convert %12 : v4\n%51 = binary add %50, %50 : v4\n%52 = convert %51 : u4\n"
     "store %21, %52\n%53 = convert %15 : i4\n%54 = binary mul %53, %53 : i4\n"
     "%55 = convert %54 : s4\nstore %22, %55\n"},
    {"dot_integers",
     "%50 = builtin dot_integers [%12, %13] : u1\n%51 = splat %50 : u4\nstore %21, %51\n"},
    {"nmin",
     "%50 = const f4 {f1 0x7fc00000, f1 1.0, f1 -3.0, f1 0.5}\n"
     "%51 = builtin nmin [%10, %50] : f4\nstore %20, %51\n"},
    {"nmax",
     "%50 = const f4 {f1 0x7fc00000, f1 1.0, f1 -3.0, f1 0.5}\n"
     "%51 = builtin nmax [%10, %50] : f4\nstore %20, %51\n"},
    {"nclamp",
     "%50 = const f1 -1.0\n%51 = splat %50 : f4\n"
     "%52 = builtin nclamp [%10, %51, %11] : f4\nstore %20, %52\n"},
    {"degrees", "%50 = builtin degrees [%10] : f4\nstore %20, %50\n"},
    {"radians", "%50 = builtin radians [%10] : f4\nstore %20, %50\n"},
    {"face_forward", "%50 = builtin face_forward [%10, %10, %11] : f4\nstore %20, %50\n", 1},
    {"ldexp",
     "%50 = const s4 {s1 -3, s1 0, s1 4, s1 10}\n%51 = builtin ldexp [%10, %50] : f4\n"
     "store %20, %51\n"},
    {"frexp",
     "%50 = builtin frexp [%11] : @halves\n%51 = extract %50, 0 : f4\nstore %20, %51\n"
     "%52 = extract %50, 1 : s4\nstore %22, %52\n"},
    {"modf",
     "%50 = builtin modf [%10] : @floats\n%51 = extract %50, 0 : f4\n"
     "%52 = extract %50, 1 : f4\n%53 = swizzle %51, xy : f2\n%54 = swizzle %52, xy : f2\n"
     "%55 = construct [%53, %54] : f4\nstore %20, %55\n"},
    {"is_nan",
     "%50 = const f4 {f1 0x7fc00000, f1 1.0, f1 -3.0, f1 0.5}\n"
     "%51 = builtin is_nan [%50] : b4\n%52 = convert %51 : u4\nstore %21, %52\n"},
    {"is_inf",
     "%50 = const f4 {f1 0x7f800000, f1 1.0, f1 0xff800000, f1 0.5}\n"
     "%51 = builtin is_inf [%50] : b4\n%52 = convert %51 : u4\nstore %21, %52\n"},
    {"quantize_to_f16", "%50 = builtin quantize_to_f16 [%10] : f4\nstore %20, %50\n"},
    {"bit_count", "%50 = builtin bit_count [%12] : u4\nstore %21, %50\n"},
    {"bit_reverse", "%50 = builtin bit_reverse [%12] : u4\nstore %21, %50\n"},
    {"find_msb",
     "%50 = builtin find_msb [%12] : u4\nstore %21, %50\n"
     "%51 = builtin find_msb [%15] : s4\nstore %22, %51\n"},
    {"find_lsb", "%50 = builtin find_lsb [%12] : u4\nstore %21, %50\n"},
    {"bit_field_extract",
     "%50 = const u1 7\n%51 = const u1 11\n%52 = builtin bit_field_extract [%12, %50, %51] : u4\n"
     "store %21, %52\n%53 = builtin bit_field_extract [%15, %50, %51] : s4\nstore %22, %53\n"},
    {"bit_field_insert",
     "%50 = const u1 7\n%51 = const u1 11\n"
     "%52 = builtin bit_field_insert [%12, %13, %50, %51] : u4\nstore %21, %52\n"},
    {"add_carry",
     "%50 = builtin add_carry [%12, %12] : @words\n%51 = extract %50, 0 : u4\n"
     "%52 = extract %50, 1 : u4\n%53 = binary xor %51, %52 : u4\nstore %21, %53\n"},
    {"sub_borrow",
     "%50 = builtin sub_borrow [%13, %12] : @words\n%51 = extract %50, 0 : u4\n"
     "%52 = extract %50, 1 : u4\n%53 = binary xor %51, %52 : u4\nstore %21, %53\n"},
    {"mul_extended",
     "%50 = builtin mul_extended [%12, %12] : @words\n%51 = extract %50, 1 : u4\nstore %21, %51\n"
     "%52 = builtin mul_extended [%15, %14] : @signed_words\n%53 = extract %52, 1 : s4\n"
     "store %22, %53\n"},
    {"transpose",
     "%50 = swizzle %10, xy : f2\n%51 = swizzle %11, zw : f2\n%52 = construct [%50, %51, %50] : "
     "f3x2\n"
     "%53 = builtin transpose [%52] : f2x3\n%54 = extract %53, 1 : f3\n%55 = extract %10, 3 : f1\n"
     "%56 = construct [%54, %55] : f4\nstore %20, %56\n"},
    {"pack_half_2x16",
     "%50 = swizzle %10, xy : f2\n%51 = builtin pack_half_2x16 [%50] : u1\n"
     "%52 = splat %51 : u4\nstore %21, %52\n"},
    {"pack_unorm_2x16",
     "%50 = swizzle %10, xy : f2\n%51 = builtin pack_unorm_2x16 [%50] : u1\n"
     "%52 = splat %51 : u4\nstore %21, %52\n",
     1},
    {"pack_snorm_2x16",
     "%50 = swizzle %10, xy : f2\n%51 = builtin pack_snorm_2x16 [%50] : u1\n"
     "%52 = splat %51 : u4\nstore %21, %52\n",
     1},
    {"pack_unorm_4x8",
     "%51 = builtin pack_unorm_4x8 [%10] : u1\n%52 = splat %51 : u4\nstore %21, %52\n", 1},
    {"pack_snorm_4x8",
     "%51 = builtin pack_snorm_4x8 [%10] : u1\n%52 = splat %51 : u4\nstore %21, %52\n", 1},
    {"unpack_half_2x16",
     "%48 = extract %10, 0 : f1\n%49 = construct [%48, %48] : f2\n"
     "%50 = builtin pack_half_2x16 [%49] : u1\n%51 = builtin unpack_half_2x16 [%50] : f2\n"
     "%52 = construct [%51, %51] : f4\nstore %20, %52\n"},
    {"unpack_unorm_2x16",
     "%50 = extract %12, 0 : u1\n%51 = builtin unpack_unorm_2x16 [%50] : f2\n"
     "%52 = construct [%51, %51] : f4\nstore %20, %52\n"},
    {"unpack_snorm_2x16",
     "%50 = extract %12, 0 : u1\n%51 = builtin unpack_snorm_2x16 [%50] : f2\n"
     "%52 = construct [%51, %51] : f4\nstore %20, %52\n"},
    {"unpack_unorm_4x8",
     "%50 = extract %12, 0 : u1\n%51 = builtin unpack_unorm_4x8 [%50] : f4\nstore %20, %51\n"},
    {"unpack_snorm_4x8",
     "%50 = extract %12, 0 : u1\n%51 = builtin unpack_snorm_4x8 [%50] : f4\nstore %20, %51\n"},
};

TEST_F(TypedCompute, EveryRow_AgreesWithTheDevice) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Run(row);
  }
}

TEST_F(TypedCompute, EveryBuiltinOfTypedModules_HasARow) {
  for (uint32_t i = 0; i < ir::kBuiltinCount; ++i) {
    const auto builtin = static_cast<ir::Builtin>(i);
    const bool found = std::ranges::any_of(
        kRows, [&](const Row& row) { return row.name == ir::FactsOf(builtin).name; });
    EXPECT_EQ(found, ir::IsOfTypedModules(builtin)) << ir::FactsOf(builtin).name;
  }
}

}  // namespace
}  // namespace kiln::oracle
