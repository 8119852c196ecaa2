"""Sampling of diffusion models in NumPy: noise levels, seeded noise, guidance and samplers.

    sigmas = schedule.sigmas_for("karras", "euler", levels, steps=20)
    x = noise.begin(latent, noise.initial(seed, latent.shape), sigmas[0], levels.largest)
    picture = samplers.sample("euler", x, sigmas, denoise, noise.Ancestral(seed, x.shape))

A latent is kept as x = x0 + sigma * e throughout ("variance exploding"), as in Karras et al. 2022,
arXiv:2206.00364; what the model is given and what its answer means is the matter of `guidance`.
"""
