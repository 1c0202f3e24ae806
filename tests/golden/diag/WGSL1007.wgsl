// run: stage=check
// means: Sources have bounds, so that none takes forever.
// fix: Make it smaller, or cut it into parts.
const kBig = array<u32, 70000>();
