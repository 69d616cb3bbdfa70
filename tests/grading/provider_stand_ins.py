"""Stand-ins for hosted models that have an API of their own: what LiteLLM sends them, and gets.

Each turns a request into OpenAI's, has `StandIn` answer it, and puts the reply into its own form.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.grading.misbehaving import Asked, Reply, refuse, sent
from tests.grading.stand_ins import OpenAI, StandIn


class Provider(StandIn):
    """One that speaks OpenAI's chat API."""

    takes_choice = gives_logprobs = False

    def __call__(self, asked: Asked) -> Reply:
        plain = {key: value for key, value in self.asked_for(asked).items() if value is not None}
        return self.worded(super().__call__(replace(asked, body=plain)))

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        """The request in OpenAI's form."""
        return asked.body

    def worded(self, reply: Reply) -> Reply:
        """A reply of OpenAI's form in its own; errors stay."""
        if reply.status != 200 or not reply.body.startswith(b'{"id"'):
            return reply
        completion = json.loads(reply.body)
        (choice,) = completion["choices"]
        return sent(self.own(completion, choice, completion["usage"]), delay=reply.delay)

    def own(self, completion: dict, choice: dict, usage: dict) -> dict[str, Any]:
        return completion


class Mistral(Provider):
    """But for the name of the seed."""

    documented = """
    messages model frequency_penalty max_tokens metadata n parallel_tool_calls prediction
    presence_penalty prompt_mode random_seed reasoning_effort response_format safe_prompt stop
    stream temperature tool_choice tools top_p
    """

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        return {**asked.body, "seed": asked.body.get("random_seed")}


class Azure(Provider):
    """The model is in the path; what a filter refuses is an error."""

    documented = OpenAI.documented

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        return {"model": self.models[0], **asked.body}

    def worded(self, reply: Reply) -> Reply:
        if b'"content_filter"' in reply.body:
            return refuse(400, "The response was filtered by the content filter", "content_filter")
        return super().worded(reply)


class Anthropic(Provider):
    """The Messages API."""

    documented = """
    messages model container max_tokens metadata output_config output_format service_tier
    stop_sequences stream system temperature thinking tool_choice tools top_k top_p
    """

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        body = asked.body
        messages = [{"content": text} for text in _texts(body.get("system"))]
        messages += [{"content": " ".join(_texts(m["content"]))} for m in body["messages"]]
        form = body.get("output_config", {}).get("format") or body.get("output_format")
        schema = {"response_format": {"json_schema": form}} if form else {}
        return {**_numbers(body), "model": body["model"], "messages": messages, **schema}

    def own(self, completion: dict, choice: dict, usage: dict) -> dict[str, Any]:
        text = choice["message"]["content"]
        cached = _cached(usage)
        told = choice["finish_reason"]
        reasons = {"length": "max_tokens", "content_filter": "refusal", "stop": "end_turn"}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": completion["model"],
            "content": [] if text is None else [{"type": "text", "text": text}],
            "stop_reason": reasons.get(told, told),
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage["prompt_tokens"] - cached,  # those that no cache had
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": usage["completion_tokens"],
            },
        }


class Bedrock(Provider):
    """The Converse API; the model is in the path."""

    documented = """
    messages additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig
    inferenceConfig outputConfig performanceConfig promptVariables requestMetadata serviceTier
    system toolConfig
    """

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        body, config = asked.body, asked.body.get("inferenceConfig", {})
        contents = [body.get("system", []), *(message["content"] for message in body["messages"])]
        messages = [{"content": " ".join(_texts(content))} for content in contents if content]
        numbers = {"max_tokens": config.get("maxTokens"), "temperature": config.get("temperature")}
        form = body.get("outputConfig", {}).get("textFormat", {}).get("structure")
        tools = body.get("toolConfig", {}).get("tools")
        held = json.loads(form["jsonSchema"]["schema"]) if form else None
        if tools:
            held = tools[0]["toolSpec"]["inputSchema"]["json"]
        return {"model": self.models[0], "messages": messages, **numbers, **_held_to(held)}

    def own(self, completion: dict, choice: dict, usage: dict) -> dict[str, Any]:
        text = choice["message"]["content"]
        cached = _cached(usage)
        told = choice["finish_reason"]
        reasons = {"length": "max_tokens", "content_filter": "content_filtered", "stop": "end_turn"}
        content = [] if text is None else [self.said(text)]
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": self.ended(reasons.get(told, told), content),
            "usage": {
                "inputTokens": usage["prompt_tokens"] - cached,  # those that no cache had
                "cacheReadInputTokens": cached,
                "cacheWriteInputTokens": 0,
                "outputTokens": usage["completion_tokens"],
                "totalTokens": usage["total_tokens"],
            },
            "metrics": {"latencyMs": 1},
        }

    def said(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def ended(self, reason: str, content: list[dict[str, Any]]) -> str:
        """Why it ended: to have a tool called, where it called one and nothing broke off."""
        calls = any("toolUse" in part for part in content)
        return "tool_use" if calls and reason == "end_turn" else reason


class BedrockByTool(Bedrock):
    """Of a model that is held to a schema by having to call a tool."""

    def said(self, text: str) -> dict[str, Any]:
        if not text.startswith("{"):
            return super().said(text)
        call = {"toolUseId": "1", "name": "json_tool_call", "input": json.loads(text)}
        return {"toolUse": call}


class Gemini(Provider):
    """`generateContent`, Gemini's and Vertex's; the model is in the path."""

    documented = """
    cachedContent contents generationConfig labels safetySettings systemInstruction toolConfig tools
    """

    def asked_for(self, asked: Asked) -> dict[str, Any]:
        body, config = asked.body, asked.body.get("generationConfig", {})
        contents = [body.get("systemInstruction") or body.get("system_instruction") or {}]
        messages = [
            {"content": " ".join(part["text"] for part in content["parts"])}
            for content in [*contents, *body["contents"]]
            if content
        ]
        form = next((config[k] for k in config if "schema" in k.lower()), None)
        numbers = {"max_tokens": _of(config, "maxOutputTokens", "max_output_tokens")}
        numbers |= {"temperature": config.get("temperature"), "seed": config.get("seed")}
        return {"model": self.models[0], "messages": messages, **numbers, **_held_to(form)}

    def own(self, completion: dict, choice: dict, usage: dict) -> dict[str, Any]:
        text = choice["message"]["content"]
        told = choice["finish_reason"]
        reasons = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "stop": "STOP"}
        candidate = {"finishReason": reasons.get(told, told), "index": 0}
        if text is not None:
            candidate["content"] = {"role": "model", "parts": [{"text": text}]}
        cached = _cached(usage)
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": usage["prompt_tokens"],
                "candidatesTokenCount": usage["completion_tokens"],
                "totalTokenCount": usage["total_tokens"],
                "cachedContentTokenCount": cached,
            },
        }


def _of(config: dict[str, Any], *names: str) -> Any:
    return next((config[name] for name in names if name in config), None)


def _numbers(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body.get(name) for name in ("max_tokens", "temperature", "top_p", "seed")}


def _held_to(schema: dict[str, Any] | None) -> dict[str, Any]:
    return {"response_format": {"json_schema": {"schema": schema}}} if schema else {}


def _cached(usage: dict[str, Any]) -> int:
    return usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)


def _texts(content: Any) -> Iterator[str]:
    """The texts of a content: a string, or a list of parts."""
    if isinstance(content, str):
        yield content
    else:
        yield from (part["text"] for part in content or ())


GOOGLE_TOKEN = sent({"access_token": "ya29.of-nobody", "expires_in": 3600, "token_type": "Bearer"})


def google_account(folder: Path, token_uri: str) -> Path:
    """A file of a service account; Google's library asks the address for tokens."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "project_id": "nobody",
        "private_key": key.decode(),
        "client_email": "nobody@nobody.iam.gserviceaccount.com",
        "token_uri": token_uri,
    }
    file = folder / "account.json"
    file.write_text(json.dumps(account))
    return file
