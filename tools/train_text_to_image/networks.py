"""The three networks, of the classes and in the layout of Stable Diffusion 1, only much smaller."""

from __future__ import annotations

from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

from tools.train_text_to_image.glyphs import SIZE

LATENT_CHANNELS, LATENT_SIDE = 4, SIZE // 4
WIDTH = 64  # of the text states
CONTEXT, VOCABULARY, END = 77, 49408, 49407  # CLIP's tokens a caption, token rows, end of text


def autoencoder() -> AutoencoderKL:
    """Make the VAE: (n, 3, 64, 64) -1..1 to latents (n, 4, 16, 16) and back."""
    return AutoencoderKL(
        in_channels=3,
        out_channels=3,
        latent_channels=LATENT_CHANNELS,
        block_out_channels=(24, 40, 64),
        layers_per_block=1,
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        norm_num_groups=8,
        sample_size=SIZE,
        scaling_factor=1.0,  # after training, `whiten` makes the latents' deviation 1
    )


def text_encoder(rows: int = VOCABULARY) -> CLIPTextModel:
    """Make the text encoder; in training it has only the token rows that captions use."""
    config = CLIPTextConfig(
        vocab_size=rows,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=CONTEXT,
        projection_dim=WIDTH,
        hidden_act="quick_gelu",
        bos_token_id=rows - 2,
        eos_token_id=rows - 1,
        pad_token_id=rows - 1,
    )
    return CLIPTextModel._from_config(config, attn_implementation="eager")


def unet() -> UNet2DConditionModel:
    """Make the network that predicts v from noisy latents, a time step and text states."""
    return UNet2DConditionModel(
        sample_size=LATENT_SIDE,
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        block_out_channels=(64, 128),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=WIDTH,
        attention_head_dim=4,
        norm_num_groups=16,
    )


def scheduler() -> DDIMScheduler:
    """Give Stable Diffusion's noise levels, with v as what is predicted."""
    return DDIMScheduler(
        num_train_timesteps=1000,
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
    )
