"""The tokenizer of transformers with CLIP's vocabulary, and the texts that both are asked.

`python -m tests.nodes.clip_reference`, where transformers is installed, writes
tests/cases/clip_tokens.json again: ids without start and end.
"""

from __future__ import annotations

import gzip
import importlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "cases" / "clip_tokens.json"
MADE = "transformers' CLIPTokenizer; python -m tests.nodes.clip_reference writes this file"
TEXTS = [
    "",
    " ",
    "a photo of a cat",
    "A Photo OF A CAT",
    "masterpiece, best quality, ultra-detailed, 8k, (red fox:1.2), [snow], {forest|lake}",
    "don't can't we've they're I'd you'll it's SHE'S o'clock rock'n'roll ''quoted'' 's",
    "the year 1984, 3.14159, 100,000 and 1e-5, 5th, ½ ² ③ ٣ ५",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 300,
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "ein schöner Garten mit Äpfeln, Straße und Fluß; naïve façade, coöperate, piñata",
    "e\u0301 and é, n\u0303 and ñ, \u1e9e ß, İstanbul ISPARTA ıI",
    "красная лиса в зимнем лесу, очень красиво",
    "κόκκινη αλεπού ΣΟΦΟΣ",
    "一只红色的狐狸在雪地里，杰作",
    "雪の中の赤い狐、傑作。カタカナ ひらがな ﾊﾝｶｸ",
    "눈 속의 붉은 여우 \u1112\u1161\u11ab",
    "ثعلب أحمر في الثلج ١٢٣",
    "שועל אדום בשלג שָׁלוֹם",
    "बर्फ में लाल लोमड़ी",
    "สุนัขจิ้งจอกสีแดงในหิมะ",
    "con cáo đỏ trong tuyết, rất đẹp",
    "\U0001f98a\u2744\ufe0f fox \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea "
    "\U0001f44d\U0001f3fd #wow @you",
    "\U0001d573\U0001d58a\U0001d591\U0001d591\U0001d594 \U00010400 ﬁne ＡＢＣ ① ™ © €5 £6",
    "  lots \t of\n\nodd\r\n whitespace\u00a0here\u2003there\u3000\u200bzero ",
    "line one\nline two\u2028line three\u0085four\x0bfive\x0csix\x1cseven",
    "control \x00 \x01 \x1b[0m \x7f \u00ad soft \ufeff bom \ufffd",
    "<|startoftext|>a<|endoftext|> b <|ENDOFTEXT|> <|endoftext |> </w> cat</w>",
    "!!! ??? ... --- ___ ~~~ *** a.b.c a_b_c a-b-c http://example.com/?q=1&r=2 C:\\x\\y",
    "a\\(b\\) (c) ((d)) :: ;; '' \"\" `` <> /* */ // 'll 've 'LL",
    "MixedCASEWords iPhone15Pro GPT4 x264 H2O 3D 2D4K",
    "\u0130 \u01c5 \ufb03 \u1fd3 \u212b K",
    "ha" * 40 + " " + "lol " * 30,
    "word " * 100,
]


def transformers_tokenizer() -> Any:
    """Make CLIPTokenizer of the shipped merges; its vocabulary is put together here."""
    packed = files("vinode.nodes.algorithms").joinpath("clip_merges.txt.gz").read_bytes()
    merges = [tuple(line.split(" ")) for line in gzip.decompress(packed).decode().splitlines()]
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in seen] + [chr(256 + place) for place in range(256 - len(seen))]
    names = letters + [letter + "</w>" for letter in letters] + ["".join(pair) for pair in merges]
    names += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {name: id for id, name in enumerate(names)}
    # By name: the type checkers run where transformers is not installed.
    return importlib.import_module("transformers").CLIPTokenizer(vocabulary, merges)


if __name__ == "__main__":
    reference = transformers_tokenizer()
    cases = [{"text": text, "ids": reference(text)["input_ids"][1:-1]} for text in TEXTS]
    rows = ",\n".join(f"  {json.dumps(case)}" for case in cases)
    CASES.write_text(f'{{"made": {json.dumps(MADE)}, "cases": [\n{rows}\n]}}\n', encoding="utf-8")
