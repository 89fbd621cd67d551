#!/bin/sh
# Checks a large training on one machine with GNU parallel: some parts at a time, then one process that judges.
#   deploy/check-parallel.sh RUN FOLDER [SHARDS [AT_A_TIME]]
set -eu
run=$1
folder=$2
shards=${3:-64}
mkdir -p "$folder"
trainscope check "$run" --plan "$folder/plan" --shards "$shards"
seq 0 "$((shards - 1))" | parallel -j "${4:-8}" --halt soon,fail=1 \
    trainscope check "$run" --plan "$folder/plan" --shard "{}/$shards" --summaries "$folder/summaries" --threads 1
exec trainscope check "$run" --plan "$folder/plan" --summaries "$folder/summaries" --complete
