"""One `vllm.LLM`, called directly and without any of Gradelake: what its workers must equal.

python -m tests.grading.direct_vllm MODEL CHUNKS RESULT: reads a JSON list of lists of prompts,
writes a JSON list of lists of [grade, probabilities of 0 to 5].
"""

import json
import math
import os
import sys


def main(model: str, chunks_file: str, result_file: str) -> None:
    os.environ |= {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "OMP_NUM_THREADS": "1",
    }
    from vllm import LLM, SamplingParams

    llm = LLM(
        model=model,
        dtype="bfloat16",
        max_model_len=2048,
        max_num_seqs=64,
        block_size=32,
        kv_cache_memory_bytes=256 << 20,
        enforce_eager=True,
        seed=0,
    )
    tokenizer = llm.get_tokenizer()
    digits = [tokenizer.encode(str(grade))[0] for grade in range(6)]
    sampling = SamplingParams(
        temperature=0, max_tokens=1, allowed_token_ids=digits, logprob_token_ids=digits
    )
    with open(chunks_file) as stream:
        chunks = json.load(stream)
    results = []
    for prompts in chunks:
        llm.reset_prefix_cache()
        outputs = llm.chat(
            [[{"role": "user", "content": prompt}] for prompt in prompts], sampling, use_tqdm=False
        )
        results.append(
            [
                [
                    int(output.outputs[0].text),
                    [math.exp(output.outputs[0].logprobs[0][digit].logprob) for digit in digits],
                ]
                for output in outputs
            ]
        )
    with open(result_file, "w") as stream:
        json.dump(results, stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
