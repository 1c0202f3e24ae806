// run: stage=check
// means: Includes see the declared set of files and nothing else.
// fix: Add the file to the set, add the folder with -I, or mend the path.
#include "light.hlsli"
