#!/bin/sh
# Checks a large training on Slurm: one task for each part, then one that judges.
#   deploy/slurm/check.sh RUN FOLDER [SHARDS]
# RUN is the folder of the training, FOLDER one that all nodes reach. The result is FOLDER/result.json.
set -eu
run=$1
folder=$2
shards=${3:-64}
mkdir -p "$folder"
plan=$folder/plan
summaries=$folder/summaries
trainscope check "$run" --plan "$plan" --shards "$shards"
parts=$(sbatch --parsable --array="0-$((shards - 1))" --requeue --output="$folder/part-%a.log" \
    --wrap "exec trainscope check '$run' --plan '$plan' --shard auto --summaries '$summaries'")
# A part that failed is computed again by the judging task.
sbatch --parsable --dependency="afterany:$parts" --output="$folder/judge.log" \
    --wrap "exec trainscope check '$run' --plan '$plan' --summaries '$summaries' --format json --output '$folder/result.json'"
