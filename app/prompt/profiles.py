"""What a backend accepts as a prompt. In: a profile's name. Out: its limits. Pure; any thread."""

from dataclasses import dataclass

from app.errors import InvalidRequest

# 448 decoder positions, half of them for the prompt, one for <|startofprev|> (openai/whisper, decoding.py).
WHISPER_PROMPT_TOKENS = 448 // 2 - 1


@dataclass(frozen=True, slots=True)
class Profile:
    """`max_characters` counts code points of the prompt without its leading space, None for no such limit;
    `overflow` says what the backend does with more than it accepts, which is why nothing over is ever sent."""

    name: str
    max_tokens: int
    max_characters: int | None
    overflow: str


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("whisper", WHISPER_PROMPT_TOKENS, None, "cut in silence, from one end or the other"),
        Profile("groq", WHISPER_PROMPT_TOKENS, 896, "refused with an error"),
    )
}


def profile_named(name: str) -> Profile:
    """Raises InvalidRequest (code `unknown_profile`) listing the names."""
    try:
        return PROFILES[name]
    except KeyError:
        raise InvalidRequest(
            f"Unknown profile; use one of: {', '.join(sorted(PROFILES))}.", param="profile", code="unknown_profile"
        ) from None
