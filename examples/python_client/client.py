#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""client.py SOCKET PACK: compiles a triangle with a daemon and writes a pack of both its variants.

Knows kiln by its .proto files alone; `make_stubs.sh` makes the modules that are imported here.
"""
import sys

import grpc

from kiln.v1 import batch_pb2, batch_pb2_grpc, common_pb2, pack_pb2, pack_pb2_grpc

SOURCE = """rpl 2;
constant f2[3] corners = f2[3] { f2 {0.0, 0.8}, f2 {0.8, -0.8}, f2 {-0.8, -0.8} };
setting depth_test = false;
instance tint: enum "orange" "blue";
color_output_container target { f4 color; };
void place (void)
{
    vertex_stage_output_position (f4 {corners[vertex_stage_vertex_index ()], 0.0, 1.0});
}
void shade (void)
{
    conditional (tint == "orange") { target.color = f4 {1.0, 0.5, 0.0, 1.0}; }
    conditional (tint == "blue") { target.color = f4 {0.0, 0.5, 1.0, 1.0}; }
}
"""


def triangle(text):
    """A program and the axis whose values make its variants."""
    space = common_pb2.ProgramSpace()
    program = space.program
    program.name, program.pipeline = "triangle", "graphics_classic"
    program.sources.add(path="triangle.rpl", inline=text.encode())
    program.entry_points.add(stage=common_pb2.EntryPoint.VERTEX, function="place")
    program.entry_points.add(stage=common_pb2.EntryPoint.FRAGMENT, function="shade")
    program.targets.add(name="vk", form=common_pb2.Target.SPIRV, env="vulkan1.1")
    space.axes.add(name="tint", all=True)
    return space


def build(channel, space):
    """The id of a batch that has all variants. Wrong sources end the program with their messages."""
    batches = batch_pb2_grpc.BatchServiceStub(channel)
    batch_id = batches.StartBatch(batch_pb2.StartBatchRequest(project="python", spaces=[space])).batch_id
    failed = False
    for event in batches.WatchBatch(batch_pb2.WatchBatchRequest(batch_id=batch_id)):
        if event.WhichOneof("event") == "item":
            for message in event.item.outcome.diagnostics:
                failed = True
                print(f"{message.primary.path}:{message.primary.line}: {message.message} [{message.code}]",
                      file=sys.stderr)
        elif event.WhichOneof("event") == "final":
            print(f"{event.final.counts.variants_served} variants")
    if failed:
        sys.exit(1)
    return batch_id


def write_pack(channel, batch_id, path):
    """Everything of a batch in one file, as `kiln pack build` has it."""
    packs = pack_pb2_grpc.PackServiceStub(channel)
    done = None
    for reply in packs.BuildPack(pack_pb2.BuildPackRequest(batch_id=batch_id)):
        done = reply.done if reply.WhichOneof("event") == "done" else done
    with open(path, "wb") as file:
        for part in packs.ReadPack(pack_pb2.ReadPackRequest(pack_id=done.pack_id)):
            file.write(part.data)
    print(f"{path}: {done.size} bytes, {done.counts.artifacts} artifacts")


def main():
    socket, path = sys.argv[1:3]
    text = open(sys.argv[3], encoding="utf-8").read() if len(sys.argv) > 3 else SOURCE
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        write_pack(channel, build(channel, triangle(text)), path)


if __name__ == "__main__":
    main()
