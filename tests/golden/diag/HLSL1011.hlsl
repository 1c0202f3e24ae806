// run: stage=preprocess
// means: Includes see the declared files below one root and nothing else. The path leaves it, or is absolute.
// fix: Name the file from the folder of the including file, or from an include root.
#include "../secrets.hlsli"
#include "/etc/light.hlsli"
