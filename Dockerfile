# The program with its page in a small image:
#   docker build -t trainscope .
#   docker run -p 8080:8080 -v ~/runs:/runs:ro trainscope
# It listens on all addresses of the container, so it asks for a token: `docker logs` says in which file it is.

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo xtask web
RUN cargo build --release --locked --package trainscope

FROM debian:bookworm-slim
RUN useradd --create-home --uid 1000 trainscope && mkdir /runs
COPY --from=build /src/target/release/trainscope /usr/local/bin/trainscope
USER trainscope
EXPOSE 8080
# 0 if the server answers, else 1 or 2.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["trainscope", "status"]
ENTRYPOINT ["trainscope"]
CMD ["start", "--host", "0.0.0.0", "--summary-base-dir", "/runs"]
