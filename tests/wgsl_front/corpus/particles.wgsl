// Particles in a grid of cells; those that die are counted and come back.
// entries: compute=advance_main
struct Particle {
  position : vec3f,
  age : f32,
  velocity : vec3f,
  seed : u32,
}
struct Step {
  seconds : f32,
  drag : f32,
  gravity : vec3f,
  count : u32,
}
struct Counters {
  alive : atomic<u32>,
  dead : atomic<u32>,
  fastest : atomic<u32>,
}
@group(0) @binding(0) var<uniform> step : Step;
@group(0) @binding(1) var<storage, read_write> particles : array<Particle>;
@group(0) @binding(2) var<storage, read_write> counters : Counters;

fn next(seed : ptr<function, u32>) -> f32 {
  var state = *seed * 747796405u + 2891336453u;
  state = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  *seed = (state >> 22u) ^ state;
  return f32(*seed) / 4294967295.0;
}

fn born(seed : u32) -> Particle {
  var state = seed;
  let angle = next(&state) * 6.2831853;
  let height = next(&state);
  var made = Particle();
  made.position = vec3f(cos(angle), 0.0, sin(angle));
  made.velocity = vec3f(0.0, 2.0 + height, 0.0);
  made.seed = state;
  return made;
}

@compute @workgroup_size(64)
fn advance_main(@builtin(global_invocation_id) id : vec3<u32>) {
  let index = id.x;
  if (index >= step.count) {
    return;
  }
  var one = particles[index];
  one.age += step.seconds;
  one.velocity += (step.gravity - one.velocity * step.drag) * step.seconds;
  one.position += one.velocity * step.seconds;
  if one.age > 4.0 || one.position.y < -1.0 {
    atomicAdd(&counters.dead, 1u);
    one = born(one.seed ^ index);
  } else {
    atomicAdd(&counters.alive, 1u);
  }
  atomicMax(&counters.fastest, bitcast<u32>(length(one.velocity)));
  particles[index] = one;
}
