# weft on Debian 12 with the libraries that it runs with and gnuplot:
#     docker build -t weft . && docker run --rm -v "$PWD:/work" weft sweep study.yaml -o rows.csv
FROM debian:12-slim AS build
COPY . /weft
WORKDIR /weft
RUN apt-get update \
    && apt-get build-dep -y --no-install-recommends ./ \
    && dpkg-buildpackage -us -uc -b \
    && mkdir /packages \
    && mv ../*.deb /packages

FROM debian:12-slim
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
    apt-get update \
    && apt-get install -y --no-install-recommends /packages/weft_*.deb gnuplot-nox fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["weft"]
