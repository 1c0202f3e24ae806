// Many lights from a storage buffer, a mapped normal and an albedo.
// entries: vertex=vertex_main fragment=fragment_main
struct Frame {
  view_projection : mat4x4f,
  eye : vec3f,
  light_count : u32,
}
struct Light {
  position : vec3f,
  radius : f32,
  colour : vec3f,
  power : f32,
}
struct Instance {
  world : mat4x4f,
  tint : vec4f,
}
@group(0) @binding(0) var<uniform> frame : Frame;
@group(0) @binding(1) var<storage, read> lights : array<Light>;
@group(1) @binding(0) var albedo : texture_2d<f32>;
@group(1) @binding(1) var normals : texture_2d<f32>;
@group(1) @binding(2) var linear : sampler;
@group(2) @binding(0) var<storage> instances : array<Instance>;

struct Corner {
  @location(0) position : vec3f,
  @location(1) normal : vec3f,
  @location(2) tangent : vec4f,
  @location(3) uv : vec2f,
}
struct Varyings {
  @builtin(position) place : vec4f,
  @location(0) world : vec3f,
  @location(1) normal : vec3f,
  @location(2) tangent : vec4f,
  @location(3) uv : vec2f,
  @location(4) @interpolate(flat) instance : u32,
}

@vertex
fn vertex_main(corner : Corner, @builtin(instance_index) index : u32) -> Varyings {
  let world = instances[index].world * vec4f(corner.position, 1.0);
  let turn = mat3x3f(instances[index].world[0].xyz, instances[index].world[1].xyz,
                     instances[index].world[2].xyz);
  var out : Varyings;
  out.place = frame.view_projection * world;
  out.world = world.xyz;
  out.normal = turn * corner.normal;
  out.tangent = vec4f(turn * corner.tangent.xyz, corner.tangent.w);
  out.uv = corner.uv;
  out.instance = index;
  return out;
}

fn falloff(distance : f32, radius : f32) -> f32 {
  let share = saturate(1.0 - pow(distance / radius, 4.0));
  return share * share / (distance * distance + 1.0);
}

fn shade(light : Light, place : vec3f, normal : vec3f, eye : vec3f) -> vec3f {
  let to_light = light.position - place;
  let distance = length(to_light);
  let direction = to_light / distance;
  let half_way = normalize(direction + normalize(eye - place));
  let diffuse = max(dot(normal, direction), 0.0);
  let glow = pow(max(dot(normal, half_way), 0.0), 32.0);
  return light.colour * light.power * (diffuse + glow) * falloff(distance, light.radius);
}

@fragment
fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let bitangent = cross(in.normal, in.tangent.xyz) * in.tangent.w;
  let bump = textureSample(normals, linear, in.uv).xyz * 2 - 1;
  let normal = normalize(mat3x3f(in.tangent.xyz, bitangent, in.normal) * bump);
  let base = textureSample(albedo, linear, in.uv) * instances[in.instance].tint;
  if base.a < 0.1 {
    discard;
  }
  var sum = vec3f(0.02);
  for (var i = 0u; i < min(frame.light_count, arrayLength(&lights)); i++) {
    sum += shade(lights[i], in.world, normal, frame.eye);
  }
  return vec4f(sum * base.rgb, base.a);
}
