// run: stage=check
// means: Paths of includes stay below the root of the source set.
// fix: Move the file into the set, or mend the path.
#include "../light.hlsli"
