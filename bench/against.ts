import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, Sample, Subject } from './figure.ts'
import { withStolen } from './stolen-time.ts'
import { openTree, run, THIS_TREE, type Tree } from './trees.ts'

/**
 * Measures one figure of two commits in turn, this tree and another, so that a noisy minute falls on
 * both: the way to see a regression on a machine that is not quiet. Prints the median of both.
 */
export async function runAgainst(name: string, bench: Bench, against: Against): Promise<void> {
  const other = await openTree(against.commit)
  try {
    const trees = [THIS_TREE, other]
    const opened: Subject[] = []
    const dataDir = await makeFolder()
    try {
      for (const tree of trees) opened.push(await openSubject(name, bench, tree, dataDir))
      const rounds = await measureInTurn(opened, against.rounds)
      const [ours = [], theirs = []] = rounds
      process.stdout.write(`${name}, medians of ${against.rounds} rounds in turn\n`)
      process.stdout.write(`${toTable(ours, theirs, other.name)}\n`)
    } finally {
      for (const subject of opened) await subject.close()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
    }
  } finally {
    await other.close()
  }
}

export interface Against {
  commit: string
  rounds: number
}

async function makeFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dir, 0o711)
  return dir
}

async function openSubject(name: string, bench: Bench, tree: Tree, dataDir: string) {
  if (bench.open !== undefined) return bench.open(join(dataDir, tree.name), tree)
  return wholeRun(name, tree)
}

/** A figure that is measured in one piece only, by the command line of the commit itself. */
const wholeRun = (name: string, tree: Tree): Subject => ({
  // It exits with 1 where a figure is low, and has still printed all of them.
  measure: async () =>
    readFigures(
      await run('sh', ['-c', 'node scripts/run.mjs bench/run.ts "$0" || true', name], tree.dir),
    ),
  close: async () => {},
})

/** A round is left out where the host of this machine gave more of its processors to others. */
const STOLEN_MAX = 0.1

/**
 * Measures the samples of each subject, round by round. As many rounds may be left out as are wanted;
 * every round after that counts.
 */
async function measureInTurn(subjects: readonly Subject[], rounds: number): Promise<Sample[][][]> {
  const measured: Sample[][][] = []
  let leftOut = 0
  while (measured.length < rounds) {
    const { result, stolen } = await withStolen(async () => {
      const round: Sample[][] = []
      for (const subject of subjects) round.push(await subject.measure())
      return round
    })
    if (stolen > STOLEN_MAX && leftOut < rounds) leftOut += 1
    else measured.push(result)
  }
  if (leftOut > 0) process.stdout.write(`${leftOut} rounds left out: the host was busy\n`)
  return subjects.map((_, at) => measured.map((round) => round[at] ?? []))
}

/** Reads what a run of the benchmark prints: `ok   name: 168/s of 520/s, the floor = 32 % (…)`. */
export function readFigures(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, number, unit] = /^(?:ok {3}|LOW {2})(.*?): ([\d.]+) ?(\S*)/.exec(line) ?? []
    if (name === undefined) return []
    return [{ name, value: Number(number), unit: unit?.replace(/,$/, '') ?? '' }]
  })
}

/** Writes one line for each number that both have: the medians with their ranges, and their ratio. */
export function toTable(
  ours: readonly Sample[][],
  theirs: readonly Sample[][],
  commit: string,
): string {
  const rows = [['', 'here', commit, 'here / there']]
  for (const { name, unit } of ours[0] ?? []) {
    const [here, there] = [ours, theirs].map((rounds) => valuesOf(rounds, name))
    if (here === undefined || there === undefined || there.length === 0) continue
    const ratio = (median(here) / median(there)).toFixed(3)
    rows.push([`${name}, ${unit}`, show(here), show(there), ratio])
  }
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const pad = (cell: string, at: number) =>
    at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
  return rows.map((row) => `  ${row.map(pad).join('   ')}`.trimEnd()).join('\n')
}

const valuesOf = (rounds: readonly Sample[][], name: string): number[] =>
  rounds.flatMap((samples) =>
    samples.filter((each) => each.name === name).map(({ value }) => value),
  )

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

const show = (values: readonly number[]) => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `${short(median(values))} (${short(low)}-${short(high)})`
}

const short = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2))
