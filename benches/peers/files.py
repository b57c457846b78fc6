"""NumPy, h5py, zarr-python and VTK as contenders of benches/ranks_files.rs, which starts this program.

One request a line on standard input, one answer a line on standard output, both JSON objects:

{"do": "field", "shape": [x, y, z]}                    the field, as benches/files/field.rs has it, with noise
{"do": "save", "by": "numpy", "h5py", "zarr" or "zarr-zstd", "path": PATH}    and wait until it is on the disk
{"do": "load", "by": ..., "path": PATH}                what "save" has written
{"do": "check", "by": "npy", "zarr" or "vti", "path": PATH}    whether a file of Zippy's has the values of the field

Whatever fails is the answer {"error": TEXT}, other values, too.
"""

import json
import os
import sys

# VTK prints to standard output at times; the answers have it for themselves.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import h5py
import numpy
import zarr
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

ABOUT = f"NumPy {numpy.__version__}, h5py {h5py.__version__}, zarr-python {zarr.__version__}, VTK {vtkVersion.GetVTKVersion()}"


def flush(path):
    """Waits until a file, or all that is in a directory, is on the disk."""
    for entry in os.scandir(path) if os.path.isdir(path) else ():
        flush(entry.path)
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


class Field:
    def __init__(self, shape):
        self.shape = tuple(reversed(shape))
        self.kept = None
        hill = lambda at, period: (at % period) * (period - 1 - at % period)
        z, y, x = (numpy.arange(extent, dtype=numpy.uint32) for extent in self.shape)
        self.plane = (hill(x, 512)[None, :] + hill(y, 512)[:, None]).astype(numpy.uint32)
        self.along = hill(z, 1024).astype(numpy.uint32)
        u32 = numpy.uint32
        self.mixed = (x * u32(73856093))[None, :] ^ (y * u32(19349663))[:, None]
        self.turned = z * u32(83492791)

    def slab(self, z):
        """The values of one plane."""
        u32 = numpy.uint32
        mixed = self.mixed ^ self.turned[z]
        mixed = (mixed ^ (mixed >> u32(15))) * u32(0x2C1B3C6D)
        return (((self.plane + self.along[z]) << u32(5)) | (mixed >> u32(27))).astype(numpy.float32)

    def values(self):
        if self.kept is None:
            self.kept = numpy.empty(self.shape, numpy.float32)
            for z in range(self.shape[0]):
                self.kept[z] = self.slab(z)
        return self.kept

    def save(self, by, path):
        values = self.values()
        if by == "numpy":
            numpy.save(path, values)
        elif by == "h5py":
            with h5py.File(path, "w") as file:
                file.create_dataset("field", data=values)
        else:
            # Chunks as Zippy has them, of 4 MiB.
            chunks = list(self.shape)
            while chunks[0] * chunks[1] * chunks[2] * 4 > 4 << 20:
                # Of equal ones the slowest in memory, which is the first here.
                longest = max(range(3), key=lambda axis: (chunks[axis], -axis))
                chunks[longest] = -(-chunks[longest] // 2)
            codecs = [zarr.codecs.ZstdCodec(level=3)] if by == "zarr-zstd" else None
            options = {"shape": self.shape, "chunks": tuple(chunks), "dtype": "float32", "compressors": codecs}
            zarr.create_array(path, **options)[...] = values
        flush(path)

    def load(self, by, path):
        if by == "numpy":
            return numpy.load(path)
        if by == "h5py":
            with h5py.File(path, "r") as file:
                return file["field"][...]
        return zarr.open_array(path, mode="r")[...]

    def check(self, by, path):
        if by == "npy":
            found = numpy.load(path, mmap_mode="r")
        elif by == "zarr":
            found = zarr.open_array(os.path.join(path, "field"), mode="r")[...]
        else:
            reader = vtkXMLImageDataReader()
            reader.SetFileName(path)
            reader.Update()
            image = reader.GetOutput()
            found = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(tuple(reversed(image.GetDimensions())))
        if found.shape != self.shape or found.dtype != numpy.float32:
            raise ValueError(f"{by} is read as {found.shape} of {found.dtype}, and was saved as {self.shape} of float32")
        for z in range(self.shape[0]):
            if not numpy.array_equal(found[z], self.slab(z)):
                raise ValueError(f"{by} is read with other values in plane {z}")


def main():
    field = None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        try:
            if request["do"] == "field":
                field = Field(request["shape"])
                answer = {"about": ABOUT}
            else:
                getattr(field, request["do"])(request["by"], request["path"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
