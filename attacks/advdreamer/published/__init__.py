"""The stages by published models: what the paper's pipeline runs on, loaded from the hub or a folder.

    segmentation    GroundingDINO and SAM or SAM 2, or SAM 3 alone  -> Foreground
    inpainting      Stable Diffusion inpainting and its successors  -> Background
    reconstruction  TripoSR, marched on a GPU, as a mesh on a CPU   -> Reconstruction
    harmonisation   diffusion in the silhouette's ring and shadow   -> Composer
    synthesis       pictures from text: a tool, and a data set of scenes

An adapter is named with what it is made of: `diffusion:ORG/NAME@COMMIT,steps=30,seed=1`; `hub.read` has
the grammar. Revisions are pinned for the models that are known here (`hub.PINNED`).

Deviations
----------
The paper names GroundingDINO and SAM, Stable Diffusion inpainting, TripoSR, and AnyDoor or ControlCom for
re-composition. The last two are not in diffusers, and AnyDoor and ControlCom's pose-changing modes would
undo Theta. So re-composition repaints only a ring around the silhouette and the shadow, at low strength,
and pastes the interior back: the pose is kept by construction.
"""
