"""Sampling of diffusion models in NumPy: noise levels, seeded noise, guidance and samplers.

A latent is kept as x = x0 + sigma * e throughout ("variance exploding"), as in Karras et al. 2022,
arXiv:2206.00364; what the model is given and what its answer means is the matter of `guidance`.

    levels     what a model was trained with: sigma <-> timestep
    schedule   which levels are gone through: `sigmas_for`, `stretch`
    noise      what it begins with: `initial`, `begin`
    samplers   `sample` goes the way with the noise of `noise_source`; `calls` counts
    guidance   `Denoiser`: from a model's predictions to the clean latent that samplers ask for
    preview    a latent as a small picture
    drawing    all of it for a node: `draw`, and `uses` before the run

Where every picture is nothing but 3, the clean latent is 3 whatever the noise:

>>> import numpy as np
>>> from vinode.nodes.algorithms.sampling import levels, noise, samplers, schedule, way
>>> from vinode.graph.diffusion import NoiseSchedule
>>> shape = (1, 4, 8, 8)
>>> known = levels.Levels(levels.sigmas_of(levels.alphas(NoiseSchedule())))
>>> sigmas = schedule.sigmas_for("karras", "dpmpp_2m_sde", known, steps=20).tolist()
>>> x = noise.begin(np.zeros(shape), noise.initial(7, shape), sigmas[0], known.largest)
>>> source = samplers.noise_source("dpmpp_2m_sde", 7, shape, sigmas)
>>> gone = way.Way(tuple(sigmas), lambda x, sigma: np.full_like(x, 3), source)
>>> drawn = samplers.sample("dpmpp_2m_sde", x.astype(np.float32), gone)
>>> drawn.shape, float(drawn.min()), float(drawn.max())
((1, 4, 8, 8), 3.0, 3.0)
"""
