"""Language names as people and clients write them. In: a code or name in any case, with or without a region. Out:
Whisper's code, or None for "detect it". Pure; any thread."""

from app.errors import InvalidRequest

# Codes and English names of the multilingual Whisper vocabulary (openai/whisper, tokenizer.py, LANGUAGES).
_TABLE = """
en:english zh:chinese de:german es:spanish ru:russian ko:korean fr:french ja:japanese pt:portuguese
tr:turkish pl:polish ca:catalan nl:dutch ar:arabic sv:swedish it:italian id:indonesian hi:hindi fi:finnish
vi:vietnamese he:hebrew uk:ukrainian el:greek ms:malay cs:czech ro:romanian da:danish hu:hungarian ta:tamil
no:norwegian th:thai ur:urdu hr:croatian bg:bulgarian lt:lithuanian la:latin mi:maori ml:malayalam cy:welsh
sk:slovak te:telugu fa:persian lv:latvian bn:bengali sr:serbian az:azerbaijani sl:slovenian kn:kannada
et:estonian mk:macedonian br:breton eu:basque is:icelandic hy:armenian ne:nepali mn:mongolian bs:bosnian
kk:kazakh sq:albanian sw:swahili gl:galician mr:marathi pa:punjabi si:sinhala km:khmer sn:shona yo:yoruba
so:somali af:afrikaans oc:occitan ka:georgian be:belarusian tg:tajik sd:sindhi gu:gujarati am:amharic
yi:yiddish lo:lao uz:uzbek fo:faroese tk:turkmen nn:nynorsk mt:maltese sa:sanskrit lb:luxembourgish
my:myanmar bo:tibetan tl:tagalog mg:malagasy as:assamese tt:tatar haw:hawaiian ln:lingala ha:hausa
ba:bashkir jw:javanese su:sundanese yue:cantonese ps:pashto ht:haitian
"""
LANGUAGES: dict[str, str] = dict(pair.split(":") for pair in _TABLE.split())
_CODES_BY_NAME = {name: code for code, name in LANGUAGES.items()} | {
    "mandarin": "zh",
    "castilian": "es",
    "valencian": "ca",
    "flemish": "nl",
    "burmese": "my",
    "iw": "he",
    "jv": "jw",
    "nb": "no",
}
_DETECT = {"", "auto", "detect"}


def parse_language(text: str | None) -> str | None:
    """`en`, `EN`, `english`, `en-US` and ` en` all give `en`; empty and `auto` give None: detect.

    Raises InvalidRequest (code `unknown_language`) for the rest, listing the codes.
    """
    wanted = (text or "").strip().lower().replace("_", "-")
    if wanted in _DETECT:
        return None
    primary = wanted.split("-", 1)[0]
    for candidate in (wanted, primary):
        if candidate in LANGUAGES:
            return candidate
        if candidate in _CODES_BY_NAME:
            return _CODES_BY_NAME[candidate]
    raise InvalidRequest(
        f"Unknown language; leave it out to detect it, or use one of: {', '.join(sorted(LANGUAGES))}.",
        param="language",
        code="unknown_language",
    )
