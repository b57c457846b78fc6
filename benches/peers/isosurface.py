"""Marching Cubes of VTK and scikit-image as contenders of benches/ranks_isosurface.rs, which starts this program.

One request a line on standard input, one answer a line on standard output, both JSON objects:

{"do": "field", "samples": FILE, "type": "uint8" or "float32", "shape": [x, y, z]}    x fastest
{"do": "surface", "by": "flying-edges", "marching-cubes" or "scikit-image", "isovalue": F, "normals": false, "euler": false}

The answer to "surface" has the seconds of the filter alone, by one thread, and where asked for the mesh's vertices, triangles
and Euler characteristic. Whatever fails is the answer {"error": TEXT}.
"""

import json
import os
import sys
import time

# VTK prints to standard output at times; the answers have it for themselves.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy
import skimage
from skimage.measure import marching_cubes
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkSMPTools, vtkVersion
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkMarchingCubes

vtkSMPTools.SetBackend("Sequential")


class Field:
    def __init__(self, request):
        x, y, z = request["shape"]
        self.samples = numpy.fromfile(request["samples"], request["type"]).reshape(z, y, x)
        self.image = vtkImageData()
        self.image.SetDimensions(x, y, z)
        self.image.GetPointData().SetScalars(numpy_to_vtk(self.samples.ravel(), deep=True))

    def by_vtk(self, kind, request):
        surface = kind()
        surface.SetInputData(self.image)
        surface.SetValue(0, request["isovalue"])
        surface.SetComputeNormals(request["normals"])
        surface.SetComputeGradients(False)
        surface.SetComputeScalars(False)
        start = time.perf_counter()
        surface.Update()
        secs = time.perf_counter() - start
        mesh = surface.GetOutput()
        triangles = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        return secs, mesh.GetNumberOfPoints(), triangles

    def by_skimage(self, request):
        start = time.perf_counter()
        vertices, triangles, *_ = marching_cubes(self.samples, request["isovalue"])
        return time.perf_counter() - start, len(vertices), triangles

    def surface(self, request):
        kinds = {"flying-edges": vtkFlyingEdges3D, "marching-cubes": vtkMarchingCubes}
        kind = kinds.get(request["by"])
        secs, vertices, triangles = self.by_vtk(kind, request) if kind else self.by_skimage(request)
        answer = {"secs": secs}
        if request.get("euler"):
            edges = numpy.sort(numpy.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
            edges = len(numpy.unique(edges.astype(numpy.int64) @ numpy.array([1 << 32, 1])))
            answer.update(vertices=vertices, triangles=len(triangles), euler=vertices - edges + len(triangles))
        return answer


def main():
    field = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "field":
                field = Field(request)
                answer = {"vtk": vtkVersion.GetVTKVersion(), "skimage": skimage.__version__}
            else:
                answer = field.surface(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
