"""The second stage: text states that tell glyphs apart, before any picture is drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from tools.train_text_to_image.captions import COLOURS, example
from tools.train_text_to_image.glyphs import Glyph
from tools.train_text_to_image.loop import Course, Draw, Workers, train
from tools.train_text_to_image.networks import CONTEXT, END, VOCABULARY, WIDTH, text_encoder
from vinode.nodes.algorithms import clip_tokens

COMPONENTS = 256  # of the latents' principal components, which the warm-up predicts
_FRAMES = ("on white background", "a picture of", "an emoji of", *COLOURS)


def write_vocabulary(folder: Path) -> Path:
    """Write the vocab.json and merges.txt that transformers reads, of the tokens vinode ships."""
    folder.mkdir(parents=True, exist_ok=True)
    clip_tokens.tokenizer().model.save(str(folder))
    return folder


def load_tokenizer(folder: Path) -> CLIPTokenizer:
    """Read CLIP's vocab.json and merges.txt."""
    return CLIPTokenizer.from_pretrained(folder, model_max_length=CONTEXT)


@dataclass(frozen=True, slots=True)
class Rows:
    """The tokens that captions use: only their rows are trained, in a table of their own.

    ids  (k,) int64  CLIP's numbers, ascending, so the end of text is the last row
    """

    tokenizer: CLIPTokenizer
    ids: Tensor

    @classmethod
    def used_by(cls, glyphs: Sequence[Glyph], tokenizer: CLIPTokenizer) -> Rows:
        """Gather the tokens of all names, and of all that captions put around them."""
        texts = [name for glyph in glyphs for name in glyph.names]
        words = [word for text in texts for word in text.split()]
        found = {id for ids in tokenizer([*texts, *words, *_FRAMES]).input_ids for id in ids}
        return cls(tokenizer, torch.tensor(sorted(found)))

    def of(self, captions: list[str]) -> Tensor:
        """Give the rows (n, 77) int64 of captions, padded with the end of text as CLIP does."""
        ids = self.tokenizer(
            captions,
            padding="max_length",
            max_length=CONTEXT,
            truncation=True,
            return_tensors="pt",
        ).input_ids
        return torch.searchsorted(self.ids, ids)

    @torch.no_grad()
    def whole(self, text: CLIPTextModel) -> CLIPTextModel:
        """Give the text encoder with all of CLIP's rows; a word never seen means the average."""
        full = text_encoder(VOCABULARY)
        trained = text.get_input_embeddings().weight
        table = trained.mean(0).repeat(VOCABULARY, 1)
        table[self.ids] = trained
        state = dict(text.state_dict())
        name = next(key for key in state if key.endswith("token_embedding.weight"))
        state[name] = table
        full.load_state_dict(state)
        return full


def train_text(
    glyphs: Sequence[Glyph],
    latents: Tensor,
    rows: Rows,
    course: Course,
    folder: Path,
    workers: Workers,
) -> CLIPTextModel:
    """Warm the text encoder up: a throw-away linear head guesses the latents from its states.

    latents  (looks, n, 4, 16, 16) float16
    """
    assert int(rows.ids[-1]) == END
    net = nn.ModuleDict({"text": text_encoder(len(rows.ids)), "head": nn.Linear(WIDTH, COMPONENTS)})
    target = _components(latents)

    def guess(draw: Draw) -> Tensor:
        count = course.batch // workers.count
        looks, which, captions = zip(
            *(example(draw.numbers, glyphs) for _ in range(count)), strict=True
        )
        ids = rows.of(list(captions))
        end = len(rows.ids) - 1
        # The encoder looks back only, so a few paddings stand for all of them.
        ids = ids[:, : int((ids != end).sum(1).max()) + 4]
        padding = (ids == end).float().unsqueeze(-1)
        states = net["text"](ids).last_hidden_state
        mean = (states * padding).sum(1) / padding.sum(1)
        return F.mse_loss(net["head"](mean), target[list(looks), list(which)])

    return train(course, net, [{"params": list(net.parameters())}], guess, folder, workers)["text"]


def _components(latents: Tensor) -> Tensor:
    """Give the latents' principal components (looks, n, 256), deviation 1 over plain glyphs."""
    plain = latents[0].float().flatten(1)
    mean = plain.mean(0)
    basis = torch.linalg.svd(plain - mean, full_matrices=False)[2][:COMPONENTS]
    parts = torch.stack([(look.float().flatten(1) - mean) @ basis.T for look in latents])
    return parts / parts[0].std()
