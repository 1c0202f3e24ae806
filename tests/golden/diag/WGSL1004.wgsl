// run: stage=check
// means: An attribute says something of the kind of thing that it stands at. Here it says nothing, or it stands twice.
// fix: Remove it, or put it where it belongs.
@group(0) const kOne = 1;
