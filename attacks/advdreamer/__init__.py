"""AdvDreamer: adversarial 3D pose from a single image.

Source: "AdvDreamer Unveils: Are Vision-Language Models Truly Ready for Real-World 3D Variations?"
(ICCV 2025, arXiv 2412.03002). No code, reward-model weights or evaluation data are public, so this family
is built from the paper, and from the released code of the parts that the paper names.

Deviations
----------
Reconstruction (`triposr`), from the released code of TripoSR (commit d26e331):

- Rays that miss the box are white. The released renderer fails as soon as one does.
- Cameras are computed in closed form: three views are as good as any number, and so are the poles. The
  released code takes a cross product along the wrong axis when there are exactly three views.
- `march` also gives the opacity and the premultiplied colour, which re-composition needs.
- Position embeddings are interpolated as transformers 4.35 did, for which the weights were released;
  `position = "5"` interpolates as later versions do.
- A picture without transparency is refused. The released code would remove its background with rembg;
  here, segmentation is a stage of its own.
- The surface is extracted by our own marching cubes: the same vertices as torchmcubes, but shared by
  their triangles, and faces that join without holes or doubled edges.
"""
