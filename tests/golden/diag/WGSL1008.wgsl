// run: stage=check
// means: It is right by the language, and kiln cannot compile it yet. [CONFORMANCE](../CONFORMANCE.md) lists what it can.
// fix: Write it in another way.
enable subgroups;
