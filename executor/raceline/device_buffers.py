"""Reads CUPTI's activity buffers: kernels, copies, sets and the calls that started them.

A buffer holds records back to back, of lengths that differ from one CUDA to the next and so come with it. The fields that are read
here have kept their places since CUDA 11.
"""
import struct

from raceline.device_lines import KIND_COPY, KIND_KERNEL, KIND_SET

# CUPTI's numbers of the records that are asked for.
MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL = 1, 2, 4, 5, 10
# start, end | device, context, stream | correlation | name
KERNEL_FIELDS = struct.Struct("<16xQQ8xIII40xI8xQ")
# The word of eight bytes that is the address of a kernel's name.
NAME_WORD = 13
NODE = struct.Struct("<Q")
KERNEL_NODE, TRANSFER_NODE = 144, 64
# bytes, start, end, device, context, stream, correlation: copies and sets alike
TRANSFER_FIELDS = struct.Struct("<8xQQQIIII")
# start | thread | correlation
CALL_FIELDS = struct.Struct("<8xQ12xII")
COPY_NAMES = {1: "Memcpy HtoD", 2: "Memcpy DtoH", 8: "Memcpy DtoD", 10: "Memcpy PtoP"}


def read(content, offset, words, names, device, string):
    """Hand each record of a buffer to `device` (DeviceLines). `words`: the length of each kind's records in words of eight bytes;
    `names`: address → id of a string; `string`: a text's id."""
    at, end = 0, len(content)
    kernel, transfer, call = KERNEL_FIELDS.unpack_from, TRANSFER_FIELDS.unpack_from, CALL_FIELDS.unpack_from
    while at < end:
        kind = content[at] | content[at + 1] << 8
        size = 8 * words[kind]
        if kind == KERNEL:
            start, stop, on, _, stream, correlation, name = kernel(content, at)
            node = NODE.unpack_from(content, at + KERNEL_NODE)[0] if size >= KERNEL_NODE + 8 else 0
            if start:
                device.activity(((on, stream), start + offset, stop + offset, names.get(name, 0), KIND_KERNEL, 0, correlation, node))
        elif kind == MEMCPY or kind == MEMSET:
            moved, start, stop, on, _, stream, correlation = transfer(content, at)
            node = NODE.unpack_from(content, at + TRANSFER_NODE)[0] if size >= TRANSFER_NODE + 8 else 0
            label = COPY_NAMES.get(content[at + 4], "Memcpy") if kind == MEMCPY else "Memset"
            if start:
                device.activity(((on, stream), start + offset, stop + offset, string(label), KIND_COPY if kind == MEMCPY else KIND_SET, moved, correlation, node))
        elif kind == RUNTIME or kind == DRIVER:
            start, thread, correlation = call(content, at)
            device.call(correlation, thread, start + offset)
        at += size
