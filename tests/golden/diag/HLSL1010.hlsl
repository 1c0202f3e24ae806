// run: stage=preprocess root=lib
// means: An include names a file that was not declared, or the path is spelled differently there: case counts. In quotes it is looked for beside the including file first, then in the include roots; in angle brackets in the roots only.
// fix: Declare the file, or add its folder to the include roots.
#include "fog.hlsli"
#include <common/light.hlsli>
