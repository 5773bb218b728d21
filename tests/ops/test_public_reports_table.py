"""Which test holds which public fault report: prompt (a), inputs (c), operations (d), OpenAI (e), timestamps (g)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


HELD = {
    "a01": "tests/e2e/test_main_job.py::test_every_window_gets_the_prompt",
    "a03": "tests/unit/prompt/test_prompt_planner.py::test_two_long_channels_share_one_budget",
    "a04": "tests/e2e/test_main_job.py::test_a_brand_in_the_tail_survives_an_over_long_glossary",
    "a06": "tests/e2e/test_public_reports.py::test_a_prompt_never_makes_text_vanish",
    "a08": "tests/e2e/test_main_job.py::test_silence_gives_empty_text_also_with_a_glossary",
    "a11": "tests/unit/prompt/test_prompt_planner.py::test_terms_in_any_order_give_the_same_bytes",
    "c01": "tests/unit/audio/test_decoder.py::test_a_video_without_sound_says_so",
    "c02": "tests/e2e/test_public_reports.py::test_a_file_with_its_index_at_the_end_is_read_and_half_of_it_refused",
    "c03": "tests/unit/audio/test_decoder.py::test_a_damaged_spot_is_passed_over_and_said",
    "c05": "tests/e2e/test_audio_files.py::test_what_is_audio_is_heard_whole_and_what_is_missing_is_said",
    "c07": "tests/e2e/test_public_reports.py::test_an_upload_is_judged_by_its_bytes_also_without_a_type",
    "c09": "tests/unit/audio/test_decoder.py::test_speech_on_one_channel_only_is_heard",
    "c11": "tests/unit/audio/test_decoder.py::test_every_codec_of_a_telephone_and_a_studio_is_heard",
    "c13": "tests/unit/audio/test_decoder.py::test_a_file_is_refused_as_soon_as_it_is_too_long",
    "c15": "tests/e2e/test_public_reports.py::test_under_a_tenth_of_a_second_nothing_is_said",
    "d01": "tests/e2e/test_load.py::test_exactly_what_fits_is_admitted_and_the_probe_answers_throughout",
    "d03": "tests/e2e/test_resilience.py::test_requests_of_clients_that_left_do_not_hold_up_the_others",
    "d06": "tests/e2e/test_start.py::test_no_model_names_the_three_ways",
    "d08": "tests/e2e/test_public_reports.py::test_every_scrape_has_every_request_in_it",
    "d11": "tests/unit/api/test_idempotency.py::"
    "test_work_goes_on_when_its_client_leaves_and_the_next_one_gets_the_answer",
    "d13": "tests/e2e/test_database_outage.py::"
    "test_transcription_goes_on_while_the_database_is_dead_and_it_comes_back_by_itself",
    "d15": "tests/unit/decoding/test_cores.py::test_a_quota_below_the_cores_of_the_host_decides",
    "d16": "tests/e2e/test_load.py::test_a_stop_under_load_finishes_or_refuses_and_cuts_nobody",
    "e01": "tests/e2e/test_openai_clients.py::test_case",
    "e03": "tests/e2e/test_public_reports.py::test_granularities_by_default_empty_and_without_room",
    "e05": "tests/e2e/test_openai_clients.py::test_case",
    "e06": "tests/e2e/test_public_reports.py::test_a_language_is_understood_however_it_is_written",
    "e07": "tests/e2e/test_public_reports.py::test_a_model_that_is_not_served_is_refused_at_once",
    "e09": "tests/e2e/test_openai_clients.py::test_case",
    "e11": "tests/e2e/test_public_reports.py::test_a_prompt_of_spaces_is_none_and_controls_are_refused",
    "g01": "tests/e2e/test_public_reports.py::test_no_time_is_after_the_end_in_any_format",
    "g04": "tests/unit/decoding/test_figures.py::test_a_figure_that_is_no_number_is_a_fault_of_the_engine",
    "g05": "tests/unit/transcript/test_formats.py::test_times_are_rounded_before_they_are_split",
    "g07": "tests/unit/transcript/test_formats.py::test_hours_are_always_written",
    "g09": "tests/unit/transcript/test_formats.py::test_vtt_has_exactly_one_header",
}


@pytest.mark.parametrize("report", HELD)
def test_the_test_that_holds_it_is_there(report: str) -> None:
    path, name = HELD[report].split("::")
    assert f"def {name}(" in (ROOT / path).read_text()


def test_no_report_of_these_themes_is_left_out() -> None:
    reports = ROOT.parent / "shared" / "cases" / "README.md"
    if not reports.exists():
        pytest.skip("../shared/cases is not here; a checkout with it beside runs this")
    assert set(re.findall(r"^### ([acdeg]\d\d):", reports.read_text(), re.MULTILINE)) == HELD.keys()
