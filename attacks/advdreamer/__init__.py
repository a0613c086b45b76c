"""AdvDreamer: adversarial 3D pose from a single image.

Source: "AdvDreamer Unveils: Are Vision-Language Models Truly Ready for Real-World 3D Variations?"
(ICCV 2025, arXiv 2412.03002). No code, reward-model weights or evaluation data are public, so this family
is built from the paper, and from the released code of the parts that the paper names.

Deviations
----------
Search (`cmaes`, `selection`), where the paper contradicts itself or is silent:

- Eq. 8 prints A twice. A is (max - min) / 2 here, and B (max + min) / 2.
- Eq. 4 has a minus, though Table 4 shows that the most natural samples are kept: higher is better.
- The sum of losses in eq. 1 and 9 is never formed. Candidates are selected in two stages (sec. 3.3).
- Eq. 11 sums to an undefined h, read as k, and divides by the step size while eq. 9 draws from N(mu, Sigma).
  As is usual, draws come from N(mu, sigma^2 C); the constants that the paper leaves out are those of `cma`.
- Only the shortlist is shown to the naturalness model: what it says of the others would change nothing.
- Bounds, population, first step size are not in the paper; `bounds`, `population`, `sigma` set them.
- `sigma_cap`, off by default, is ours: without it the distribution may spread over the corners of its box.
- A generation that the query budget cuts short is scored, but moves nothing. NaN ranks last.
- Where the threat model hides scores, the loss is 1 for what fooled the target and 0 for the rest.
- The alternatives of Table 6 are published for targeted attacks. They are turned into one minus the cosine
  with the truth; the caption of MF_tt is what the target answers, or else the option that it likes best.

Measurement (`conditions`, and `metrics.pose_rates`):

- Top-1 accuracy is over one prompt a label, the one of the loss; CLIP-Benchmark averages over many.
- Random poses are uniform in the box, each dimension on its own, as in ViewFool's code.
- identity, corner, best_of_random and the true object ("true/...") are not in the paper.
- Pictures larger than `max_side` are scaled down, so they are smaller than the clean picture.
- Angles are about the camera's axes. The paper does not say which; see `pose`.

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

from attacks.advdreamer.attack import AdvDreamer

__all__ = ["AdvDreamer"]
