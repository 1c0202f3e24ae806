// Shadows of cascades, filtered by comparisons.
// entries: vertex=vertex_main fragment=fragment_main
struct Cascade {
  matrix : mat4x4f,
  far : f32,
  @align(16) bias : vec2f,
}
struct Shadows {
  cascades : array<Cascade, 4>,
  texel : vec2f,
}
@group(0) @binding(0) var<uniform> shadows : Shadows;
@group(0) @binding(1) var depth : texture_depth_2d_array;
@group(0) @binding(2) var compare : sampler_comparison;
struct Varyings {
  @builtin(position) place : vec4f,
  @location(0) world : vec3f,
  @location(1) distance : f32,
}
@vertex
fn vertex_main(@location(0) position : vec3f) -> Varyings {
  return Varyings(vec4f(position, 1), position, position.z);
}

fn cascade_of(distance : f32) -> i32 {
  var found = 3;
  loop {
    if found == 0 { break; }
    let before = found - 1;
    if distance > shadows.cascades[before].far { break; }
    continuing {
      found = before;
    }
  }
  return found;
}

fn lit(world : vec3f, layer : i32) -> f32 {
  let at = shadows.cascades[layer].matrix * vec4(world, 1.0);
  let uv = at.xy * vec2f(0.5, -0.5) + 0.5;
  let reference = at.z - shadows.cascades[layer].bias.x;
  var sum = 0.0;
  for (var y = -1; y <= 1; y++) {
    for (var x = -1; x <= 1; x++) {
      sum += textureSampleCompareLevel(depth, compare, uv + vec2f(f32(x), f32(y)) * shadows.texel, layer, reference);
    }
  }
  return sum / 9;
}

@fragment
fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let layer = cascade_of(in.distance);
  switch layer {
    case 0, 1: {
      return vec4f(vec3f(lit(in.world, layer)), 1.0);
    }
    case 2: {
      return vec4f(0.5);
    }
    default: {
    }
  }
  return vec4f(1.0);
}
