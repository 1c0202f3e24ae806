// run: stage=check
// means: The modifier is accepted for sources of Direct3D and means nothing here.
// fix: Remove it.
shared float exposure;
