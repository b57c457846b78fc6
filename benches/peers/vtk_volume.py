"""VTK's volume mappers as a contender of benches/ranks_volume.rs, which starts this program and talks to it.

One request a line on standard input, one answer a line on standard output, both JSON objects:

{"do": "scene", "voxels": FILE, "shape": [x, y, z], "spacing": [..], "size": [w, h], "position": [..], "focal_point": [..],
 "view_up": [..], "fov_degrees": F, "opacity": [[value, opacity], ..], "colour": [[value, r, g, b], ..],
 "unit_distance": F, "step": F}                voxels of 8 bits, x fastest
{"do": "render", "mapper": "gpu" or "cpu", "shaded": false, "picture": FILE}
                                               the picture, where asked for: RGB of 8 bits, top row first

The answer to "render" has the seconds from the call until the pixels are in the memory of the host. Whatever fails is the
answer {"error": TEXT}.
"""

import json
import os
import sys
import time

# VTK and the graphics library print to standard output at times; the answers have it for themselves.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy
import vtkmodules.vtkRenderingOpenGL2
import vtkmodules.vtkRenderingVolumeOpenGL2
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray, vtkVersion
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPiecewiseFunction
from vtkmodules.vtkRenderingCore import vtkColorTransferFunction, vtkRenderer, vtkRenderWindow, vtkVolume, vtkVolumeProperty
from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper, vtkGPUVolumeRayCastMapper


def image_of(request):
    image = vtkImageData()
    image.SetDimensions(request["shape"])
    image.SetSpacing(request["spacing"])
    voxels = numpy.fromfile(request["voxels"], numpy.uint8)
    image.GetPointData().SetScalars(numpy_to_vtk(voxels, deep=True))
    return image


def property_of(request):
    opacity, colour = vtkPiecewiseFunction(), vtkColorTransferFunction()
    for point in request["opacity"]:
        opacity.AddPoint(*point)
    for point in request["colour"]:
        colour.AddRGBPoint(*point)
    looks = vtkVolumeProperty()
    looks.SetScalarOpacity(opacity)
    looks.SetColor(colour)
    looks.SetScalarOpacityUnitDistance(request["unit_distance"])
    looks.SetInterpolationTypeToLinear()
    return looks


def mapper_of(kind, image, step):
    if kind == "gpu":
        mapper = vtkGPUVolumeRayCastMapper()
        mapper.SetUseJittering(0)
    else:
        mapper = vtkFixedPointVolumeRayCastMapper()
        mapper.SetInteractiveSampleDistance(step)
    mapper.SetAutoAdjustSampleDistances(0)
    mapper.SetSampleDistance(step)
    mapper.SetImageSampleDistance(1)
    mapper.SetInputData(image)
    return mapper


class Scene:
    def __init__(self, request):
        self.size = request["size"]
        self.window, self.renderer, self.volume = vtkRenderWindow(), vtkRenderer(), vtkVolume()
        self.window.SetOffScreenRendering(1)
        self.window.SetMultiSamples(0)
        self.window.SetSize(self.size)
        self.window.AddRenderer(self.renderer)
        self.renderer.SetBackground(0, 0, 0)
        image = image_of(request)
        self.mappers = {kind: mapper_of(kind, image, request["step"]) for kind in ("gpu", "cpu")}
        self.volume.SetProperty(property_of(request))
        self.volume.SetMapper(self.mappers["gpu"])
        self.renderer.AddVolume(self.volume)
        camera = self.renderer.GetActiveCamera()
        camera.SetPosition(request["position"])
        camera.SetFocalPoint(request["focal_point"])
        camera.SetViewUp(request["view_up"])
        camera.SetViewAngle(request["fov_degrees"])
        self.renderer.ResetCameraClippingRange()
        self.pixels = vtkUnsignedCharArray()

    def render(self, request):
        self.volume.SetMapper(self.mappers[request["mapper"]])
        self.volume.GetProperty().SetShade(int(request["shaded"]))
        # Nothing of the last picture may be used again.
        self.renderer.GetActiveCamera().Modified()
        width, height = self.size
        start = time.perf_counter()
        self.window.Render()
        self.window.GetPixelData(0, 0, width - 1, height - 1, 0, self.pixels, 0)
        secs = time.perf_counter() - start
        if request.get("picture"):
            vtk_to_numpy(self.pixels).reshape(height, width, 3)[::-1].tofile(request["picture"])
        return {"secs": secs}


def backend(window):
    """What draws: the line that names the renderer among those that the window reports."""
    lines = window.ReportCapabilities().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if "renderer string" in line), window.GetClassName())


def main():
    scene = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "scene":
                scene = Scene(request)
                scene.window.Render()
                answer = {"vtk": vtkVersion.GetVTKVersion(), "renderer": backend(scene.window)}
            else:
                answer = scene.render(request)
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), file=answers, flush=True)


main()
